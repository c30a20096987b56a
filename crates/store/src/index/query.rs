//! Asking the index.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use stepwell_protocol::{MessageId, TaskId, TaskState, Timestamp};

use super::words::{match_expression, one_line, snippet};
use crate::interrupted::INTERRUPTED;
use crate::{Error, Home, Result, is_interrupted};

/// How many tasks are named when a reference could be any of them.
const MOST_CANDIDATES: usize = 10;

/// One task of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    pub id: TaskId,
    pub number: u32,
    pub title: String,
    pub workspace: String,
    pub mode: String,
    pub model: String,
    /// What the log says; [`TaskRow::state_name`] is what to show.
    pub state: TaskState,
    /// The log says that the task is at work, but no process has it open.
    pub interrupted: bool,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    pub cost_usd: Option<f64>,
    /// Bytes on the disk, with blobs and artifacts.
    pub size: u64,
    pub favourite: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub parent: Option<TaskId>,
    pub root: TaskId,
    pub forked_from: Option<TaskId>,
}

impl TaskRow {
    /// The state as a person sees it: a task whose process ended in the middle of its work is `interrupted`.
    pub fn state_name(&self) -> &'static str {
        if self.interrupted { INTERRUPTED } else { self.state.name() }
    }
}

const COLUMNS: &str = "id, number, title, workspace, mode, model, state, input_tokens, output_tokens, \
    cache_read_tokens, cache_write_tokens, cost_usd, size, favourite, created_at, updated_at, parent, root, forked_from";

/// Which tasks, in which order. [`TaskQuery::all`] is the usual beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQuery {
    pub workspace: Option<String>,
    pub favourite: Option<bool>,
    pub state: Option<TaskState>,
    /// The topmost task of a tree, to find the whole of it.
    pub root: Option<TaskId>,
    /// Words that a title, a message or an answer must hold.
    pub text: Option<String>,
    pub sort: TaskSort,
    pub order: SortOrder,
    pub limit: Option<u32>,
    pub offset: u32,
}

