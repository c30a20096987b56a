//! `todoread` and `todowrite`: the task's list.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Event, Preview, Risk, TodoItem, TodoPriority, TodoStatus};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolOutput, ToolSpec, counted};

pub struct TodoRead;
pub struct TodoWrite;

/// Reads the todo list of this task.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct TodoReadInput {
    /// Only items of this status.
    status: Option<TodoStatus>,
}

/// Replaces the todo list of this task. For work of three or more steps: write the list first, keep one item in
/// progress, mark each completed as soon as it is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct TodoWriteInput {
    /// The whole list; or a checklist of `- [ ]`, `- [-]` and `- [x]` lines.
    todos: Vec<TodoEntry>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct TodoEntry {
    id: Option<String>,
    #[schemars(extend("x-aliases" = ["text", "task", "title"]))]
    content: String,
    #[serde(default)]
    status: TodoStatus,
    #[serde(default)]
    priority: TodoPriority,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TodoOutput {
    todos: Vec<TodoItem>,
}

impl ToolOutput for TodoOutput {
    fn for_model(&self) -> Cow<'_, str> {
        if self.todos.is_empty() {
            return Cow::Borrowed("the todo list is empty");
        }
        let lines: Vec<String> = self.todos.iter().map(line).collect();
        Cow::Owned(lines.join("\n"))
    }
}

fn line(item: &TodoItem) -> String {
    let mark = match item.status {
        TodoStatus::Pending => "[ ]",
        TodoStatus::InProgress => "[-]",
        TodoStatus::Completed => "[x]",
        TodoStatus::Cancelled => "[cancelled]",
    };
    let priority = match item.priority {
        TodoPriority::High => " (high)",
        TodoPriority::Medium => "",
        TodoPriority::Low => " (low)",
    };
    format!("{mark} {}. {}{priority}", item.id, item.content)
}

fn spec(name: &'static str, aliases: &'static [&'static str]) -> ToolSpec {
    ToolSpec {
        name,
        aliases,
        category: Category::Planning,
        risk: Risk::Control,
        time_limit: Duration::from_secs(30),
        output_limit: 50 * 1024,
    }
}

#[async_trait]
impl Tool for TodoRead {
    type Input = TodoReadInput;
    type Plan = TodoReadInput;
    type Output = TodoOutput;

    fn spec(&self) -> ToolSpec {
        spec("todoread", &["todo_read"])
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview = Preview { summary: "Read the todo list".to_owned(), ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let mut todos = ctx.host.todo();
        todos.retain(|item| input.status.is_none_or(|status| item.status == status));
        Ok(TodoOutput { todos })
    }
}

#[async_trait]
impl Tool for TodoWrite {
    type Input = TodoWriteInput;
    type Plan = TodoWriteInput;
    type Output = TodoOutput;

    fn spec(&self) -> ToolSpec {
        spec("todowrite", &["update_todo_list", "todo_write"])
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let preview = Preview {
            summary: format!("Write the todo list ({})", counted(input.todos.len() as u64, "item")),
            ..Preview::default()
        };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let todos = items(input.todos)?;
        ctx.host
            .record(Event::Todo { items: todos.clone() })
            .await
            .map_err(|error| ToolError::execution(format!("the todo list could not be kept: {error}")))?;
        Ok(TodoOutput { todos })
    }
}

/// The list with ids of its own, checklists taken apart.
fn items(entries: Vec<TodoEntry>) -> Result<Vec<TodoItem>, ToolError> {
    let mut items: Vec<TodoItem> = Vec::new();
    for entry in entries {
        let lines: Vec<&str> = entry.content.lines().filter(|line| !line.trim().is_empty()).collect();
        let is_checklist = lines.iter().any(|line| checklist_line(line).is_some());
        if !is_checklist {
            push(&mut items, entry.id, entry.content.trim(), entry.status, entry.priority);
            continue;
        }
        for line in lines {
            match (checklist_line(line), items.last_mut()) {
                (Some((status, content)), _) => push(&mut items, None, content, status, entry.priority),
                // A line without a mark goes on with the item above it.
                (None, Some(last)) => {
                    last.content.push(' ');
                    last.content.push_str(line.trim());
                }
                (None, None) => push(&mut items, None, line.trim(), entry.status, entry.priority),
            }
        }
    }
    match items.iter().find(|item| item.content.is_empty()) {
        Some(item) => Err(ToolError::validation(format!("the todo `{}` has no content", item.id))),
        None => Ok(items),
    }
}

fn push(
    items: &mut Vec<TodoItem>,
    id: Option<String>,
    content: &str,
    status: TodoStatus,
    priority: TodoPriority,
) {
    let taken = |id: &str| items.iter().any(|item| item.id == id);
    let mut number = items.len() + 1;
    while taken(&number.to_string()) {
        number += 1;
    }
    let id = id.filter(|id| !id.is_empty() && !taken(id)).unwrap_or_else(|| number.to_string());
    items.push(TodoItem { id, content: content.to_owned(), status, priority });
}

/// `- [x] text` taken apart; also `*`, `1.` or no mark before the brackets.
fn checklist_line(line: &str) -> Option<(TodoStatus, &str)> {
    let line = line.trim();
    let line = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let line = line.trim_start_matches(['-', '*', '+', '.', ')']).trim_start();
    let (mark, content) = line.strip_prefix('[')?.split_once(']')?;
    let status = match mark.trim() {
        "" => TodoStatus::Pending,
        "x" | "X" => TodoStatus::Completed,
        "-" | "~" | ">" => TodoStatus::InProgress,
        "cancelled" => TodoStatus::Cancelled,
        _ => return None,
    };
    Some((status, content.trim()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn entry(content: &str) -> TodoEntry {
        TodoEntry {
            id: None,
            content: content.into(),
            status: TodoStatus::Pending,
            priority: TodoPriority::Medium,
        }
    }

    #[test]
    fn lists_and_checklists_become_items() {
        let entries = vec![entry("plain"), entry("- [x] done\n  - [-] doing\n    and on\n[ ] to do\n")];
        let lines: Vec<String> = items(entries).expect("items").iter().map(line).collect();
        expect![[r"
            [ ] 1. plain
            [x] 2. done
            [-] 3. doing and on
            [ ] 4. to do"]]
        .assert_eq(&lines.join("\n"));
        assert!(items(vec![entry("  ")]).is_err());
    }
}
