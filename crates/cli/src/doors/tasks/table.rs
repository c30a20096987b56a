//! Tasks as a table that fits the terminal.

use serde_json::{Value, json};
use stepwell_protocol::Timestamp;
use stepwell_store::{SearchHit, TaskRow};

use crate::columns::{self, cut_end, cut_start, one_line, width};
use crate::language::said;
use crate::terminal::{Style, out_line};

/// What a title is left at least, however long the folders are.
const SHORTEST_TITLE: usize = 16;
/// The same of a folder.
const SHORTEST_FOLDER: usize = 8;
/// The column of numbers, with the space behind it.
const NUMBER_WIDTH: usize = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folders {
    /// All tasks are of one folder, which need not be named.
    One,
    Named,
}

pub fn print(rows: &[TaskRow], folders: Folders) {
    let style = Style::for_stdout();
    for (index, line) in lines(rows, folders, columns::of_stdout()).iter().enumerate() {
        out_line(&if index == 0 { style.dim(line) } else { line.clone() });
    }
}

/// A fact about a task that has a column where there is room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    Updated,
    State,
    Tokens,
    Cost,
}

impl Fact {
    const ALL: [Self; 4] = [Self::Updated, Self::State, Self::Tokens, Self::Cost];
    /// What is left out first on a narrow terminal.
    const LEAST_FIRST: [Self; 4] = [Self::Cost, Self::Tokens, Self::Updated, Self::State];

    fn head(self) -> String {
        match self {
            Self::Updated => format!("{}  ", columns::padded(&said("updated"), 16)),
            Self::State => format!("{}  ", columns::padded(&said("state"), 11)),
            Self::Tokens => format!("{}  ", columns::padded_left(&said("tokens"), 8)),
            Self::Cost => format!("{}  ", columns::padded_left(&said("cost"), 9)),
        }
    }

    fn of(self, row: &TaskRow) -> String {
        match self {
            Self::Updated => format!("{:<16}  ", when(row.updated_at)),
            Self::State => format!("{}  ", columns::padded(&said(row.state_name()), 11)),
            Self::Tokens => {
                let cached = row.cache_read_tokens + row.cache_write_tokens;
                format!("{:>8}  ", short_count(row.input_tokens + row.output_tokens + cached))
            }
            Self::Cost => {
                let cost = row.cost_usd.map_or("-".to_owned(), |cost| format!("${cost:.4}"));
                format!("{cost:>9}  ")
            }
        }
    }

    /// Those that leave room for a title, and for a folder where one is named.
    fn fitting(columns: Option<usize>, folders: Folders) -> Vec<Self> {
        let mut facts = Self::ALL.to_vec();
        let folder = if folders == Folders::Named { SHORTEST_FOLDER + 2 } else { 0 };
        for least in Self::LEAST_FIRST {
            let taken: usize = facts.iter().map(|fact| width(&fact.head())).sum();
            if columns.is_none_or(|columns| NUMBER_WIDTH + taken + folder + SHORTEST_TITLE <= columns) {
                break;
            }
            facts.retain(|fact| *fact != least);
        }
        facts
    }
}

fn lines(rows: &[TaskRow], folders: Folders, columns: Option<usize>) -> Vec<String> {
    let facts = Fact::fitting(columns, folders);
    let head: String = std::iter::once(format!("{}  ", columns::padded_left(&said("task"), 5)))
        .chain(facts.iter().map(|fact| fact.head()))
        .collect();
    let left = columns.map(|columns| columns.saturating_sub(width(&head)));
    let paths: Vec<String> = match folders {
        Folders::One => Vec::new(),
        Folders::Named => {
            let most =
                left.map_or(usize::MAX, |left| left.saturating_sub(SHORTEST_TITLE + 2).max(SHORTEST_FOLDER));
            rows.iter().map(|row| cut_start(&one_line(&row.workspace), most)).collect()
        }
    };
    let longest = paths.iter().map(|path| width(path)).max().unwrap_or(0).max(width(&said("folder")));
    let line = |mut line: String, path: Option<&str>, title: &str| {
        if let Some(path) = path {
            line.push_str(path);
            line.push_str(&" ".repeat(longest - width(path) + 2));
        }
        line.push_str(title);
        columns.map_or_else(|| line.clone(), |columns| cut_end(&line, columns))
    };
    let folder = said("folder");
    let named = (folders == Folders::Named).then_some(folder.as_str());
    let mut lines = vec![line(head, named, &said("title"))];
    for (index, row) in rows.iter().enumerate() {
        let star = if row.favourite { "★ " } else { "" };
        let facts: String = std::iter::once(format!("{:>5}  ", row.number))
            .chain(facts.iter().map(|fact| fact.of(row)))
            .collect();
        let title = format!("{star}{}", one_line(&row.title));
        lines.push(line(facts, paths.get(index).map(String::as_str), &title));
    }
    lines
}

