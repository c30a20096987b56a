//! A server's question to the person, asked through the task, one field after the other.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};
use stepwell_protocol::{
    AnsweredBy, ClarificationKind, Question, QuestionAnswer, QuestionId, QuestionKind, QuestionOption,
};
use stepwell_tool_runtime::Host;
use url::Url;

/// Fields of a form that are asked for; no person answers more.
const MOST_FIELDS: usize = 20;
/// Characters of a server's text that a question shows.
const LONGEST_TEXT: usize = 2_000;
const DECLINE: &str = "decline";

/// Asks the person what a server wants to know. Nobody's answer is none: the server is told that it was cancelled.
pub(crate) async fn answer(server: &str, request: ElicitRequestParams, host: &dyn Host) -> ElicitResult {
    let (message, requested_schema) = match request {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            (message, requested_schema)
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            return visit(server, &message, &url, host).await;
        }
        _ => return ElicitResult::new(ElicitationAction::Decline),
    };
    let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
    let fields = fields(&schema);
    if fields.len() > MOST_FIELDS {
        return ElicitResult::new(ElicitationAction::Decline);
    }
    let said = format!("The MCP server `{server}` asks: {}", shown(&message));
    let mut content = Map::new();
    if fields.is_empty() {
        let accept =
            QuestionOption { id: "accept".into(), label: "Accept".into(), ..QuestionOption::default() };
        let question = question(said, None, vec![accept, decline()], false);
        return match host.ask(question).await {
            QuestionAnswer { by: AnsweredBy::Person, option: Some(option), .. } if option != DECLINE => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
            }
            QuestionAnswer { by: AnsweredBy::Person, .. } => ElicitResult::new(ElicitationAction::Decline),
            _ => ElicitResult::new(ElicitationAction::Cancel),
        };
    }
    for field in &fields {
        let mut problem = None;
        loop {
            let answered = host.ask(field.question(&said, problem.take())).await;
            if answered.by != AnsweredBy::Person {
                return ElicitResult::new(ElicitationAction::Cancel);
            }
            if answered.option.as_deref() == Some(DECLINE) {
                return ElicitResult::new(ElicitationAction::Decline);
            }
            match field.read(&answered) {
                Ok(Some(value)) => {
                    content.insert(field.name.clone(), value);
                    break;
                }
                Ok(None) => break,
                Err(wrong) => problem = Some(wrong),
            }
        }
    }
    ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
}

/// Asks the person to open a page. It is only shown: nothing here opens it.
async fn visit(server: &str, message: &str, address: &str, host: &dyn Host) -> ElicitResult {
    let Some(url) = web_address(address) else {
        tracing::warn!(server, "an MCP server asks to open an address that is no page of the web");
        return ElicitResult::new(ElicitationAction::Decline);
    };
    let said = format!(
        "The MCP server `{server}` asks you to open a page of `{}`: {}\n{url}",
        url.host_str().unwrap_or_default(),
        shown(message)
    );
    let context = "Stepwell does not open it. Open it in your browser only if you know that host; what you enter there \
                   does not pass through Stepwell.";
    let options = vec![option("accept", "I open it"), decline()];
    match host.ask(question(said, Some(context.to_owned()), options, false)).await {
        QuestionAnswer { by: AnsweredBy::Person, option: Some(option), .. } if option != DECLINE => {
            ElicitResult::new(ElicitationAction::Accept)
        }
        _ => ElicitResult::new(ElicitationAction::Decline),
    }
}

/// An address that a person can judge: of the web, not too long, without a name before the host. Hosts in other scripts
/// are spelled in ASCII.
fn web_address(address: &str) -> Option<Url> {
    let url = Url::parse(address).ok()?;
    let is_plain = matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some_and(|host| !host.is_empty())
        && url.username().is_empty()
        && url.password().is_none();
    (is_plain && url.as_str().len() <= LONGEST_TEXT).then_some(url)
}

/// One field of the form.
struct Field {
    name: String,
    title: String,
    description: Option<String>,
    kind: Kind,
    is_required: bool,
    /// What an empty answer means.
    default: Option<Value>,
}

enum Kind {
    Text,
    Number,
    Integer,
    Boolean,
    /// One of these values, each with what is shown for it.
    Choice(Vec<(String, String)>),
    /// Any of these values, separated by commas.
    Choices(Vec<(String, String)>),
}

fn fields(schema: &Value) -> Vec<Field> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object();
    let field = |(name, property): (&String, &Value)| {
        let choices = choices(property);
        let kind = match property["type"].as_str() {
            Some("boolean") => Kind::Boolean,
            Some("number") => Kind::Number,
            Some("integer") => Kind::Integer,
            Some("array") => Kind::Choices(self::choices(&property["items"])),
            _ if choices.is_empty() => Kind::Text,
            _ => Kind::Choice(choices),
        };
        Field {
            name: name.clone(),
            title: shown(property["title"].as_str().unwrap_or(name)),
            description: property["description"].as_str().map(shown),
            kind,
            is_required: required.contains(&name.as_str()),
            default: property.get("default").filter(|default| !default.is_null()).cloned(),
        }
    };
    properties.into_iter().flatten().map(field).collect()
}

