//! Breakpoints mean the same everywhere.

use stepwell_debug::Outcome;
use stepwell_debug::adapters::AdapterKind;
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_debug::session::Step;
use stepwell_debug::stop_report::Detail;

use crate::lab::{Lab, Language, printed};

/// Condition, hit condition, message; where it stops, and what it says.
const FORMS: [(&str, &str, &str, &str, &str); 10] = [
    ("", "3", "", "2", ""),
    ("", "== 3", "", "2", ""),
    ("", "> 3", "", "3 4 5", ""),
    ("", "% 2 == 0", "", "1 3 5", ""),
    ("", "% 3 == 1", "", "0 3", ""),
    ("i == 4", "", "", "4", ""),
    ("i > 1", "== 2", "", "3", ""),
    ("", "", "i is {i}.", "", "i is 0. i is 1. i is 2. i is 3. i is 4. i is 5."),
    ("i >= 4", "", "i is {i}.", "", "i is 4. i is 5."),
    ("i > 1", "< 3", "i is {i}.", "", "i is 2. i is 3."),
];

/// Every form has a round of the program's loop to itself; all are rounds of one session.
pub async fn dialects(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    lab.debugger.set_breakpoint(lab.at("round")).await.unwrap();
    let session = lab.start("rounds");
    let (mut stopped, _) = lab.report(&session).await;
    for (at, (condition, hits, log, stops, _)) in FORMS.into_iter().enumerate() {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let new = NewBreakpoint {
            condition: given(condition),
            hit_condition: given(hits),
            log_message: given(log),
            ..lab.at("loop")
        };
        let (breakpoint, _) = lab.debugger.set_breakpoint(new).await.unwrap();
        let form = format!("{kind}: `{condition}` `{hits}` `{log}`");
        let mut seen = Vec::new();
        loop {
            stopped.resume(None).await.unwrap();
            match lab.outcome(&session).await {
                Outcome::Stopped(session, stop) => {
                    stopped = session;
                    let report = stopped.report(&stop, Detail::COMPACT).await.unwrap();
                    assert_eq!(report.hit_breakpoint_ids.unwrap_or_default().len(), 1, "{form}: {stop:?}");
                    if report.line == Some(lab.line("round")) {
                        break;
                    }
                    seen.push(lab.value(&stopped, "i").await);
                }
                Outcome::Completed(_) => {
                    assert_eq!(at, FORMS.len() - 1, "{form}");
                    break;
                }
                other => panic!("{form}: {other:?}"),
            }
        }
        assert_eq!(seen.join(" "), stops, "{form}");
        lab.debugger.remove_breakpoint(breakpoint.id).await;
    }
    // js-debug may say what was logged after the next stop, so all of it is compared at the end.
    let printed: String = lab.debugger.sessions().iter().map(|session| printed(session)).collect();
    let said = printed.lines().filter_map(|line| Some(line[line.find("i is")?..].trim()));
    let expected: Vec<&str> = FORMS.iter().map(|form| form.4).filter(|says| !says.is_empty()).collect();
    assert_eq!(said.collect::<Vec<_>>().join(" "), expected.join(" "), "{kind}");
    lab.debugger.end(&session).await;
}

pub async fn steps_over_counted(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    lab.debugger.set_breakpoint(lab.at("loop")).await.unwrap();
    // Reached during every step over the loop's line, and never meant to stop there.
    lab.debugger
        .set_breakpoint(NewBreakpoint { hit_condition: Some("> 100".to_owned()), ..lab.at("add") })
        .await
        .unwrap();
    let session = lab.start("");
    let (session, _) = lab.stop(&session).await;
    session.step(None, Step::Over).await.unwrap();
    let (session, report) = lab.report(&session).await;
    assert!(report.call_stack[0].function_name.contains("run"), "{report:?}");
    lab.debugger.end(&session).await;
}