impl TaskQuery {
    /// Every task, the one used last first.
    pub fn all() -> Self {
        Self {
            workspace: None,
            favourite: None,
            state: None,
            root: None,
            text: None,
            sort: TaskSort::Updated,
            order: SortOrder::Descending,
            limit: None,
            offset: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskSort {
    Updated,
    Created,
    Number,
    Title,
    Cost,
    Tokens,
    Size,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortOrder {
    Ascending,
    Descending,
}

/// A place where the words of a search stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    pub task: TaskId,
    pub number: u32,
    pub title: String,
    /// The message; absent when the words stand in nothing but the title.
    pub message: Option<MessageId>,
    pub snippet: String,
}

pub(crate) fn list(connection: &Connection, home: &Home, query: &TaskQuery) -> Result<Vec<TaskRow>> {
    let Some((condition, mut values)) = conditions(query) else { return Ok(Vec::new()) };
    let mut sql = format!("SELECT {COLUMNS} FROM tasks WHERE {condition}");
    let key = match query.sort {
        TaskSort::Updated => "updated_at",
        TaskSort::Created => "created_at",
        TaskSort::Number => "number",
        TaskSort::Title => "title COLLATE NOCASE",
        TaskSort::Cost => "coalesce(cost_usd, 0)",
        TaskSort::Tokens => "input_tokens + cache_read_tokens + cache_write_tokens + output_tokens",
        TaskSort::Size => "size",
    };
    let direction = match query.order {
        SortOrder::Ascending => "ASC",
        SortOrder::Descending => "DESC",
    };
    for piece in [" ORDER BY ", key, " ", direction, ", id ", direction, " LIMIT ? OFFSET ?"] {
        sql.push_str(piece);
    }
    values.push(query.limit.map_or(-1, i64::from).into());
    values.push(i64::from(query.offset).into());
    rows(connection, home, &sql, values)
}

/// How many tasks a query finds, whatever its limit.
pub(crate) fn count(connection: &Connection, query: &TaskQuery) -> Result<u64> {
    let Some((condition, values)) = conditions(query) else { return Ok(0) };
    let sql = format!("SELECT count(*) FROM tasks WHERE {condition}");
    let count: i64 = connection.query_row(&sql, params_from_iter(values), |row| row.get(0))?;
    Ok(count as u64)
}

/// The condition of a query with its values; `None` when it cannot find anything.
fn conditions(query: &TaskQuery) -> Option<(String, Vec<Value>)> {
    let mut sql = "summary IS NOT NULL".to_owned();
    let mut values: Vec<Value> = Vec::new();
    if let Some(workspace) = &query.workspace {
        sql.push_str(" AND workspace = ?");
        values.push(workspace.clone().into());
    }
    if let Some(favourite) = query.favourite {
        sql.push_str(" AND favourite = ?");
        values.push(favourite.into());
    }
    if let Some(state) = query.state {
        sql.push_str(" AND state = ?");
        values.push(state.name().to_owned().into());
    }
    if let Some(root) = &query.root {
        sql.push_str(" AND root = ?");
        values.push(root.to_string().into());
    }
    if let Some(text) = &query.text {
        sql.push_str(
            " AND id IN (SELECT texts.task FROM words JOIN texts ON texts.rowid = words.rowid WHERE words MATCH ?)",
        );
        values.push(match_expression(text)?.into());
    }
    Some((sql, values))
}

pub(crate) fn search(connection: &Connection, text: &str, limit: u32) -> Result<Vec<SearchHit>> {
    let Some(expression) = match_expression(text) else { return Ok(Vec::new()) };
    // A title is shown with every hit of its task and mostly repeats the first message, so it counts only where
    // nothing else was found.
    let mut statement = connection.prepare(
        "WITH found AS (
             SELECT texts.rowid AS place, texts.task AS task, texts.kind AS kind, words.rank AS quality
             FROM words JOIN texts ON texts.rowid = words.rowid WHERE words MATCH ?1
         ), counted AS (
             SELECT place, quality, kind, sum(kind <> 'title') OVER (PARTITION BY task) AS messages FROM found
         )
         SELECT texts.task, tasks.number, tasks.title, texts.message, texts.body
         FROM counted JOIN texts ON texts.rowid = counted.place JOIN tasks ON tasks.id = texts.task
         WHERE counted.kind <> 'title' OR counted.messages = 0
         ORDER BY counted.quality, texts.rowid DESC LIMIT ?2",
    )?;
    let hits = statement.query_map(rusqlite::params![expression, limit], |row| {
        let body: String = row.get(4)?;
        Ok(SearchHit {
            task: row.get::<_, String>(0)?.into(),
            number: row.get(1)?,
            title: row.get(2)?,
            message: row.get::<_, Option<String>>(3)?.map(MessageId::from),
            snippet: snippet(&body, text),
        })
    })?;
    Ok(grouped(hits.collect::<rusqlite::Result<_>>()?))
}

/// The hits of one task one after the other, at the place of the best of them.
fn grouped(mut hits: Vec<SearchHit>) -> Vec<SearchHit> {
    let mut order: HashMap<TaskId, usize> = HashMap::new();
    for hit in &hits {
        let next = order.len();
        order.entry(hit.task.clone()).or_insert(next);
    }
    hits.sort_by_key(|hit| order.get(&hit.task).copied());
    hits
}

/// A folder that tasks worked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceRow {
    pub path: String,
    pub tasks: u64,
    pub used_at: Timestamp,
}

/// The folders of all tasks, the one used last first.
pub(crate) fn workspaces(connection: &Connection, limit: u32) -> Result<Vec<WorkspaceRow>> {
    let mut statement = connection.prepare(
        "SELECT workspace, count(*), max(updated_at) FROM tasks WHERE summary IS NOT NULL AND parent IS NULL
         GROUP BY workspace ORDER BY 3 DESC LIMIT ?",
    )?;
    let rows = statement.query_map([limit], |row| {
        let (tasks, used_at): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(WorkspaceRow { path: row.get(0)?, tasks: tasks as u64, used_at: Timestamp(used_at) })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn latest(connection: &Connection, home: &Home, workspace: &str) -> Result<Option<TaskRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM tasks WHERE summary IS NOT NULL AND workspace = ? AND parent IS NULL
         ORDER BY updated_at DESC, id DESC LIMIT 1"
    );
    Ok(rows(connection, home, &sql, vec![workspace.to_owned().into()])?.pop())
}

/// The task a person means: its id, its number (with or without `#`), or the beginning of its id.
pub(crate) fn resolve(connection: &Connection, home: &Home, reference: &str) -> Result<TaskRow> {
    let reference = reference.trim();
    let select = |condition: &str, value: Value| {
        let sql = format!(
            "SELECT {COLUMNS} FROM tasks WHERE summary IS NOT NULL AND {condition} ORDER BY updated_at DESC LIMIT {}",
            MOST_CANDIDATES + 1
        );
        rows(connection, home, &sql, vec![value])
    };
    let mut found = select("id = ?", reference.to_owned().into())?;
    if found.is_empty()
        && let Ok(number) = reference.strip_prefix('#').unwrap_or(reference).parse::<u32>()
    {
        found = select("number = ?", i64::from(number).into())?;
    }
    if found.is_empty() && !reference.is_empty() {
        found = select("substr(id, 1, length(?1)) = ?1", reference.to_owned().into())?;
    }
    match found.len() {
        0 => Err(Error::UnknownTask { reference: reference.to_owned() }),
        1 => Ok(found.remove(0)),
        _ => Err(Error::AmbiguousTask { reference: reference.to_owned(), candidates: candidates(&found) }),
    }
}

/// A line for each task, as far as a person wants to read them.
fn candidates(found: &[TaskRow]) -> Vec<String> {
    let line = |row: &TaskRow| format!("#{} {} {}", row.number, row.id, one_line(&row.title));
    let mut lines: Vec<String> = found.iter().take(MOST_CANDIDATES).map(line).collect();
    if found.len() > MOST_CANDIDATES {
        lines.push("… and more".to_owned());
    }
    lines
}

fn rows(connection: &Connection, home: &Home, sql: &str, values: Vec<Value>) -> Result<Vec<TaskRow>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map(params_from_iter(values), read_row)?;
    let mut rows: Vec<TaskRow> = rows.collect::<rusqlite::Result<_>>()?;
    for row in &mut rows {
        row.interrupted = is_interrupted(home, &row.id, row.state);
    }
    Ok(rows)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<TaskRow> {
    let count = |index: usize| row.get::<_, i64>(index).map(|value| value as u64);
    Ok(TaskRow {
        id: row.get::<_, String>(0)?.into(),
        number: row.get(1)?,
        title: row.get(2)?,
        workspace: row.get(3)?,
        mode: row.get(4)?,
        model: row.get(5)?,
        state: state(&row.get::<_, String>(6)?),
        interrupted: false,
        input_tokens: count(7)?,
        output_tokens: count(8)?,
        cache_read_tokens: count(9)?,
        cache_write_tokens: count(10)?,
        cost_usd: row.get(11)?,
        size: count(12)?,
        favourite: row.get(13)?,
        created_at: Timestamp(row.get(14)?),
        updated_at: Timestamp(row.get(15)?),
        parent: row.get::<_, Option<String>>(16)?.map(TaskId::from),
        root: row.get::<_, String>(17)?.into(),
        forked_from: row.get::<_, Option<String>>(18)?.map(TaskId::from),
    })
}

fn state(name: &str) -> TaskState {
    use TaskState::{Aborted, Completed, Created, Failed, Paused, Running, Waiting};
    let all = [Created, Running, Waiting, Paused, Completed, Aborted, Failed];
    all.into_iter().find(|state| state.name() == name).unwrap_or(Created)
}