/// The values a field may have: `enum` with `enumNames`, or `oneOf`/`anyOf` with `const` and `title`.
fn choices(property: &Value) -> Vec<(String, String)> {
    if let Some(values) = property["enum"].as_array() {
        let names = property["enumNames"].as_array();
        let label = |at: usize| names.and_then(|names| names.get(at)).and_then(Value::as_str);
        let values = values.iter().filter_map(Value::as_str).enumerate();
        return values.map(|(at, value)| (value.to_owned(), shown(label(at).unwrap_or(value)))).collect();
    }
    let titled = property["oneOf"].as_array().or(property["anyOf"].as_array());
    let choice = |option: &Value| {
        let value = option["const"].as_str()?;
        Some((value.to_owned(), shown(option["title"].as_str().unwrap_or(value))))
    };
    titled.into_iter().flatten().filter_map(choice).collect()
}

impl Field {
    fn question(&self, said: &str, problem: Option<String>) -> Question {
        let optional = match &self.default {
            Some(default) => format!(" (empty: {})", shown(&default.to_string())),
            None if self.is_required => String::new(),
            None => " (may be left empty)".to_owned(),
        };
        let mut context: Vec<String> = self.description.clone().into_iter().collect();
        if let Kind::Choices(choices) = &self.kind {
            let labels: Vec<&str> = choices.iter().map(|(_, label)| label.as_str()).collect();
            context.push(format!("any of: {}; separate them with commas", labels.join(", ")));
        }
        context.extend(problem);
        let mut options: Vec<QuestionOption> = match &self.kind {
            Kind::Boolean => {
                [("true", "Yes"), ("false", "No")].into_iter().map(|(id, label)| option(id, label)).collect()
            }
            Kind::Choice(choices) => choices.iter().map(|(value, label)| option(value, label)).collect(),
            Kind::Text | Kind::Number | Kind::Integer | Kind::Choices(_) => Vec::new(),
        };
        let free = options.is_empty() || !self.is_required || self.default.is_some();
        options.push(decline());
        let context = (!context.is_empty()).then(|| context.join("\n"));
        question(format!("{said}\n{}{optional}", self.title), context, options, free)
    }

    /// The value of an answer; none for an optional field that was left empty.
    fn read(&self, answer: &QuestionAnswer) -> Result<Option<Value>, String> {
        let given = answer.option.as_deref().or(answer.text.as_deref()).map(str::trim);
        let Some(given) = given.filter(|given| !given.is_empty()) else {
            let is_missing = self.is_required && self.default.is_none();
            return if is_missing {
                Err("an answer is needed here".to_owned())
            } else {
                Ok(self.default.clone())
            };
        };
        let one_of = |choices: &[(String, String)], given: &str| {
            let found = choices.iter().find(|(value, label)| value == given || label == given);
            found
                .map(|(value, _)| Value::String(value.clone()))
                .ok_or_else(|| format!("`{given}` is no choice"))
        };
        let value = match &self.kind {
            Kind::Text => Value::String(given.to_owned()),
            Kind::Number => {
                let number: f64 = given.parse().map_err(|_| format!("`{given}` is no number"))?;
                serde_json::Number::from_f64(number).map(Value::Number).ok_or("the number is not finite")?
            }
            Kind::Integer => {
                let number: i64 = given.parse().map_err(|_| format!("`{given}` is no whole number"))?;
                Value::from(number)
            }
            Kind::Boolean => match given.to_ascii_lowercase().as_str() {
                "true" | "yes" => Value::Bool(true),
                "false" | "no" => Value::Bool(false),
                _ => return Err("answer yes or no".to_owned()),
            },
            Kind::Choice(choices) => one_of(choices, given)?,
            Kind::Choices(choices) => {
                let chosen = given.split(',').map(str::trim).filter(|given| !given.is_empty());
                Value::Array(chosen.map(|given| one_of(choices, given)).collect::<Result<_, _>>()?)
            }
        };
        Ok(Some(value))
    }
}

fn option(id: &str, label: &str) -> QuestionOption {
    QuestionOption { id: id.to_owned(), label: label.to_owned(), ..QuestionOption::default() }
}

fn decline() -> QuestionOption {
    option(DECLINE, "Do not answer")
}

fn question(
    text: String,
    context: Option<String>,
    options: Vec<QuestionOption>,
    allow_custom: bool,
) -> Question {
    Question {
        id: QuestionId::generate(),
        kind: QuestionKind::Clarification(ClarificationKind::Custom),
        text,
        context,
        options,
        allow_custom,
        default_option: None,
        timeout_seconds: None,
        from: None,
    }
}

/// A server's text as a person may see it: bounded, with what is invisible spelled out.
fn shown(text: &str) -> String {
    let text: String = text.chars().take(LONGEST_TEXT).collect();
    stepwell_tool_runtime::shell::visible(&text)
}
