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
    /// Only items of this priority.
    priority: Option<TodoPriority>,
    /// The list is always that of the task.
    #[serde(rename = "session_id")]
    #[schemars(extend("x-hidden" = true))]
    _session_id: Option<String>,
}

/// Writes the todo list of this task. For work of three or more steps: write the list first, keep one item in progress,
/// mark each completed as soon as it is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(extend("examples" = [{"todos": [
    {"content": "Find the cause", "status": "completed"}, {"content": "Mend it", "status": "in_progress"}]}]))]
pub struct TodoWriteInput {
    /// The items; or a checklist of `- [ ]`, `- [-]` and `- [x]` lines.
    todos: Vec<TodoEntry>,
    /// `replace` the whole list (the default), `add` items to it, or `update` items by their ids.
    #[serde(default)]
    action: TodoAction,
    /// The item that `update` changes, where `todos` has one without an id.
    todo_id: Option<String>,
    /// The list is always that of the task.
    #[serde(rename = "session_id")]
    #[schemars(extend("x-hidden" = true))]
    _session_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoAction {
    #[default]
    Replace,
    Add,
    Update,
}

impl TodoAction {
    fn verb(self) -> &'static str {
        match self {
            Self::Replace => "Write",
            Self::Add => "Add to",
            Self::Update => "Update",
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct TodoEntry {
    #[schemars(extend("x-aliases" = ["todo_id"]))]
    id: Option<String>,
    /// Needed for a new item.
    #[schemars(extend("x-text" = true, "x-aliases" = ["text", "task", "title"]))]
    content: Option<String>,
    status: Option<TodoStatus>,
    priority: Option<TodoPriority>,
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
        todos.retain(|item| {
            input.status.is_none_or(|status| item.status == status)
                && input.priority.is_none_or(|priority| item.priority == priority)
        });
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
            summary: format!(
                "{} the todo list ({})",
                input.action.verb(),
                counted(input.todos.len() as u64, "item")
            ),
            ..Preview::default()
        };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let todos = match input.action {
            TodoAction::Replace => items(Vec::new(), input.todos)?,
            TodoAction::Add => items(ctx.host.todo(), input.todos)?,
            TodoAction::Update => updated(ctx.host.todo(), input.todos, input.todo_id)?,
        };
        ctx.host
            .record(Event::Todo { items: todos.clone() })
            .await
            .map_err(|error| ToolError::execution(format!("the todo list could not be kept: {error}")))?;
        Ok(TodoOutput { todos })
    }
}

/// The list with the new items, checklists taken apart, and ids for those that have none.
fn items(mut items: Vec<TodoItem>, entries: Vec<TodoEntry>) -> Result<Vec<TodoItem>, ToolError> {
    for entry in entries {
        let (status, priority) = (entry.status.unwrap_or_default(), entry.priority.unwrap_or_default());
        let content = entry.content.unwrap_or_default();
        let lines: Vec<&str> = content.lines().filter(|line| !line.trim().is_empty()).collect();
        let is_checklist = lines.iter().any(|line| checklist_line(line).is_some());
        if !is_checklist {
            push(&mut items, entry.id, content.trim(), status, priority);
            continue;
        }
        for line in lines {
            match (checklist_line(line), items.last_mut()) {
                (Some((status, content)), _) => push(&mut items, None, content, status, priority),
                // A line without a mark goes on with the item above it.
                (None, Some(last)) => {
                    last.content.push(' ');
                    last.content.push_str(line.trim());
                }
                (None, None) => push(&mut items, None, line.trim(), status, priority),
            }
        }
    }
    match items.iter().find(|item| item.content.is_empty()) {
        Some(item) => Err(ToolError::validation(format!("the todo `{}` has no content", item.id))),
        None => Ok(items),
    }
}

/// The list with what the entries say of its items.
fn updated(
    mut items: Vec<TodoItem>,
    entries: Vec<TodoEntry>,
    todo_id: Option<String>,
) -> Result<Vec<TodoItem>, ToolError> {
    let one = entries.len() == 1;
    for entry in entries {
        let id = entry.id.or_else(|| todo_id.clone().filter(|_| one));
        let id = id.ok_or_else(|| {
            ToolError::parameter("`update` needs the `id` of each item, or `todo_id` where there is one")
        })?;
        let known: Vec<String> = items.iter().map(|item| format!("`{}`", item.id)).collect();
        let item = items.iter_mut().find(|item| item.id == id).ok_or_else(|| {
            let known = if known.is_empty() { "the list is empty".into() } else { known.join(", ") };
            ToolError::validation(format!("there is no todo `{id}`; there are {known}"))
        })?;
        match entry.content.map(|content| content.trim().to_owned()) {
            Some(content) if content.is_empty() => {
                return Err(ToolError::validation(format!("the todo `{id}` would have no content")));
            }
            Some(content) => item.content = content,
            None => {}
        }
        item.status = entry.status.unwrap_or(item.status);
        item.priority = entry.priority.unwrap_or(item.priority);
    }
    Ok(items)
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
pub(crate) fn checklist_line(line: &str) -> Option<(TodoStatus, &str)> {
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
        TodoEntry { content: Some(content.into()), ..TodoEntry::default() }
    }

    #[test]
    fn items_are_added_and_updated_by_their_ids() {
        let list = items(Vec::new(), vec![entry("one"), entry("two")]).expect("items");
        let list = items(list, vec![entry("three")]).expect("items");
        let done = TodoEntry { status: Some(TodoStatus::Completed), ..TodoEntry::default() };
        let high = TodoEntry {
            id: Some("3".into()),
            content: Some("the third".into()),
            priority: Some(TodoPriority::High),
            status: None,
        };
        let list = updated(list, vec![done.clone()], Some("1".into())).expect("an update");
        let list = updated(list, vec![high], None).expect("an update");
        let lines: Vec<String> = list.iter().map(line).collect();
        assert_eq!(lines, ["[x] 1. one", "[ ] 2. two", "[ ] 3. the third (high)"]);
        assert!(updated(list.clone(), vec![done.clone()], None).is_err());
        let unknown = updated(list, vec![done], Some("9".into())).expect_err("no such item");
        assert_eq!(unknown.message, "there is no todo `9`; there are `1`, `2`, `3`");
    }

    #[test]
    fn lists_and_checklists_become_items() {
        let entries = vec![entry("plain"), entry("- [x] done\n  - [-] doing\n    and on\n[ ] to do\n")];
        let lines: Vec<String> = items(Vec::new(), entries).expect("items").iter().map(line).collect();
        expect![[r"
            [ ] 1. plain
            [x] 2. done
            [-] 3. doing and on
            [ ] 4. to do"]]
        .assert_eq(&lines.join("\n"));
        assert!(items(Vec::new(), vec![entry("  ")]).is_err());
    }
}
