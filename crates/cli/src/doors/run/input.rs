//! `--input-format stream-json`: a program at standard input that talks while the run goes on.

use serde::Deserialize;
use serde_json::{Value, json};
use stepwell_protocol::{
    AnsweredBy, ApprovalAnswer, ApprovalId, Command, Part, QuestionAnswer, QuestionId, TaskId,
};
use tokio::io::{BufReader, Stdin};

use crate::lines::Lines;
use crate::terminal;

/// What a line says.
#[derive(Debug, PartialEq)]
pub enum Said {
    Message(Vec<Part>),
    Approval(ApprovalId, ApprovalAnswer),
    Answer(QuestionId, QuestionAnswer),
    Interrupt,
}

/// A line as it is written.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    User {
        #[serde(default)]
        text: Option<String>,
        /// The form other agents read: `{"role": "user", "content": "..."}`.
        #[serde(default)]
        message: Option<UserMessage>,
    },
    Approval {
        approval: ApprovalId,
        #[serde(flatten)]
        answer: ApprovalAnswer,
    },
    Answer {
        question: QuestionId,
        #[serde(default)]
        option: Option<String>,
        #[serde(default)]
        text: Option<String>,
    },
    Interrupt,
}

#[derive(Deserialize)]
struct UserMessage {
    content: UserContent,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum UserContent {
    Text(String),
    Parts(Vec<UserPart>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum UserPart {
    Text { text: String },
}

/// The lines of standard input.
pub struct Input {
    lines: Lines<BufReader<Stdin>>,
    number: u64,
    ended: bool,
}

impl Input {
    pub fn open() -> Self {
        Self { lines: Lines::new(BufReader::new(tokio::io::stdin())), number: 0, ended: false }
    }

    pub fn is_open(&self) -> bool {
        !self.ended
    }

    /// What is said next; `None` at the end of the input. Lines that say nothing are told and passed over. Can be
    /// cancelled at any time.
    pub async fn next(&mut self) -> Option<Said> {
        while !self.ended {
            match self.lines.next().await {
                Ok(Some(line)) => {
                    self.number += 1;
                    match read(&line) {
                        Ok(Some(said)) => return Some(said),
                        Ok(None) => {}
                        Err(problem) => self.refuse(&problem),
                    }
                }
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    self.refuse(&format!("{error:#}; nothing more is read"));
                }
            }
        }
        None
    }

    /// The first message; what else is said before it has nothing to be about.
    pub async fn first_message(&mut self) -> Option<Vec<Part>> {
        loop {
            match self.next().await? {
                Said::Message(parts) => return Some(parts),
                _ => self.refuse("there is no run yet; the first line must be a user message"),
            }
        }
    }

    /// Says in the output that a line was not followed.
    pub fn refuse(&self, problem: &str) {
        let line = json!({"type": "input_error", "line": self.number, "message": problem});
        terminal::out_line(&line.to_string());
    }
}

impl Said {
    /// The command that carries it out.
    pub fn command(self, task: TaskId) -> Command {
        match self {
            Self::Message(parts) => Command::SendMessage { task, parts },
            Self::Approval(approval, answer) => Command::Approve { task, approval, answer },
            Self::Answer(question, answer) => Command::AnswerQuestion { task, question, answer },
            Self::Interrupt => Command::Cancel { task },
        }
    }
}

fn read(line: &[u8]) -> Result<Option<Said>, String> {
    const FORMS: &str = "a line is {\"type\": \"user\", \"text\": \"...\"}, \
                         {\"type\": \"approval\", \"approval\": \"apr_...\", \"answer\": \"yes\"}, \
                         {\"type\": \"answer\", \"question\": \"qst_...\", \"text\": \"...\"} or {\"type\": \"interrupt\"}";
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}; {FORMS}"))?;
    let line: Line = serde_json::from_value(value).map_err(|error| format!("{error}; {FORMS}"))?;
    Ok(Some(match line {
        Line::User { text, message } => {
            let texts = match (text, message.map(|message| message.content)) {
                (Some(text), None) | (None, Some(UserContent::Text(text))) => vec![text],
                (None, Some(UserContent::Parts(parts))) => {
                    parts.into_iter().map(|UserPart::Text { text }| text).collect()
                }
                _ => return Err(format!("a user message has either `text` or `message`; {FORMS}")),
            };
            if texts.iter().all(|text| text.trim().is_empty()) {
                return Err("the user message is empty".into());
            }
            Said::Message(texts.into_iter().map(Part::text).collect())
        }
        Line::Approval { approval, answer } => Said::Approval(approval, answer),
        Line::Answer { option: None, text: None, .. } => {
            return Err(format!("an answer has an `option`, a `text` or both; {FORMS}"));
        }
        Line::Answer { question, option, text } => {
            Said::Answer(question, QuestionAnswer::new(option, text, AnsweredBy::Person))
        }
        Line::Interrupt => Said::Interrupt,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_answers_and_interrupts() {
        let message = |text: &str| Some(Said::Message(vec![Part::text(text)]));
        for (line, expected) in [
            (r#"{"type":"user","text":"go"}"#, message("go")),
            (r#"{"type":"user","message":{"role":"user","content":"go"}}"#, message("go")),
            (
                r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"go"}]},"session_id":"x"}"#,
                message("go"),
            ),
            (
                r#"{"type":"approval","approval":"apr_1","answer":"no","reason":"later"}"#,
                Some(Said::Approval("apr_1".into(), ApprovalAnswer::no(Some("later".into())))),
            ),
            (r#"{"type":"interrupt"}"#, Some(Said::Interrupt)),
            ("  ", None),
        ] {
            assert_eq!(read(line.as_bytes()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "{",
            "[]",
            "\u{0}",
            r#"{"type":"shout"}"#,
            r#"{"type":"user"}"#,
            r#"{"type":"user","text":" "}"#,
            r#"{"type":"user","text":"a","message":{"content":"b"}}"#,
            r#"{"type":"approval","approval":"apr_1","answer":"perhaps"}"#,
            r#"{"type":"answer","question":"qst_1"}"#,
        ] {
            assert!(read(line.as_bytes()).is_err(), "{line}");
        }
    }
}
