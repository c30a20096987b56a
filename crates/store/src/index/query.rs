//! Asking the index.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use stepwell_protocol::{MessageId, TaskId, TaskState, Timestamp};

use super::words::{match_expression, snippet};
use crate::{Error, Result};

/// One task of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    pub id: TaskId,
    pub number: u32,
    pub title: String,
    pub workspace: String,
    pub mode: String,
    pub model: String,
    pub state: TaskState,
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

const COLUMNS: &str = "id, number, title, workspace, mode, model, state, input_tokens, output_tokens, \
    cache_read_tokens, cache_write_tokens, cost_usd, size, favourite, created_at, updated_at, parent, root, forked_from";

/// Which tasks, in which order. [`TaskQuery::all`] is the usual beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQuery {
    pub workspace: Option<String>,
    pub favourite: Option<bool>,
    pub state: Option<TaskState>,
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
    pub title: String,
    /// The message; absent when the title was found.
    pub message: Option<MessageId>,
    pub snippet: String,
}

pub(crate) fn list(connection: &Connection, query: &TaskQuery) -> Result<Vec<TaskRow>> {
    let mut sql = format!("SELECT {COLUMNS} FROM tasks WHERE summary IS NOT NULL");
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
    if let Some(text) = &query.text {
        let Some(expression) = match_expression(text) else { return Ok(Vec::new()) };
        sql.push_str(
            " AND id IN (SELECT texts.task FROM words JOIN texts ON texts.rowid = words.rowid WHERE words MATCH ?)",
        );
        values.push(expression.into());
    }
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
    rows(connection, &sql, values)
}

pub(crate) fn search(connection: &Connection, text: &str, limit: u32) -> Result<Vec<SearchHit>> {
    let Some(expression) = match_expression(text) else { return Ok(Vec::new()) };
    let mut statement = connection.prepare(
        "SELECT texts.task, tasks.title, texts.message, texts.body
         FROM words JOIN texts ON texts.rowid = words.rowid JOIN tasks ON tasks.id = texts.task
         WHERE words MATCH ?1 ORDER BY words.rank, texts.rowid DESC LIMIT ?2",
    )?;
    let hits = statement.query_map(rusqlite::params![expression, limit], |row| {
        let body: String = row.get(3)?;
        Ok(SearchHit {
            task: row.get::<_, String>(0)?.into(),
            title: row.get(1)?,
            message: row.get::<_, Option<String>>(2)?.map(MessageId::from),
            snippet: snippet(&body, text),
        })
    })?;
    Ok(hits.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn latest(connection: &Connection, workspace: &str) -> Result<Option<TaskRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM tasks WHERE summary IS NOT NULL AND workspace = ? AND parent IS NULL
         ORDER BY updated_at DESC, id DESC LIMIT 1"
    );
    Ok(rows(connection, &sql, vec![workspace.to_owned().into()])?.pop())
}

/// The task a person means: its id, its number (with or without `#`), or the beginning of its id.
pub(crate) fn resolve(connection: &Connection, reference: &str) -> Result<TaskRow> {
    let reference = reference.trim();
    let select = |condition: &str, value: Value| {
        let sql = format!(
            "SELECT {COLUMNS} FROM tasks WHERE summary IS NOT NULL AND {condition} ORDER BY updated_at DESC LIMIT 9"
        );
        rows(connection, &sql, vec![value])
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
        _ => Err(Error::AmbiguousTask {
            reference: reference.to_owned(),
            candidates: found
                .iter()
                .map(|row| format!("#{} {} ({})", row.number, row.id, row.title))
                .collect(),
        }),
    }
}

fn rows(connection: &Connection, sql: &str, values: Vec<Value>) -> Result<Vec<TaskRow>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map(params_from_iter(values), read_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
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
