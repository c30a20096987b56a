//! Tasks as a table that fits the terminal.

use serde_json::{Value, json};
use stepwell_protocol::Timestamp;
use stepwell_store::{Home, SearchHit, TaskRow};

use crate::terminal::{Style, harmless, out_line};

pub fn print(rows: &[TaskRow], with_workspace: bool) {
    let style = Style::for_stdout();
    let header = format!(
        "{:>5}  {:<16}  {:<9}  {:>8}  {:>9}  {}",
        "task", "updated", "state", "tokens", "cost", "title"
    );
    out_line(&style.dim(&header));
    for row in rows {
        let tokens = row.input_tokens + row.output_tokens + row.cache_read_tokens + row.cache_write_tokens;
        let cost = row.cost_usd.map_or("-".to_owned(), |cost| format!("${cost:.4}"));
        let star = if row.favourite { "★ " } else { "" };
        let mut line = format!(
            "{:>5}  {:<16}  {:<9}  {:>8}  {cost:>9}  {star}{}",
            row.number,
            when(row.updated_at),
            row.state.name(),
            short_count(tokens),
            harmless(&row.title),
        );
        if with_workspace {
            line.push_str(&style.dim(&format!("  {}", row.workspace)));
        }
        out_line(&line);
    }
}

pub fn print_hits(home: &Home, hits: &[SearchHit]) {
    let style = Style::for_stdout();
    for hit in hits {
        let number = stepwell_store::read_info(home, &hit.task).map_or(0, |info| info.number);
        out_line(&format!("{} {}", style.cyan(&format!("{number:>5}")), style.bold(&harmless(&hit.title))));
        let snippet = harmless(&hit.snippet).replace('\n', " ");
        out_line(&format!("       {snippet}"));
    }
}

pub fn rows_as_json(rows: &[TaskRow]) -> String {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "task": row.id, "number": row.number, "title": row.title, "workspace": row.workspace,
                "mode": row.mode, "model": row.model, "state": row.state, "favourite": row.favourite,
                "input_tokens": row.input_tokens, "output_tokens": row.output_tokens,
                "cache_read_tokens": row.cache_read_tokens, "cache_write_tokens": row.cache_write_tokens,
                "cost_usd": row.cost_usd, "size": row.size, "created_at": row.created_at,
                "updated_at": row.updated_at, "parent": row.parent, "root": row.root,
                "forked_from": row.forked_from,
            })
        })
        .collect();
    format!("{:#}", Value::Array(rows))
}

pub fn hits_as_json(hits: &[SearchHit]) -> String {
    let hits: Vec<Value> = hits
        .iter()
        .map(|hit| json!({"task": hit.task, "title": hit.title, "message": hit.message, "snippet": hit.snippet}))
        .collect();
    format!("{:#}", Value::Array(hits))
}

/// Local time, to the minute.
pub fn when(ts: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(ts.0).map_or_else(
        |_| "-".to_owned(),
        |time| time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// 950, 12.3k, 4.5M.
fn short_count(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}
