//! The tables of the index.

use rusqlite::Connection;

/// Raised with every change to the tables; an older file is thrown away and built anew.
pub(crate) const SCHEMA: i64 = 1;

const TABLES: &str = "
CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL DEFAULT 0,
    title TEXT NOT NULL DEFAULT '',
    workspace TEXT NOT NULL DEFAULT '',
    mode TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'created',
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL,
    size INTEGER NOT NULL DEFAULT 0,
    favourite INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL DEFAULT 0,
    updated_at INTEGER NOT NULL DEFAULT 0,
    parent TEXT,
    root TEXT NOT NULL DEFAULT '',
    forked_from TEXT,
    -- Where the log stood when it was last read, and the fold up to there; no fold for a log that cannot be read.
    log_bytes INTEGER NOT NULL,
    log_modified INTEGER NOT NULL,
    log_inode INTEGER NOT NULL,
    read_bytes INTEGER NOT NULL DEFAULT 0,
    read_lines INTEGER NOT NULL DEFAULT 0,
    read_format INTEGER,
    summary TEXT
);
CREATE INDEX tasks_by_workspace ON tasks (workspace, updated_at);
CREATE INDEX tasks_by_update ON tasks (updated_at);
CREATE INDEX tasks_by_number ON tasks (number);
CREATE TABLE texts (
    rowid INTEGER PRIMARY KEY,
    task TEXT NOT NULL,
    message TEXT,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX texts_by_task ON texts (task);
CREATE VIRTUAL TABLE words USING fts5 (
    body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
";

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Current,
    Empty,
    Older,
    Newer,
}

pub(crate) fn inspect(connection: &Connection) -> rusqlite::Result<Found> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match version {
        _ if tables == 0 => Found::Empty,
        SCHEMA => Found::Current,
        version if version > SCHEMA => Found::Newer,
        _ => Found::Older,
    })
}

pub(crate) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    if inspect(&transaction)? == Found::Empty {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", SCHEMA)?;
    }
    transaction.commit()
}
