//! What the person saw, as Roo-Code's asks and says.

use serde_json::{Map, Value, json};
use stepwell_protocol::{AnswerOrigin, Message, Part, Timestamp, ToolCall, ToolResult, Usage};

use stepwell_transcript::{Entry, Item};

use super::tools::to_roo;

pub(super) fn messages(items: &[Item]) -> Vec<Value> {
    let mut chat = Chat { messages: Vec::new(), ts: Timestamp(0), begun: false };
    for item in items {
        chat.ts = chat.ts.max(item.ts);
        chat.entry(&item.entry);
    }
    chat.messages
}

struct Chat {
    messages: Vec<Value>,
    /// Never goes back.
    ts: Timestamp,
    /// Whether the person has spoken.
    begun: bool,
}

impl Chat {
    fn entry(&mut self, entry: &Entry) {
        match entry {
            Entry::User { message } => self.user(message),
            Entry::Thought { text, reasoning, .. } => {
                if !reasoning.is_empty() {
                    self.say("reasoning", reasoning);
                }
                if !text.is_empty() {
                    self.say("text", text);
                }
            }
            Entry::Tool(card) => self.action(&card.call, card.result.as_ref()),
            // Roo-Code's ask of the call itself stands for it.
            Entry::Approval { .. } | Entry::OutputsDropped { .. } | Entry::CondensingUndone => {}
            Entry::Question { question, answer } => {
                let suggest: Vec<Value> =
                    question.options.iter().map(|option| json!({ "answer": option.label })).collect();
                let text = json!({ "question": question.text, "suggest": suggest }).to_string();
                self.ask("followup", &text, answer.as_ref());
                if let Some(answer) = answer {
                    let chosen =
                        question.options.iter().find(|option| Some(&option.id) == answer.option.as_ref());
                    let said = answer.text.clone().or(chosen.map(|option| option.label.clone()));
                    self.say("user_feedback", &said.or(answer.option.clone()).unwrap_or_default());
                }
            }
            Entry::Answer { content, reasoning, origin, .. } => {
                if !reasoning.is_empty() {
                    self.say("reasoning", reasoning);
                }
                match origin {
                    AnswerOrigin::Completion => {
                        self.say("completion_result", content);
                        self.ask("completion_result", "", None::<&()>);
                    }
                    AnswerOrigin::Text | AnswerOrigin::Stopped => self.say("text", content),
                }
            }
            Entry::Request { usage, .. } => self.request(usage),
            Entry::Mode { mode, reason } => {
                let text = json!({ "tool": "switchMode", "mode": mode, "reason": reason }).to_string();
                self.ask("tool", &text, Some(mode));
            }
            Entry::Model { model } => self.say("text", &format!("Model: {model}")),
            Entry::PermissionMode { permission_mode } => {
                self.say("text", &format!("Permission mode: {}", permission_mode.name()));
            }
            Entry::Subtask { title, mode, .. } => {
                let text = json!({ "tool": "newTask", "mode": mode, "content": title }).to_string();
                self.ask("tool", &text, Some(title));
            }
            Entry::Plan { plan } => {
                let steps: Vec<String> =
                    plan.steps.iter().map(|step| format!("{}. {}", step.id, step.description)).collect();
                self.say("text", &format!("{}\n\n{}", plan.goal, steps.join("\n")));
            }
            Entry::Step { step, status, result, .. } => {
                self.say("text", &format!("Step {step} ({}): {result}", status.name()));
            }
            Entry::Condensed { condensing } => {
                let mut message = self.message("say", "condense_context", "");
                message.insert(
                    "contextCondense".to_owned(),
                    json!({
                        "cost": 0,
                        "prevContextTokens": condensing.tokens_before,
                        "newContextTokens": condensing.tokens_after,
                        "summary": condensing.summary,
                    }),
                );
                self.messages.push(Value::Object(message));
            }
            Entry::ContextTruncated { dropped_messages } => {
                let mut message = self.message("say", "sliding_window_truncation", "");
                message.insert(
                    "contextTruncation".to_owned(),
                    json!({
                        "truncationId": format!("truncation-{}", self.ts.0),
                        "messagesRemoved": dropped_messages,
                        "prevContextTokens": 0,
                        "newContextTokens": 0,
                    }),
                );
                self.messages.push(Value::Object(message));
            }
            Entry::Error { error } => self.say("error", &error.message),
            Entry::Notice { text } => self.say("text", text),
        }
    }

