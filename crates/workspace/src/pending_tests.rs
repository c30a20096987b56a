//! Tests of the table of pending requests: pairing, deadlines, cancellation, the end of the peer.

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

/// Time moves only when nothing else can run, so deadlines pass at once.
fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(future)
}

#[test]
fn answers_reach_their_requests_in_any_order() {
    run(async {
        let pending = PendingRequests::new();
        let (first, second) = (pending.register().unwrap(), pending.register().unwrap());
        assert!(pending.resolve(second.id(), "second"));
        assert!(pending.resolve(first.id(), "first"));
        assert_eq!(first.answer(soon()).await, Ok("first"));
        assert_eq!(second.answer(soon()).await, Ok("second"));
        assert!(pending.is_empty());
    });
}

#[test]
fn late_answers_are_dropped_and_counted() {
    run(async {
        let pending = PendingRequests::new();
        let request = pending.register().unwrap();
        let id = request.id();
        assert_eq!(request.answer(soon()).await, Err(Unanswered::Late));
        assert!(pending.is_empty());
        assert!(!pending.resolve(id, ()));
        assert!(!pending.resolve(RequestId(4711), ()));
        assert_eq!(pending.unmatched_answers(), 2);
    });
}

#[test]
fn an_answer_that_came_before_the_wait_counts_after_the_deadline() {
    run(async {
        let pending = PendingRequests::new();
        let request = pending.register().unwrap();
        pending.resolve(request.id(), 1);
        assert_eq!(request.answer(Instant::now() - Duration::from_millis(1)).await, Ok(1));
    });
}

#[test]
fn cancel_is_called_once_and_only_for_requests_without_an_answer() {
    run(async {
        let cancelled = Arc::new(Mutex::new(Vec::new()));
        let pending = PendingRequests::new();
        let register = || {
            let cancelled = Arc::clone(&cancelled);
            pending.register().unwrap().on_cancel(move |id| cancelled.lock().push(id))
        };
        let (answered, dropped, late, closed) = (register(), register(), register(), register());
        let (dropped_id, late_id) = (dropped.id(), late.id());
        pending.resolve(answered.id(), ());
        answered.answer(soon()).await.unwrap();
        drop(dropped);
        assert_eq!(late.answer(soon()).await, Err(Unanswered::Late));
        pending.close("it ended");
        assert_eq!(closed.answer(soon()).await, Err(Unanswered::Closed("it ended".to_owned())));
        assert_eq!(*cancelled.lock(), [dropped_id, late_id]);
    });
}

#[test]
fn close_fails_waiting_and_later_requests_with_the_first_reason() {
    run(async {
        let pending = PendingRequests::<()>::new();
        let waiting = tokio::spawn(pending.register().unwrap().answer(soon()));
        tokio::task::yield_now().await;
        pending.close("it ended");
        pending.close("it ended again");
        let closed = Unanswered::Closed("it ended".to_owned());
        assert_eq!(waiting.await.unwrap(), Err(closed.clone()));
        assert_eq!(pending.register().unwrap_err(), closed);
        assert!(pending.is_closed());
    });
}

/// What may happen on a connection; numbers choose among the requests so far.
#[derive(Clone, Debug)]
enum Step {
    Register,
    Resolve(usize),
    Wait(usize),
    TimeOut(usize),
    Drop(usize),
    Close,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Register),
        3 => any::<usize>().prop_map(Step::Resolve),
        2 => any::<usize>().prop_map(Step::Wait),
        2 => any::<usize>().prop_map(Step::TimeOut),
        2 => any::<usize>().prop_map(Step::Drop),
        1 => Just(Step::Close),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    /// Any interleaving of answers, timeouts, drops and the end of the peer leaves no entry behind, gives every
    /// answer to its own request and never calls `cancel` twice.
    #[test]
    fn no_interleaving_leaves_an_entry_behind(steps in steps()) {
        run(async move {
            let pending = PendingRequests::new();
            let cancelled = Arc::new(AtomicUsize::new(0));
            let mut ids = Vec::new();
            let mut held = Vec::new();
            let mut waiting = Vec::new();
            let mut registered = 0;
            for step in steps {
                match step {
                    Step::Register => {
                        let Ok(request) = pending.register() else { continue };
                        let count = Arc::clone(&cancelled);
                        registered += 1;
                        ids.push(request.id());
                        held.push(request.on_cancel(move |_| {
                            count.fetch_add(1, Ordering::Relaxed);
                        }));
                    }
                    Step::Resolve(which) if !ids.is_empty() => {
                        let id = ids[which % ids.len()];
                        pending.resolve(id, id.0);
                    }
                    Step::Wait(which) if !held.is_empty() => {
                        let request = held.swap_remove(which % held.len());
                        waiting.push((request.id(), tokio::spawn(request.answer(soon()))));
                        tokio::task::yield_now().await;
                    }
                    Step::TimeOut(which) if !held.is_empty() => {
                        let request = held.swap_remove(which % held.len());
                        let id = request.id();
                        if let Ok(answer) = request.answer(Instant::now()).await {
                            assert_eq!(answer, id.0);
                        }
                    }
                    Step::Drop(which) if !held.is_empty() => drop(held.swap_remove(which % held.len())),
                    Step::Close => pending.close("it ended"),
                    Step::Resolve(_) | Step::Wait(_) | Step::TimeOut(_) | Step::Drop(_) => {}
                }
                assert!(pending.len() <= held.len() + waiting.len());
            }
            held.clear();
            for (id, answer) in waiting {
                if let Ok(answer) = answer.await.unwrap() {
                    assert_eq!(answer, id.0);
                }
            }
            assert!(pending.is_empty());
            assert!(cancelled.load(Ordering::Relaxed) <= registered);
        });
    }
}
