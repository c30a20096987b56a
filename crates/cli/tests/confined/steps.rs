//! What a step costs in the sandbox and outside of it, for `cargo xtask bench steps`.

use std::time::{Duration, Instant};

use stepwell_debug::adapters::AdapterKind;
use stepwell_debug::session::Step;

use crate::lab::{Lab, Language};

/// Steps of one round, and rounds of each kind; the rounds alternate, so that other load hits both.
const STEPS: usize = 12;
const ROUNDS: usize = 8;
/// Steps that load what the others find.
const FIRST: usize = 2;

#[tokio::test]
#[ignore = "a measurement"]
async fn cost_of_a_step() {
    println!("| debugger | step outside | step in sandbox | ratio | start outside | start in sandbox |");
    println!("|---|---|---|---|---|---|");
    for (kind, language) in [
        (AdapterKind::Debugpy, Language::Python),
        (AdapterKind::LldbDap, Language::C),
        (AdapterKind::CodeLldb, Language::C),
        (AdapterKind::Gdb, Language::C),
        (AdapterKind::Delve, Language::Go),
        (AdapterKind::JsDebug, Language::JavaScript),
        (AdapterKind::Node, Language::JavaScript),
    ] {
        let (mut outside, mut inside) = (Run::default(), Run::default());
        for _ in 0..ROUNDS {
            let mut unconfined = lab(kind, language);
            unconfined.isolation = None;
            outside.measure(unconfined).await;
            inside.measure(lab(kind, language)).await;
        }
        let [outside, inside] = [outside, inside].map(|run| (median(run.steps), median(run.starts)));
        let ratio = inside.0.as_secs_f64() / outside.0.as_secs_f64();
        println!(
            "| {kind} | {:.2?} | {:.2?} | {ratio:.2} | {:.0?} | {:.0?} |",
            outside.0, inside.0, outside.1, inside.1
        );
    }
}

fn lab(kind: AdapterKind, language: Language) -> Lab {
    Lab::open(kind, language).unwrap_or_else(|| panic!("{kind} is missing"))
}

/// Times of starts until the first stop, and of steps with their reports.
#[derive(Default)]
struct Run {
    starts: Vec<Duration>,
    steps: Vec<Duration>,
}

impl Run {
    async fn measure(&mut self, lab: Lab) {
        let (breakpoint, _) = lab.debugger.set_breakpoint(lab.at("loop")).await.unwrap();
        let begun = Instant::now();
        let session = lab.start("");
        let (session, _) = lab.stop(&session).await;
        self.starts.push(begun.elapsed());
        lab.debugger.remove_breakpoint(breakpoint.id).await.unwrap();
        for step in 0..STEPS {
            let begun = Instant::now();
            session.step(None, Step::Over).await.unwrap();
            lab.report(&session).await;
            if step >= FIRST {
                self.steps.push(begun.elapsed());
            }
        }
        lab.debugger.end(&session).await;
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