    fn user(&mut self, message: &Message) {
        let kind = if self.begun { "user_feedback" } else { "text" };
        self.begun = true;
        let mut said = self.message("say", kind, &message.said());
        let images: Vec<Value> = message
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Image { image } => {
                    Some(format!("data:{};base64,{}", image.media_type, image.data).into())
                }
                _ => None,
            })
            .collect();
        if !images.is_empty() {
            said.insert("images".to_owned(), images.into());
        }
        self.messages.push(Value::Object(said));
    }

    fn request(&mut self, usage: &Usage) {
        let text = json!({
            "tokensIn": usage.input_tokens,
            "tokensOut": usage.output_tokens,
            "cacheWrites": usage.cache_write_tokens,
            "cacheReads": usage.cache_read_tokens,
            "cost": usage.cost_usd.unwrap_or_default(),
            "apiProtocol": "anthropic",
        });
        self.say("api_req_started", &text.to_string());
    }

    fn action(&mut self, call: &ToolCall, result: Option<&ToolResult>) {
        let (name, input) = to_roo(&call.name, &call.arguments);
        let output = result.map(|result| result.output.as_str());
        match name.as_str() {
            // Shown by the question and the answer that follow.
            "ask_followup_question" | "attempt_completion" => return,
            "execute_command" => {
                self.ask("command", text_of(&input, "command"), result);
                if let Some(output) = output {
                    self.say("command_output", output);
                }
            }
            _ => {
                if let Some(text) = tool_text(&name, &input, result) {
                    self.ask("tool", &text, result);
                } else {
                    self.foreign_call(&name, &input, result);
                }
            }
        }
        if let Some(error) = result.and_then(|result| result.error.as_ref()) {
            self.say("error", &error.message);
        }
    }

    /// A tool that Roo-Code does not have is shown as one of a server's.
    fn foreign_call(&mut self, name: &str, input: &Value, result: Option<&ToolResult>) {
        let (server, tool) = match name {
            "use_mcp_tool" => (text_of(input, "server_name"), text_of(input, "tool_name")),
            other => ("stepwell", other),
        };
        let text = json!({
            "type": "use_mcp_tool",
            "serverName": server,
            "toolName": tool,
            "arguments": input.to_string(),
        });
        self.ask("use_mcp_server", &text.to_string(), result);
        if let Some(result) = result {
            self.say("mcp_server_response", &result.output);
        }
    }

    fn say(&mut self, kind: &str, text: &str) {
        let message = self.message("say", kind, text);
        self.messages.push(Value::Object(message));
    }

    fn ask<T>(&mut self, kind: &str, text: &str, answer: Option<&T>) {
        let mut message = self.message("ask", kind, text);
        if answer.is_some() {
            message.insert("isAnswered".to_owned(), true.into());
        }
        self.messages.push(Value::Object(message));
    }

    fn message(&self, class: &str, kind: &str, text: &str) -> Map<String, Value> {
        let mut message = Map::new();
        message.insert("ts".to_owned(), self.ts.0.into());
        message.insert("type".to_owned(), class.into());
        message.insert(class.to_owned(), kind.into());
        message.insert("text".to_owned(), text.into());
        message
    }
}

/// What Roo-Code shows of a call to one of its own tools.
fn tool_text(name: &str, input: &Value, result: Option<&ToolResult>) -> Option<String> {
    let diff = result.and_then(|result| result.detail.as_ref()?.diff()).unwrap_or_default();
    let path = match text_of(input, "path") {
        "" => text_of(input, "file_path"),
        path => path,
    };
    let content = result.map(|result| result.output.as_str()).unwrap_or_default();
    let shown = match name {
        "read_file" => json!({ "tool": "readFile", "path": path, "content": path }),
        "write_to_file" => {
            json!({ "tool": "newFileCreated", "path": path, "content": text_of(input, "content"), "diff": diff })
        }
        "search_and_replace" | "apply_diff" | "apply_patch" | "insert_content" => {
            json!({ "tool": "appliedDiff", "path": path, "diff": diff })
        }
        "list_files" => {
            let recursive = input.get("recursive").and_then(Value::as_bool).unwrap_or_default();
            let tool = if recursive { "listFilesRecursive" } else { "listFilesTopLevel" };
            json!({ "tool": tool, "path": path, "content": content })
        }
        "search_files" => json!({
            "tool": "searchFiles",
            "path": path,
            "regex": text_of(input, "regex"),
            "filePattern": text_of(input, "file_pattern"),
            "content": content,
        }),
        "codebase_search" => {
            json!({ "tool": "codebaseSearch", "query": text_of(input, "query"), "path": path })
        }
        "switch_mode" => {
            json!({ "tool": "switchMode", "mode": text_of(input, "mode_slug"), "reason": text_of(input, "reason") })
        }
        "new_task" => {
            json!({ "tool": "newTask", "mode": text_of(input, "mode"), "content": text_of(input, "message") })
        }
        "update_todo_list" => json!({ "tool": "updateTodoList", "todos": input.get("todos") }),
        "skill" => json!({ "tool": "skill", "skill": text_of(input, "skill") }),
        "run_slash_command" => json!({ "tool": "runSlashCommand", "command": text_of(input, "command") }),
        _ => return None,
    };
    Some(shown.to_string())
}

fn text_of<'a>(input: &'a Value, key: &str) -> &'a str {
    input.get(key).and_then(Value::as_str).unwrap_or_default()
}
