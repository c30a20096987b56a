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

pub async fn dialects(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    for (condition, hits, log, stops, says) in FORMS {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        lab.debugger.clear_breakpoints().await;
        lab.debugger
            .set_breakpoint(NewBreakpoint {
                condition: given(condition),
                hit_condition: given(hits),
                log_message: given(log),
                ..lab.at("loop")
            })
            .await
            .unwrap();
        let session = lab.start("");
        let mut seen = Vec::new();
        loop {
            match lab.outcome(&session).await {
                Outcome::Stopped(session, stop) => {
                    let report = session.report(&stop, Detail::COMPACT).await.unwrap();
                    assert_eq!(report.hit_breakpoint_ids.unwrap_or_default().len(), 1, "{stop:?}");
                    seen.push(lab.value(&session, "i").await);
                    session.resume(None).await.unwrap();
                }
                Outcome::Completed(_) => break,
                other => panic!("{other:?}"),
            }
        }
        let form = format!("{kind}: `{condition}` `{hits}` `{log}`");
        assert_eq!(seen.join(" "), stops, "{form}");
        let said: Vec<String> = lab
            .debugger
            .sessions()
            .iter()
            .flat_map(|session| printed(session).lines().map(str::to_owned).collect::<Vec<_>>())
            .filter(|line| line.contains("i is"))
            .collect();
        let said: Vec<&str> =
            said.iter().map(|line| line[line.find("i is").unwrap_or_default()..].trim()).collect();
        assert_eq!(said.join(" "), says, "{form}");
        lab.debugger.end(&session).await;
        lab.debugger.forget_ended();
    }
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
