//! Forms and what their answers mean.

use serde_json::{Value, json};
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalSource,
    ClarificationKind, Preview, Question, QuestionAnswer, QuestionId, QuestionKind, QuestionOption, Risk,
    ToolCall, ToolCallId,
};
use tokio::sync::oneshot;

use super::{NO, Pending, YES, YES_FOR_SESSION, can_ask};

fn request(grant: Option<&str>) -> Box<ApprovalRequest> {
    Box::new(ApprovalRequest {
        id: ApprovalId::generate(),
        call: ToolCall {
            id: ToolCallId::generate(),
            name: "bash".to_owned(),
            arguments: json!({"command": "curl x"}),
            opaque: None,
        },
        risk: Risk::Execute,
        reason: "it writes outside the workspace".to_owned(),
        preview: Preview {
            summary: "Run `cu\u{200b}rl x`".to_owned(),
            command: Some("curl x".to_owned()),
            ..Preview::default()
        },
        grant: grant.map(str::to_owned),
        from: None,
    })
}

fn answered(grant: Option<&str>, result: Value) -> (ApprovalAnswer, ApprovalSource) {
    let (reply, mut answer) = oneshot::channel();
    Pending::Approval(request(grant), reply).answer(&serde_json::from_value(result).unwrap());
    answer.try_recv().unwrap()
}

#[test]
fn only_a_clear_yes_is_one() {
    let grant = Some("bash(curl *)");
    let no = ApprovalAnswer::no(None);
    let table = [
        (grant, json!({"action": "accept", "content": {"answer": YES}}), ApprovalAnswer::yes()),
        (
            grant,
            json!({"action": "accept", "content": {"answer": YES_FOR_SESSION}}),
            ApprovalAnswer::yes_for_session(),
        ),
        (grant, json!({"action": "accept", "content": {"answer": NO}}), no.clone()),
        (grant, json!({"action": "accept", "content": {"answer": "yes"}}), no.clone()),
        (grant, json!({"action": "accept", "content": {"answer": true}}), no.clone()),
        (grant, json!({"action": "accept", "content": {}}), no.clone()),
        (grant, json!({"action": "accept"}), no.clone()),
        (grant, json!({"action": "decline", "content": {"answer": YES}}), no.clone()),
        // What was not offered cannot be chosen.
        (None, json!({"action": "accept", "content": {"answer": YES_FOR_SESSION}}), no),
    ];
    for (grant, result, expected) in table {
        assert_eq!(answered(grant, result.clone()), (expected, ApprovalSource::Person), "{result}");
    }
}

#[test]
fn a_form_that_is_closed_is_no_word_of_the_person() {
    let (answer, source) = answered(None, json!({"action": "cancel", "content": {"answer": YES}}));
    assert!(!answer.is_yes());
    assert_eq!(source, ApprovalSource::Policy, "nobody was asked");
    assert!(answer.reason.unwrap().contains("closed the question without an answer"));
}

#[test]
fn a_form_shows_what_is_judged() {
    let (reply, _answer) = oneshot::channel();
    let form = Pending::Approval(request(Some("bash(curl *)")), reply).form().unwrap();
    let form = serde_json::to_value(&form).unwrap();
    let message = form["message"].as_str().unwrap();
    for part in ["it writes outside the workspace", "Command: curl x", "bash(curl *)"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!message.contains('\u{200b}'), "what cannot be seen is spelled out: {message}");
    assert_eq!(form["requestedSchema"]["properties"]["answer"]["enum"], json!([YES, YES_FOR_SESSION, NO]));
}

#[test]
fn nobody_to_ask_is_a_refusal_with_a_way_out() {
    for (grant, way) in [(Some("bash(curl *)"), "bash(curl *)"), (None, "elicitation")] {
        let (reply, mut answer) = oneshot::channel();
        Pending::Approval(request(grant), reply).nobody();
        let (answer, source) = answer.try_recv().unwrap();
        let reason = answer.reason.filter(|_| answer.decision == ApprovalDecision::No).unwrap();
        assert!(reason.contains(way) && source == ApprovalSource::Policy, "{reason}");
    }
}

#[test]
fn questions_are_answered_by_option_or_text() {
    let option = |id: &str, label: &str| QuestionOption {
        id: id.to_owned(),
        label: label.to_owned(),
        ..QuestionOption::default()
    };
    let question = |options: Vec<QuestionOption>, allow_custom: bool| {
        Box::new(Question {
            id: QuestionId::generate(),
            kind: QuestionKind::Clarification(ClarificationKind::Custom),
            text: "Which?".to_owned(),
            context: None,
            options,
            allow_custom,
            default_option: None,
            timeout_seconds: None,
            from: None,
        })
    };
    let two = || vec![option("a", "The first"), option("b", "The second")];
    let by = |option: Option<&str>, text: Option<&str>| {
        QuestionAnswer::new(
            option.map(str::to_owned),
            text.map(str::to_owned),
            if option.is_some() || text.is_some() { AnsweredBy::Person } else { AnsweredBy::Nobody },
        )
    };
    let table = [
        (question(two(), false), json!({"answer": "The second"}), by(Some("b"), None)),
        (question(two(), false), json!({"answer": "Neither", "other": "x"}), by(None, None)),
        (
            question(two(), true),
            json!({"answer": "The first", "other": "but later"}),
            by(Some("a"), Some("but later")),
        ),
        (question(Vec::new(), false), json!({"answer": "8080"}), by(None, Some("8080"))),
        (question(Vec::new(), true), json!({}), by(None, None)),
    ];
    for (question, content, expected) in table {
        let (reply, mut answer) = oneshot::channel();
        let pending = Pending::Question(question, reply);
        assert!(pending.form().is_some());
        let result = json!({"action": "accept", "content": content});
        pending.answer(&serde_json::from_value(result).unwrap());
        assert_eq!(answer.try_recv().unwrap(), expected, "{content}");
    }
}

#[test]
fn a_client_that_only_opens_pages_cannot_be_asked() {
    let table = [
        (json!({}), false),
        (json!({"elicitation": {}}), true),
        (json!({"elicitation": {"form": {}}}), true),
        (json!({"elicitation": {"form": {}, "url": {}}}), true),
        (json!({"elicitation": {"url": {}}}), false),
    ];
    for (capabilities, expected) in table {
        let read = serde_json::from_value(capabilities.clone()).unwrap();
        assert_eq!(can_ask(Some(&read)), expected, "{capabilities}");
    }
    assert!(!can_ask(None));
}
