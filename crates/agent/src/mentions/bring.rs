//! Brings what mentions name, as text for the model.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use stepwell_protocol::{Message, Part, Risk, ToolCall, ToolCallId};
use stepwell_tool_runtime::{CallEnv, GitQuestion, PathKind, Wanted};

use super::Mention;
use crate::engine::Engine;

/// Bytes of one mention, and of all of a message.
const MOST_EACH: usize = 16 * 1024;
const MOST_TOGETHER: usize = 48 * 1024;
/// Lines of a symbol's definition.
const SYMBOL_LINES: u32 = 40;
const MOST_SYMBOLS: usize = 3;

/// What the mentions of a message brought.
#[derive(Debug, Default)]
pub struct Brought {
    /// For the model; empty where nothing was brought.
    pub text: String,
    /// What could not be brought, for the person.
    pub notices: Vec<String>,
}

/// Brings what mentions name, with the permissions of a run.
pub struct MentionReader<'a> {
    pub engine: &'a Engine,
    pub env: &'a CallEnv,
    pub history: &'a [Arc<Message>],
}

/// What became of one mention.
enum Found {
    Text(String),
    /// It is no mention of anything here, so it is left as words.
    Nothing,
    Refused(String),
}

impl MentionReader<'_> {
    /// Reads what each mention names. Refused and unknown mentions become notes in the result.
    pub async fn bring(&self, mentions: &[Mention]) -> Brought {
        let mut brought = Brought::default();
        for mention in mentions {
            if self.env.cancel.is_cancelled() {
                break;
            }
            let label = format!("@{}", mention.label());
            match self.one(mention).await {
                Found::Text(text) => {
                    let room = MOST_TOGETHER.saturating_sub(brought.text.len()).min(MOST_EACH);
                    if room == 0 {
                        brought
                            .notices
                            .push(format!("`{label}` was left out: the mentions together are too long"));
                        continue;
                    }
                    let text = self.env.redactor.redact(&text).into_owned();
                    write!(brought.text, "## {label}\n{}\n\n", cut(&text, room)).ok();
                }
                Found::Nothing => {
                    brought.notices.push(format!("`{label}` names nothing here, so it stays as it is"));
                }
                Found::Refused(reason) => {
                    brought.notices.push(format!("`{label}` was not brought: {reason}"));
                    write!(brought.text, "## {label}\n(not brought: {reason})\n\n").ok();
                }
            }
        }
        brought
    }

    /// Runs the shell commands of a command's text, each with the permission it needs.
    pub async fn run(&self, commands: &[String]) -> Brought {
        let mut brought = Brought::default();
        for command in commands {
            let found = self.call(&Wanted::Shell { command: command.clone() }).await;
            let text = match found {
                Found::Text(text) => cut(&text, MOST_EACH),
                Found::Nothing => continue,
                Found::Refused(reason) => {
                    brought.notices.push(format!("`{command}` was not run: {reason}"));
                    format!("(not run: {reason})")
                }
            };
            if brought.text.len() < MOST_TOGETHER {
                write!(brought.text, "## Output of `{command}`\n{text}\n\n").ok();
            }
        }
        brought
    }

    async fn one(&self, mention: &Mention) -> Found {
        match mention {
            Mention::Name { name, lines } => self.named(name, *lines).await,
            Mention::Url(url) => match self.call(&Wanted::Page { url: url.clone() }).await {
                Found::Nothing => Found::Refused("no tool here fetches pages".into()),
                found => found,
            },
            Mention::Problems => self.problems(),
            Mention::Terminal => self.terminal(),
            Mention::Git => self.git(GitQuestion::WorkingChanges).await.unwrap_or_else(Found::Refused),
            Mention::Checkpoint(number) => self.checkpoint(*number).await,
        }
    }

    async fn named(&self, name: &str, lines: Option<(u32, Option<u32>)>) -> Found {
        let lookup = &self.env.services.lookup;
        // Roo-Code writes paths from the workspace with a slash before them.
        let relative = name.strip_prefix('/').filter(|rest| !rest.is_empty());
        for path in relative.into_iter().chain([name]) {
            match lookup.kind_of(path).await {
                Some(PathKind::File) => {
                    return self.call(&Wanted::File { path: path.to_owned(), lines }).await;
                }
                Some(PathKind::Folder) => {
                    return self.call(&Wanted::Folder { path: path.to_owned() }).await;
                }
                // The tool says why, and the judge sees that somebody asked.
                Some(PathKind::Hidden(by)) => {
                    return Found::Refused(format!("it is hidden by {by}"));
                }
                None => {}
            }
        }
        if is_commit(name)
            && let Ok(found) = self.git(GitQuestion::Commit(name.to_owned())).await
        {
            return found;
        }
        // A path that is not there is no name of a symbol.
        if name.contains('/') {
            return Found::Nothing;
        }
        self.symbol(name).await
    }

    async fn symbol(&self, name: &str) -> Found {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name).trim_end_matches("()");
        let found = self.env.services.lookup.symbols(last, 50).await.unwrap_or_default();
        let named: Vec<_> =
            found.into_iter().filter(|symbol| symbol.name == last).take(MOST_SYMBOLS).collect();
        let mut text = String::new();
        for symbol in named {
            let lines = Some((symbol.line, Some(symbol.line + SYMBOL_LINES - 1)));
            let wanted = Wanted::File { path: symbol.path.clone(), lines };
            writeln!(text, "{} `{}` in {}:{}", symbol.kind, symbol.name, symbol.path, symbol.line).ok();
            match self.call(&wanted).await {
                Found::Text(lines) => writeln!(text, "{}", cut(&lines, MOST_EACH / MOST_SYMBOLS)).ok(),
                Found::Refused(reason) => writeln!(text, "({reason})").ok(),
                Found::Nothing => None,
            };
        }
        if text.is_empty() { Found::Nothing } else { Found::Text(text) }
    }

    /// What the last program that failed in this task said.
    fn problems(&self) -> Found {
        let registry = self.env.services.executor.registry();
        for message in self.history.iter().rev() {
            for part in message.parts.iter().rev() {
                let Part::ToolResult { result } = part else { continue };
                let is_program =
                    registry.get(&result.tool).is_some_and(|tool| tool.spec().risk == Risk::Execute);
                if is_program && !result.is_success() {
                    return Found::Text(format!(
                        "The last program that failed (`{}`):\n{}",
                        result.tool, result.output
                    ));
                }
            }
        }
        Found::Refused(
            "no program has failed in this task, and no editor is attached that would tell problems".into(),
        )
    }

    fn terminal(&self) -> Found {
        let activity = &self.env.services.activity;
        let mut text = String::new();
        for command in activity.background_commands() {
            let state = if command.ended.is_some() { "ended" } else { "running" };
            writeln!(text, "{} `{}` ({state})", command.process_id, command.command).ok();
            if let Some(output) = activity.background_output(command.process_id) {
                writeln!(text, "{}", end_of(&output, MOST_EACH / 4)).ok();
            }
        }
        if text.is_empty() {
            Found::Refused("no command runs in the background".into())
        } else {
            Found::Text(text)
        }
    }

    async fn git(&self, question: GitQuestion) -> Result<Found, String> {
        let said = self.env.services.lookup.git(&question, &self.env.cancel).await?;
        Ok(Found::Text(if said.trim().is_empty() { "(no changes)".into() } else { said }))
    }

    async fn checkpoint(&self, number: u64) -> Found {
        let root: &Path = &self.env.services.root;
        match self.engine.checkpoint_diff(root, number, false).await {
            Err(error) => Found::Refused(error.to_string()),
            Ok(files) => {
                let mut text = String::new();
                for file in files {
                    let hidden = self.env.services.lookup.kind_of(&file.path).await;
                    if matches!(hidden, Some(PathKind::Hidden(_))) {
                        continue;
                    }
                    writeln!(text, "{}\n{}", file.path, file.diff).ok();
                }
                Found::Text(text)
            }
        }
    }

    /// Runs the call of a tool that brings something, through the executor.
    async fn call(&self, wanted: &Wanted) -> Found {
        let Some((name, arguments)) = self.env.services.lookup.call_for(wanted) else {
            return Found::Nothing;
        };
        let call = ToolCall { id: ToolCallId::generate(), name, arguments, opaque: None };
        let outcome = self.env.services.executor.execute(&call, self.env).await;
        match outcome.result.error {
            // A command that fails still says something.
            Some(error) if outcome.refused.is_some() || outcome.result.output.trim().is_empty() => {
                Found::Refused(error.message)
            }
            Some(error) if !matches!(wanted, Wanted::Shell { .. }) => Found::Refused(error.message),
            _ => Found::Text(outcome.result.output),
        }
    }
}

fn is_commit(name: &str) -> bool {
    (7..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The beginning of a text, with a note where it was cut.
fn cut(text: &str, most: usize) -> String {
    let text = text.trim_end();
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!(
        "{}\n[{} more bytes were left out; read them with the tools if you need them]",
        &text[..end],
        text.len() - end
    )
}

/// The end of a text.
pub(crate) fn end_of(text: &str, most: usize) -> String {
    let text = text.trim_end();
    if text.len() <= most {
        return text.to_owned();
    }
    format!("[...]{}", &text[text.ceil_char_boundary(text.len() - most)..])
}
