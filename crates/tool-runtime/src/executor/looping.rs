//! A call that goes round in circles: whether it is made once more, and when the run is given up.

use serde_json::Value;
use stepwell_protocol::{AnsweredBy, Question, QuestionId, QuestionKind, QuestionOption, ToolCall};

use super::{CallEnv, Executor, Outcome, RefusedBy};
use crate::loop_guard::{CallKey, LoopReport};
use crate::wording::{counted, ordinal};

/// A model that has had the same call refused this often does not listen: without a person the run would burn turns
/// for ever.
const MOST_REFUSALS: usize = 3;

impl Executor {
    /// Asks whether a repeated call should be made once more; `Some` is the refusal.
    pub(super) async fn ask_about_loop(
        &self,
        call: &ToolCall,
        env: &CallEnv,
        key: CallKey,
        report: LoopReport,
    ) -> Option<Outcome> {
        let within =
            report.window.map_or(String::new(), |window| format!(" within {} seconds", window.as_secs()));
        let question = Question {
            id: QuestionId::generate(),
            kind: QuestionKind::Continue,
            text: format!(
                "The model calls `{}` for the {} time{within} with the same arguments and the same result. Go on?",
                call.name,
                ordinal(report.times)
            ),
            context: Some(env.redactor.redact(&shortened(&call.arguments)).into_owned()),
            options: vec![
                QuestionOption { id: "continue".into(), label: "Go on".into(), ..QuestionOption::default() },
                QuestionOption {
                    id: "stop".into(),
                    label: "Refuse the call".into(),
                    recommended: true,
                    ..QuestionOption::default()
                },
            ],
            allow_custom: true,
            default_option: Some("stop".into()),
            timeout_seconds: None,
            from: None,
        };
        let answer = tokio::select! {
            answer = env.host.ask(question) => answer,
            () = env.cancel.cancelled() => return Some(Outcome::interrupted(call)),
        };
        let by_person = answer.by == AnsweredBy::Person;
        if by_person && answer.option.as_deref() == Some("continue") {
            return None;
        }
        let mut reason = format!(
            "this is call number {} of `{}` with the same arguments, and the result was the same each time; it was \
             not run again. Change the approach: other arguments, another tool, or ask",
            report.times, call.name
        );
        if let Some(text) = answer.text.filter(|_| by_person) {
            reason.push_str(". The person says: ");
            reason.push_str(&text);
        }
        let mut outcome = Outcome::refused(call, RefusedBy::LoopGuard, reason);
        let refusals = env.loop_guard.refused(&env.task, key);
        if refusals >= MOST_REFUSALS {
            let times = counted(refusals as u64, "time");
            outcome.stop = Some(format!("the same call was repeated {times} although it was refused"));
        }
        Some(outcome)
    }
}

fn shortened(arguments: &Value) -> String {
    let text = arguments.to_string();
    match text.char_indices().nth(500) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