/// A heading for each task, and under it the places where the words stand.
pub fn print_hits(hits: &[SearchHit]) {
    let style = Style::for_stdout();
    let columns = columns::of_stdout();
    let fit = |text: &str, indent: usize| match columns {
        Some(columns) => cut_end(&one_line(text), columns.saturating_sub(indent)),
        None => one_line(text),
    };
    for hits in hits.chunk_by(|one, other| one.task == other.task) {
        let Some(first) = hits.first() else { continue };
        let number = format!("{:>5}", first.number);
        out_line(&format!("{} {}", style.cyan(&number), style.bold(&fit(&first.title, 6))));
        // A title that was found stands in the heading already.
        for hit in hits.iter().filter(|hit| hit.message.is_some()) {
            out_line(&format!("       {}", fit(&hit.snippet, 7)));
        }
    }
}

pub fn rows_as_json(rows: &[TaskRow]) -> String {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "task": row.id, "number": row.number, "title": row.title, "workspace": row.workspace,
                "mode": row.mode, "model": row.model, "state": row.state_name(), "favourite": row.favourite,
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
        .map(|hit| {
            json!({
                "task": hit.task, "number": hit.number, "title": hit.title, "message": hit.message,
                "snippet": hit.snippet,
            })
        })
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use stepwell_protocol::{TaskState, Timestamp};
    use stepwell_store::TaskRow;

    use super::{Folders, lines, width};

    fn row(number: u32, title: &str, workspace: &str) -> TaskRow {
        TaskRow {
            id: "x".into(),
            number,
            title: title.into(),
            workspace: workspace.into(),
            mode: "code".into(),
            model: "m".into(),
            state: TaskState::Running,
            interrupted: number == 2,
            input_tokens: 1_200,
            output_tokens: 34,
            cache_read_tokens: 0,
            cache_write_tokens: 0,
            cost_usd: None,
            size: 0,
            favourite: number == 1,
            created_at: Timestamp(0),
            // No time has this form, so no time zone changes what is shown.
            updated_at: Timestamp(i64::MAX),
            parent: None,
            root: "x".into(),
            forked_from: None,
        }
    }

    fn check(folders: Folders, columns: Option<usize>, expected: Expect) {
        let rows = [
            row(1, "two\nlines\tand \u{1b}[2J", "/home/me/a"),
            row(2, "修复登录页面的错误和更多的问题", "/w"),
        ];
        let lines = lines(&rows, folders, columns);
        for line in &lines {
            assert!(columns.is_none_or(|columns| width(line) <= columns), "{line}");
        }
        // The bar keeps the first column from being taken for the indentation of the expectation.
        expected.assert_eq(&format!("|{}", lines.join("\n|")));
    }

    #[test]
    fn a_row_is_a_line_that_fits() {
        check(
            Folders::One,
            None,
            expect![[r#"
                | task  updated           state          tokens       cost  title
                |    1  -                 running          1.2k          -  ★ two lines and �[2J
                |    2  -                 interrupted      1.2k          -  修复登录页面的错误和更多的问题"#]],
        );
        check(
            Folders::One,
            Some(75),
            expect![[r#"
                | task  updated           state          tokens       cost  title
                |    1  -                 running          1.2k          -  ★ two lines and…
                |    2  -                 interrupted      1.2k          -  修复登录页面的…"#]],
        );
        check(
            Folders::Named,
            None,
            expect![[r#"
                | task  updated           state          tokens       cost  folder      title
                |    1  -                 running          1.2k          -  /home/me/a  ★ two lines and �[2J
                |    2  -                 interrupted      1.2k          -  /w          修复登录页面的错误和更多的问题"#]],
        );
        check(
            Folders::Named,
            Some(96),
            expect![[r#"
                | task  updated           state          tokens       cost  folder      title
                |    1  -                 running          1.2k          -  /home/me/a  ★ two lines and �[2J
                |    2  -                 interrupted      1.2k          -  /w          修复登录页面的错误和更多…"#]],
        );
        check(
            Folders::Named,
            Some(30),
            expect![[r#"
                | task  folder    title
                |    1  …me/me/a  ★ two lines …
                |    2  /w        修复登录页面…"#]],
        );
    }
}
