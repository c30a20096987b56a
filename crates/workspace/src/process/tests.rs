//! Programs that behave, and programs that do not.

use std::sync::Mutex;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::*;

fn call(script: &str) -> ProgramCall {
    ProgramCall {
        program: "bash".into(),
        arguments: vec!["--norc".into(), "--noprofile".into(), "-c".into(), script.into()],
        folder: std::env::temp_dir(),
        environment: Environment::default(),
        input: None,
        time_limit: Duration::from_secs(20),
        keep: KeepOutput { memory: 4096, file: None, file_limit: 0 },
    }
}

async fn finished(call: ProgramCall) -> Finished {
    run(call, &CancellationToken::new(), |_, _| {}).await.expect("started")
}

/// The processes whose command line holds the mark. Zombies have no command line.
fn marked(mark: &str) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").expect("proc").flatten();
    let holds = |path: std::path::PathBuf| {
        std::fs::read(path.join("cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
    };
    let processes = entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        holds(entry.path()).then_some(number)
    });
    processes.filter_map(Pid::from_raw).collect()
}

/// Less than the sleeps of these tests take: whoever waited for one of them took longer.
const NOT_WAITED_FOR: Duration = Duration::from_secs(25);

/// Waits until every process with the mark has ended; false when one has not within some seconds.
async fn gone(mark: &'static str) -> bool {
    const PATIENCE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
    let waited = tokio::task::spawn_blocking(move || {
        loop {
            let Some(first) = marked(mark).first().copied() else { return true };
            // One that cannot be opened has ended in the meantime.
            let Ok(process) = pidfd_open(first, PidfdFlags::empty()) else { continue };
            let mut polled = [PollFd::new(&process, PollFlags::IN)];
            if poll(&mut polled, Some(&PATIENCE)).expect("waited") == 0 {
                return false;
            }
        }
    });
    waited.await.expect("waited")
}

#[tokio::test]
async fn exit_codes_signals_and_both_streams() {
    let ended = finished(call("echo out; echo err >&2; exit 3")).await;
    assert_eq!(ended.ending, Ending::Exited(3));
    assert!(ended.output.head.contains("out\n") && ended.output.head.contains("err\n"));
    assert_eq!(finished(call("kill -9 $$")).await.ending, Ending::Signalled(9));
    let missing = ProgramCall { program: "no-such-program-here".into(), ..call("") };
    let error = run(missing, &CancellationToken::new(), |_, _| {}).await.expect_err("missing");
    assert!(matches!(error, Error::Spawn { .. }), "{error}");
}

#[tokio::test]
async fn input_and_environment_reach_the_program_and_nobody_waits_for_a_prompt() {
    let mut fed = call("cat; echo $GREETING; echo ${HOME-none}");
    fed.input = Some(vec![b'x'; 200_000]);
    fed.environment =
        Environment { removed: vec!["HOME".into()], set: vec![("GREETING".into(), "hello".into())] };
    fed.keep.memory = 1 << 20;
    let ended = finished(fed).await;
    assert!(ended.output.head.ends_with("hello\nnone\n"));
    assert_eq!(ended.output.total_bytes, 200_011);
    let unread = ProgramCall { input: Some(vec![b'x'; 1 << 20]), ..call("true") };
    assert_eq!(finished(unread).await.ending, Ending::Exited(0));
    assert_eq!(finished(call("read answer; echo got:$answer")).await.output.head, "got:\n");
}

#[tokio::test]
async fn output_arrives_live_in_order_and_characters_stay_whole() {
    let pieces = Mutex::new(Vec::new());
    let script = "printf 'a\\xc3'; sleep 0.05; printf '\\xa9b'; sleep 0.05; printf 'c' >&2; printf '\\xff'";
    let ended = run(call(script), &CancellationToken::new(), |stream, text| {
        pieces.lock().expect("pieces").push((stream, text.to_owned()));
    })
    .await
    .expect("started");
    let pieces = pieces.into_inner().expect("pieces");
    let text: String = pieces
        .iter()
        .filter(|(stream, _)| *stream == OutputStream::Stdout)
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(text, "aéb\u{FFFD}");
    assert!(pieces.len() >= 3, "{pieces:?}");
    assert_eq!(ended.ending, Ending::Exited(0));
}

#[tokio::test]
async fn the_time_limit_ends_the_whole_group_and_keeps_the_output() {
    let mark = "29.7531";
    let mut slow = call(&format!("echo begun; sleep {mark} & sleep {mark}"));
    slow.time_limit = Duration::from_millis(300);
    let start = Instant::now();
    let ended = finished(slow).await;
    assert_eq!(ended.ending, Ending::TimedOut);
    assert_eq!(ended.output.head, "begun\n");
    assert!(start.elapsed() < NOT_WAITED_FOR, "{:?}", start.elapsed());
    assert!(gone(mark).await);
}

#[tokio::test]
async fn a_program_that_ignores_the_polite_signal_is_killed() {
    let mark = "29.7532";
    let mut stubborn = call(&format!("trap '' TERM; sleep {mark}; sleep {mark}; sleep {mark}"));
    stubborn.time_limit = Duration::from_millis(100);
    assert_eq!(finished(stubborn).await.ending, Ending::TimedOut);
    assert!(gone(mark).await);
}

