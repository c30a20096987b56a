//! Requests without what differs from run to run.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stepwell_protocol::{Message, Part, Role};

use super::Matching;
use crate::advice::excerpt;
use crate::model::Request;

/// What is replaced, in this order: the workspace's path by `{workspace}`; dates with or without a time, and times
/// of day, by `{time}`; durations such as `1.25s`, `80 ms` or `in 3 seconds` by `{duration}`; UUIDs and generated
/// ids such as `msg_…` or `call_…` by `{id}`. Message ids, timestamps, ids of calls, what a front end alone sees and
/// how long a tool took are not part of the form at all.
#[derive(Clone, Debug, Default)]
pub struct Normalizer {
    /// The absolute path of the workspace.
    pub workspace: Option<String>,
}

/// What a model sees of a request, in a form that can be compared and read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NormalRequest {
    system_sha256: String,
    tools: Vec<String>,
    options: String,
    messages: Vec<NormalMessage>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NormalMessage {
    role: Role,
    parts: Vec<String>,
}

struct Patterns {
    time: Regex,
    duration: Regex,
    id: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    Some(Patterns {
        time: Regex::new(
            r"\b\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?|\b\d{2}:\d{2}:\d{2}(\.\d+)?\b",
        )
        .ok()?,
        duration: Regex::new(r"\b\d+(\.\d+)? ?(ns|µs|us|ms|s|sec|secs|seconds?|min|minutes?)\b").ok()?,
        id: Regex::new(
            r"\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(msg|call|apr|qst|plan|art|toolu)_[0-9A-Za-z_-]{6,})\b",
        )
        .ok()?,
    })
});

impl Normalizer {
    fn text(&self, text: &str) -> String {
        let text = match &self.workspace {
            Some(path) if path.len() > 1 => text.replace(path.trim_end_matches('/'), "{workspace}"),
            _ => text.to_owned(),
        };
        let Some(patterns) = &*PATTERNS else { return text };
        let text = patterns.time.replace_all(&text, "{time}");
        let text = patterns.id.replace_all(&text, "{id}");
        patterns.duration.replace_all(&text, "{duration}").into_owned()
    }

    pub(super) fn request(&self, request: &Request) -> NormalRequest {
        let digest = Sha256::digest(self.text(&request.system).as_bytes());
        NormalRequest {
            system_sha256: hex(&digest),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            options: format!(
                "max {:?}, temperature {:?}, stop {:?}, effort {:?}, tools {:?}",
                request.options.max_output_tokens,
                request.options.temperature,
                request.options.stop,
                request.options.effort,
                request.options.tool_choice
            ),
            messages: request
                .messages
                .iter()
                .filter(|message| !message.is_environment_details())
                .map(|message| self.message(message))
                .collect(),
        }
    }

    fn message(&self, message: &Message) -> NormalMessage {
        // What is told of the surroundings depends on the folder, and on what was found out in time.
        let parts = message.parts.iter().filter(|part| !part.is_surroundings()).map(|part| match part {
            Part::Text { text } => format!("text: {}", self.text(text)),
            Part::Reasoning { text, .. } => format!("reasoning: {}", self.text(text)),
            Part::Image { image } => {
                format!("image: {} {}", image.media_type, hex(&Sha256::digest(image.data.as_bytes())[..8]))
            }
            Part::ToolCall { call } => {
                format!("call: {} {}", call.name, self.text(&call.arguments.to_string()))
            }
            Part::ToolResult { result } => {
                let outcome =
                    result.error.as_ref().map_or_else(String::new, |error| format!(" {:?}", error.class));
                format!("result: {}{outcome} {}", result.tool, self.text(&result.output))
            }
        });
        NormalMessage { role: message.role, parts: parts.collect() }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

impl NormalRequest {
    /// The first thing in which another request differs from this recorded one.
    pub(super) fn difference(&self, other: &Self, matching: Matching) -> Option<String> {
        if matching == Matching::Lenient {
            return self.lenient_difference(other);
        }
        for (position, recorded) in self.messages.iter().enumerate() {
            let number = position + 1;
            let Some(found) = other.messages.get(position) else {
                return Some(format!(
                    "message {number} ({:?}: \"{}\") is missing",
                    recorded.role,
                    excerpt(&recorded.parts.join(" "), 120)
                ));
            };
            if recorded.role != found.role {
                return Some(format!(
                    "message {number} was the {:?}'s and is the {:?}'s",
                    recorded.role, found.role
                ));
            }
            if recorded.parts != found.parts {
                return Some(format!(
                    "message {number} ({:?}) {}",
                    found.role,
                    part_difference(recorded, found)
                ));
            }
        }
        if let Some(extra) = other.messages.get(self.messages.len()) {
            return Some(format!(
                "message {} ({:?}: \"{}\") was not there",
                self.messages.len() + 1,
                extra.role,
                excerpt(&extra.parts.join(" "), 120)
            ));
        }
        if self.tools != other.tools {
            let gone: Vec<_> = self.tools.iter().filter(|tool| !other.tools.contains(tool)).collect();
            let new: Vec<_> = other.tools.iter().filter(|tool| !self.tools.contains(tool)).collect();
            return Some(format!("the tools differ: missing {gone:?}, new {new:?} (or their order)"));
        }
        if self.options != other.options {
            return Some(format!("the options were \"{}\" and are \"{}\"", self.options, other.options));
        }
        (self.system_sha256 != other.system_sha256).then(|| "the system prompt differs".to_owned())
    }

    fn lenient_difference(&self, other: &Self) -> Option<String> {
        let turns = |request: &Self| {
            request.messages.iter().filter(|message| message.role == Role::Assistant).count()
        };
        let (recorded, found) = (turns(self), turns(other));
        if recorded != found {
            return Some(format!("the number of the model's answers was {recorded} and is {found}"));
        }
        let (recorded, found) = (self.last_words(), other.last_words());
        (recorded != found).then(|| {
            format!(
                "the person's last words were {} and are {}",
                around(&recorded, &found),
                around(&found, &recorded)
            )
        })
    }

    fn last_words(&self) -> String {
        let last = self.messages.iter().rev().find(|message| message.role == Role::User);
        last.map(|message| message.parts.join("\n")).unwrap_or_default()
    }
}

fn part_difference(recorded: &NormalMessage, found: &NormalMessage) -> String {
    for (position, part) in recorded.parts.iter().enumerate() {
        match found.parts.get(position) {
            Some(other) if other == part => {}
            Some(other) => {
                return format!(
                    "part {} was {} and is {}",
                    position + 1,
                    around(part, other),
                    around(other, part)
                );
            }
            None => return format!("lacks part {}: \"{}\"", position + 1, excerpt(part, 120)),
        }
    }
    let extra = found.parts.get(recorded.parts.len()).map_or("", String::as_str);
    format!("has one part more: \"{}\"", excerpt(extra, 120))
}

/// A little of the text, around where it first differs from the other.
fn around(text: &str, other: &str) -> String {
    let common = text.bytes().zip(other.bytes()).take_while(|(left, right)| left == right).count();
    let start = text.floor_char_boundary(common.saturating_sub(30));
    let lead = if start > 0 { "…" } else { "" };
    format!("\"{lead}{}\"", excerpt(&text[start..], 100))
}
