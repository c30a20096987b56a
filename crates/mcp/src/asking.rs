//! What a call asks the person, as a form of the client's, and what comes back.

use rmcp::model::{ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value, json};
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalRequest, ApprovalSource, Question, QuestionAnswer,
};
use tokio::sync::oneshot;

/// The answers to an approval, word for word as the person sees them.
const YES: &str = "yes, this once";
const YES_FOR_SESSION: &str = "yes, for this session";
const NO: &str = "no";

/// Characters of a command or a text that a form shows; what is longer cannot be judged in a form anyway.
const LONGEST_SHOWN: usize = 4000;

/// A question that waits for its answer.
pub(crate) enum Pending {
    Approval(Box<ApprovalRequest>, oneshot::Sender<(ApprovalAnswer, ApprovalSource)>),
    Question(Box<Question>, oneshot::Sender<QuestionAnswer>),
}

/// Whether the client can show forms. A client that names no kind means forms: there was no other when the capability
/// was invented.
pub(crate) fn can_ask(capabilities: Option<&ClientCapabilities>) -> bool {
    capabilities
        .and_then(|capabilities| capabilities.elicitation.as_ref())
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

impl Pending {
    /// The question as a form. `None` where it cannot be put into one.
    pub(crate) fn form(&self) -> Option<ElicitRequestParams> {
        let (message, schema) = match self {
            Self::Approval(request, _) => approval_form(request),
            Self::Question(question, _) => question_form(question),
        };
        let requested_schema = serde_json::from_value(schema).ok()?;
        Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
    }

    /// Gives the person's answer to the call. What does not fit the form is a no.
    pub(crate) fn answer(self, result: &ElicitResult) {
        let content = result.content.as_ref().and_then(Value::as_object);
        let accepted = matches!(result.action, ElicitationAction::Accept);
        match self {
            Self::Approval(request, reply) => {
                let answer = match answered(content).filter(|_| accepted) {
                    Some(YES) => ApprovalAnswer::yes(),
                    Some(YES_FOR_SESSION) if request.grant.is_some() => ApprovalAnswer::yes_for_session(),
                    // A form that is closed without an answer is no word of the person's. Clients without a screen close
                    // every form.
                    _ if matches!(result.action, ElicitationAction::Cancel) => {
                        let why =
                            format!("the client closed the question without an answer ({})", request.reason);
                        reply.send((ApprovalAnswer::no(Some(why)), ApprovalSource::Policy)).ok();
                        return;
                    }
                    _ => ApprovalAnswer::no(None),
                };
                reply.send((answer, ApprovalSource::Person)).ok();
            }
            Self::Question(question, reply) => {
                let answer = match content.filter(|_| accepted) {
                    Some(content) => read_answer(&question, content),
                    None => QuestionAnswer::new(None, None, AnsweredBy::Nobody),
                };
                reply.send(answer).ok();
            }
        }
    }

    /// The client cannot ask anybody.
    pub(crate) fn nobody(self) {
        match self {
            Self::Approval(request, reply) => {
                let way = match &request.grant {
                    Some(grant) => format!(
                        "this client cannot ask the person ({}). The person can allow it with the rule {grant} in \
                         [permissions] of Stepwell's settings, or do it themselves",
                        request.reason
                    ),
                    None => format!(
                        "this client cannot ask the person ({}). The person can do it themselves, or use a client \
                         that supports elicitation",
                        request.reason
                    ),
                };
                reply.send((ApprovalAnswer::no(Some(way)), ApprovalSource::Policy)).ok();
            }
            Self::Question(question, reply) => {
                let by =
                    if question.default_option.is_some() { AnsweredBy::Policy } else { AnsweredBy::Nobody };
                reply.send(QuestionAnswer::new(question.default_option, None, by)).ok();
            }
        }
    }

    /// Nobody answered in time.
    pub(crate) fn too_late(self) {
        match self {
            Self::Approval(_, reply) => {
                reply.send((ApprovalAnswer::no(None), ApprovalSource::Timeout)).ok();
            }
            Self::Question(question, reply) => {
                let option = question.default_option;
                reply.send(QuestionAnswer::new(option, None, AnsweredBy::Timeout)).ok();
            }
        }
    }
}

fn answered(content: Option<&Map<String, Value>>) -> Option<&str> {
    content?.get("answer")?.as_str()
}

fn approval_form(request: &ApprovalRequest) -> (String, Value) {
    let preview = &request.preview;
    let mut lines = vec![format!("Stepwell asks: {}", shown(&preview.summary))];
    lines.push(format!("Why: {}", shown(&request.reason)));
    if let Some(command) = &preview.command {
        lines.push(format!("Command: {}", shown(command)));
    }
    if !preview.paths.is_empty() {
        lines.push(format!("Files: {}", shown(&preview.paths.join(", "))));
    }
    if !preview.hosts.is_empty() {
        lines.push(format!("Hosts: {}", shown(&preview.hosts.join(", "))));
    }
    lines.extend(preview.warnings.iter().map(|warning| format!("Note: {}", shown(warning))));
    let mut answers = vec![YES];
    if let Some(grant) = &request.grant {
        lines.push(format!("For this session would allow: {}", shown(grant)));
        answers.push(YES_FOR_SESSION);
    }
    answers.push(NO);
    let schema = json!({
        "type": "object",
        "properties": {"answer": {"type": "string", "title": "Allow it?", "enum": answers}},
        "required": ["answer"],
    });
    (lines.join("\n"), schema)
}

fn question_form(question: &Question) -> (String, Value) {
    let mut lines = vec![shown(&question.text)];
    lines.extend(question.context.as_deref().map(shown));
    let labels: Vec<String> = question.options.iter().map(|option| shown(&option.label)).collect();
    for option in &question.options {
        if let Some(description) = &option.description {
            lines.push(format!("{}: {}", shown(&option.label), shown(description)));
        }
    }
    let free = json!({"type": "string", "title": "Answer"});
    let properties = match (labels.is_empty(), question.allow_custom) {
        (true, _) => json!({"answer": free}),
        (false, false) => json!({"answer": {"type": "string", "title": "Answer", "enum": labels}}),
        (false, true) => json!({
            "answer": {"type": "string", "title": "Answer", "enum": labels},
            "other": {"type": "string", "title": "Something else"},
        }),
    };
    (lines.join("\n"), json!({"type": "object", "properties": properties}))
}

fn read_answer(question: &Question, content: &Map<String, Value>) -> QuestionAnswer {
    let text_of = |field: &str| {
        content.get(field).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let answer = text_of("answer");
    let option = answer
        .as_ref()
        .and_then(|answer| question.options.iter().find(|option| shown(&option.label) == *answer))
        .map(|option| option.id.clone());
    let custom = if question.options.is_empty() { answer } else { text_of("other") };
    let text = custom.filter(|_| question.allow_custom || question.options.is_empty());
    let by = if option.is_some() || text.is_some() { AnsweredBy::Person } else { AnsweredBy::Nobody };
    QuestionAnswer::new(option, text, by)
}

/// Text of a call as it may stand in a form: what cannot be seen is spelled out, and the end of a long one is told.
fn shown(text: &str) -> String {
    let visible = stepwell_tool_runtime::shell::visible(text);
    match visible.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => {
            format!("{} [... {} characters left out]", &visible[..end], visible[end..].chars().count())
        }
        None => visible,
    }
}

#[cfg(test)]
#[path = "asking_tests.rs"]
mod tests;