#[tokio::test]
async fn cancel_and_drop_leave_nothing_behind() {
    let mark = "29.7533";
    let cancel = CancellationToken::new();
    // Its first word shows that it runs.
    let ended = run(call(&format!("echo begun; sleep {mark}")), &cancel, |_, _| cancel.cancel()).await;
    assert_eq!(ended.expect("started").ending, Ending::Cancelled);
    assert!(gone(mark).await);

    let mark = "29.7534";
    let never = CancellationToken::new();
    let dropped = run(call(&format!("sleep {mark} & sleep {mark}")), &never, |_, _| {});
    assert!(tokio::time::timeout(Duration::from_millis(100), dropped).await.is_err());
    assert!(gone(mark).await);
}

#[tokio::test]
async fn a_child_that_keeps_the_pipe_open_does_not_hold_the_answer() {
    let mark = "29.7535";
    let start = Instant::now();
    let ended = finished(call(&format!("sleep {mark} & echo done"))).await;
    assert_eq!((ended.ending, ended.output.head.as_str()), (Ending::Exited(0), "done\n"));
    assert!(start.elapsed() < NOT_WAITED_FOR, "{:?}", start.elapsed());
    assert!(gone(mark).await);

    // One that left the group cannot be ended this way, and still does not hold the answer.
    let start = Instant::now();
    let ended = finished(call("setsid sleep 29.7 & echo done")).await;
    assert_eq!(ended.output.head, "done\n");
    assert!(start.elapsed() < NOT_WAITED_FOR, "{:?}", start.elapsed());
}

#[tokio::test]
async fn much_output_is_bounded_in_memory_and_on_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("all.txt");
    let mut loud = call("head -c 20000000 /dev/zero | tr '\\0' x; echo end");
    loud.keep = KeepOutput { memory: 48 * 1024, file: Some(file.clone()), file_limit: 16 << 20 };
    let before = resident();
    let ended = finished(loud).await;
    assert!(resident().saturating_sub(before) < 4 << 20, "{} to {}", before, resident());
    assert_eq!(ended.output.total_bytes, 20_000_004);
    assert_eq!(ended.output.head.len() + ended.output.tail.len(), 48 * 1024);
    assert!(ended.output.tail.ends_with("xend\n"));
    assert_eq!(ended.output.file, Some((file.clone(), 16 << 20)));
    assert_eq!(std::fs::metadata(&file).expect("file").len(), 16 << 20);

    let mut quiet = call("echo hi");
    quiet.keep.file = Some(folder.path().join("none.txt"));
    assert!(finished(quiet).await.output.file.is_none());
    assert!(!folder.path().join("none.txt").exists());
}

#[tokio::test]
async fn a_cut_leaves_characters_whole() {
    for memory in 4096..4100 {
        let mut loud = call("for i in {1..3000}; do printf 'é'; done");
        loud.keep.memory = memory;
        let Captured { head, tail, total_bytes, omitted_bytes, .. } = finished(loud).await.output;
        assert!(head.chars().chain(tail.chars()).all(|character| character == 'é'), "{memory}");
        assert_eq!((head.len() + tail.len()) as u64 + omitted_bytes, total_bytes);
    }
}

/// Upper case, one line at a time.
struct Louder(String);

impl TextFilter for Louder {
    fn push(&mut self, text: &str) -> String {
        self.0.push_str(text);
        let rest = self.0.split_off(self.0.rfind('\n').map_or(0, |end| end + 1));
        std::mem::replace(&mut self.0, rest).to_uppercase()
    }

    fn finish(&mut self) -> String {
        std::mem::take(&mut self.0).to_uppercase()
    }
}

#[tokio::test]
async fn a_filter_stands_before_everything_that_is_kept_or_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("all.txt");
    let mut loud = call("printf 'a\\nb'; sleep 0.05; printf 'c' >&2; sleep 0.05; printf 'd'");
    loud.keep = KeepOutput { memory: 2, file: Some(file.clone()), file_limit: 100 };
    let mut shown = String::new();
    let filter = || Box::new(Louder(String::new()));
    let filters = OutputFilters { stdout: filter(), stderr: filter() };
    let ended = run_filtered(loud, filters, &CancellationToken::new(), |_, text| shown.push_str(text))
        .await
        .expect("started");
    assert_eq!(shown, "A\nBDC");
    assert_eq!(std::fs::read_to_string(file).expect("kept"), "A\nBDC");
    assert_eq!((ended.output.head.as_str(), ended.output.tail.as_str()), ("A", "C"));
}

#[tokio::test]
async fn what_the_pipe_holds_is_read_although_nobody_closed_it() {
    // The pipe stays open in a process that left the group, so only the time tells that the output is over.
    let ended = finished(call("setsid sleep 3 & head -c 60000 /dev/zero | tr '\\0' x; echo; echo end")).await;
    assert_eq!(ended.output.total_bytes, 60_005);
    assert!(ended.output.tail.ends_with("\nend\n"));
}

/// Bytes of memory this process holds.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}
