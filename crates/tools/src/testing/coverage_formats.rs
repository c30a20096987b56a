//! Readers of coverage reports: which lines of which files ran, and how often. The format is detected from the content.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Lines by number, with how often each ran.
pub type LineHits = BTreeMap<u32, u64>;
/// Files as the report names them.
pub type FileHits = BTreeMap<String, LineHits>;

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoverageFormat {
    CoveragePy,
    Cobertura,
    Lcov,
    LlvmCov,
    Gcov,
    GoCover,
    Istanbul,
}

impl CoverageFormat {
    pub fn name(self) -> &'static str {
        match self {
            Self::CoveragePy => "coverage.py",
            Self::Cobertura => "Cobertura",
            Self::Lcov => "LCOV",
            Self::LlvmCov => "llvm-cov",
            Self::Gcov => "gcov",
            Self::GoCover => "go cover",
            Self::Istanbul => "istanbul",
        }
    }
}

/// Largest line number that is believed.
const LAST_LINE: u64 = 10_000_000;
/// Lines of one region or statement that are counted.
const LONGEST_REGION: u32 = 100_000;

/// Reads a report; `None` for a text that is none.
pub fn read(text: &str) -> Option<(CoverageFormat, FileHits)> {
    let start = text.trim_start();
    if start.starts_with("mode: ") {
        return Some((CoverageFormat::GoCover, go_cover(text)));
    }
    if start.starts_with('<') {
        return start.contains("<coverage").then(|| (CoverageFormat::Cobertura, cobertura(text)));
    }
    if start.starts_with('{') {
        let value: Value = serde_json::from_str(text).ok()?;
        return json(&value);
    }
    let is_lcov = text.lines().any(|line| line.starts_with("SF:")) && text.contains("end_of_record");
    is_lcov.then(|| (CoverageFormat::Lcov, lcov(text)))
}

fn json(value: &Value) -> Option<(CoverageFormat, FileHits)> {
    if value["type"].as_str().is_some_and(|kind| kind.starts_with("llvm.coverage")) {
        return Some((CoverageFormat::LlvmCov, llvm(value)));
    }
    if value.get("format_version").is_some() && value["files"].is_array() {
        return Some((CoverageFormat::Gcov, gcov(value)));
    }
    if value.get("meta").is_some() && value["files"].is_object() {
        return Some((CoverageFormat::CoveragePy, coverage_py(value)));
    }
    let is_istanbul = value.as_object()?.values().next()?.get("statementMap").is_some();
    is_istanbul.then(|| (CoverageFormat::Istanbul, istanbul(value)))
}

fn line_number(value: &Value) -> Option<u32> {
    value.as_u64().filter(|line| (1..=LAST_LINE).contains(line)).map(|line| line as u32)
}

/// A line counts with the most that any part of it ran.
fn add(hits: &mut LineHits, line: u32, count: u64) {
    let known = hits.entry(line).or_default();
    *known = (*known).max(count);
}

fn coverage_py(value: &Value) -> FileHits {
    let mut files = FileHits::new();
    for (name, file) in value["files"].as_object().into_iter().flatten() {
        let hits = files.entry(name.clone()).or_default();
        for (list, count) in [("executed_lines", 1), ("missing_lines", 0)] {
            for line in file[list].as_array().into_iter().flatten().filter_map(line_number) {
                add(hits, line, count);
            }
        }
    }
    files
}

fn gcov(value: &Value) -> FileHits {
    let mut files = FileHits::new();
    for file in value["files"].as_array().into_iter().flatten() {
        let Some(name) = file["file"].as_str() else { continue };
        let hits = files.entry(name.to_owned()).or_default();
        for line in file["lines"].as_array().into_iter().flatten() {
            if let Some(number) = line_number(&line["line_number"]) {
                add(hits, number, line["count"].as_u64().unwrap_or_default());
            }
        }
    }
    files
}

/// Segments say from where on a count holds. A line's count is that of the region it lies in, or the most of those that
/// begin on it.
fn llvm(value: &Value) -> FileHits {
    let mut files = FileHits::new();
    let exports = value["data"].as_array().into_iter().flatten();
    for file in exports.flat_map(|export| export["files"].as_array().into_iter().flatten()) {
        let Some(name) = file["filename"].as_str() else { continue };
        let hits = files.entry(name.to_owned()).or_default();
        let read = |segment: &Value| {
            let has_count = segment[3].as_bool().unwrap_or_default();
            let is_gap = segment[5].as_bool().unwrap_or_default();
            let is_entry = segment[4].as_bool().unwrap_or_default();
            Some((
                line_number(&segment[0])?,
                segment[2].as_u64().unwrap_or_default(),
                has_count && !is_gap,
                is_entry,
            ))
        };
        let segments: Vec<(u32, u64, bool, bool)> =
            file["segments"].as_array().into_iter().flatten().filter_map(read).collect();
        for pair in segments.windows(2) {
            let [(line, count, counts, is_entry), (next, ..)] = pair else { continue };
            if !counts {
                continue;
            }
            // A region that only goes on does not make the line it begins on uncovered.
            let first = if *is_entry || *count > 0 { *line } else { line + 1 };
            let last = (*next).min(line.saturating_add(LONGEST_REGION));
            for number in first..last {
                add(hits, number, *count);
            }
            if *is_entry {
                add(hits, *line, *count);
            }
        }
    }
    files
}

fn istanbul(value: &Value) -> FileHits {
    let mut files = FileHits::new();
    for (name, file) in value.as_object().into_iter().flatten() {
        let name = file["path"].as_str().unwrap_or(name);
        let hits = files.entry(name.to_owned()).or_default();
        for (id, statement) in file["statementMap"].as_object().into_iter().flatten() {
            let Some(line) = line_number(&statement["start"]["line"]) else { continue };
            add(hits, line, file["s"][id].as_u64().unwrap_or_default());
        }
    }
    files
}

fn lcov(text: &str) -> FileHits {
    let mut files = FileHits::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("SF:") {
            files.entry(name.to_owned()).or_default();
            current = Some(name.to_owned());
        } else if line == "end_of_record" {
            current = None;
        } else if let (Some(rest), Some(name)) = (line.strip_prefix("DA:"), &current) {
            let mut parts = rest.split(',');
            let number = parts.next().and_then(|part| part.parse::<u64>().ok());
            let count = parts.next().and_then(|part| part.parse::<f64>().ok()).unwrap_or_default();
            let number = number.filter(|line| (1..=LAST_LINE).contains(line));
            if let (Some(number), Some(hits)) = (number, files.get_mut(name)) {
                add(hits, number as u32, count.max(0.0) as u64);
            }
        }
    }
    files
}

/// `shop/cart.go:3.20,5.2 1 0`.
fn go_cover(text: &str) -> FileHits {
    let mut files = FileHits::new();
    for line in text.lines().skip(1) {
        let read = || {
            let (name, rest) = line.rsplit_once(':')?;
            let mut parts = rest.split_whitespace();
            let (start, end) = parts.next()?.split_once(',')?;
            let count: u64 = parts.nth(1)?.parse().ok()?;
            let number = |place: &str| place.split('.').next()?.parse::<u32>().ok();
            Some((name, number(start)?, number(end)?, count))
        };
        let Some((name, start, end, count)) = read() else { continue };
        let hits = files.entry(name.to_owned()).or_default();
        for number in start..=end.min(start.saturating_add(LONGEST_REGION)) {
            add(hits, number, count);
        }
    }
    files
}

fn cobertura(text: &str) -> FileHits {
    let mut reader = Reader::from_str(text);
    let mut files = FileHits::new();
    let mut sources: Vec<String> = Vec::new();
    let mut in_source = false;
    let mut current: Option<String> = None;
    let attribute = |tag: &BytesStart<'_>, name: &str| {
        let found = tag.try_get_attribute(name).ok()??;
        Some(found.value.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    };
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => match tag.local_name().as_ref() {
                "source" => in_source = true,
                "class" => {
                    current = attribute(&tag, "filename");
                    if let Some(name) = &current {
                        files.entry(name.clone()).or_default();
                    }
                }
                "line" => {
                    let number = attribute(&tag, "number").and_then(|line| line.parse::<u64>().ok());
                    let count =
                        attribute(&tag, "hits").and_then(|count| count.parse().ok()).unwrap_or_default();
                    let number = number.filter(|line| (1..=LAST_LINE).contains(line));
                    if let (Some(number), Some(hits)) =
                        (number, current.as_ref().and_then(|name| files.get_mut(name)))
                    {
                        add(hits, number as u32, count);
                    }
                }
                _ => {}
            },
            Ok(Event::Text(text)) if in_source => {
                sources.push(text.trim().to_owned());
                in_source = false;
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    // Names are relative to the one source that has them.
    match sources.iter().find(|source| !source.is_empty() && source.as_str() != ".") {
        Some(source) if sources.len() == 1 => files
            .into_iter()
            .map(|(name, hits)| {
                let whole = if name.starts_with('/') {
                    name
                } else {
                    format!("{}/{name}", source.trim_end_matches('/'))
                };
                (whole, hits)
            })
            .collect(),
        _ => files,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: &Expect) {
        let (format, files) = read(text).unwrap();
        let shown: Vec<String> = files.iter().map(|(name, hits)| format!("{name} {hits:?}")).collect();
        expected.assert_eq(&format!("{}: {}", format.name(), shown.join("; ")));
    }

    #[test]
    fn every_format_is_told_by_its_content() {
        check(
            r#"{"meta": {"version": "7"}, "files": {"a.py": {"executed_lines": [1, 2], "missing_lines": [4], "summary": {}}}}"#,
            &expect!["coverage.py: a.py {1: 1, 2: 1, 4: 0}"],
        );
        check(
            "TN:\nSF:src/a.js\nFN:1,f\nDA:1,5\nDA:2,0\nend_of_record\n",
            &expect!["LCOV: src/a.js {1: 5, 2: 0}"],
        );
        check(
            "mode: set\nshop/a.go:3.20,5.2 1 0\nshop/a.go:5.2,6.3 1 2\n",
            &expect!["go cover: shop/a.go {3: 0, 4: 0, 5: 2, 6: 2}"],
        );
        check(
            r#"<?xml version="1.0"?><coverage><sources><source>/w/src</source></sources><packages><package><classes><class filename="a.py"><methods/><lines><line number="1" hits="1"/><line number="2" hits="0"/></lines></class></classes></package></packages></coverage>"#,
            &expect!["Cobertura: /w/src/a.py {1: 1, 2: 0}"],
        );
        check(
            r#"{"/w/a.js": {"path": "/w/a.js", "statementMap": {"0": {"start": {"line": 2}}, "1": {"start": {"line": 3}}}, "s": {"0": 1, "1": 0}}}"#,
            &expect!["istanbul: /w/a.js {2: 1, 3: 0}"],
        );
        check(
            r#"{"format_version": "1", "files": [{"file": "a.c", "lines": [{"line_number": 3, "count": 0}, {"line_number": 4, "count": 7}]}]}"#,
            &expect!["gcov: a.c {3: 0, 4: 7}"],
        );
        check(
            r#"{"type": "llvm.coverage.json.export", "data": [{"files": [{"filename": "/w/a.rs", "segments": [[1,1,2,true,true,false],[3,5,0,true,true,false],[5,6,2,true,false,false],[6,2,0,false,false,false]]}]}]}"#,
            &expect!["llvm-cov: /w/a.rs {1: 2, 2: 2, 3: 0, 4: 0, 5: 2}"],
        );
        for none in ["", "hello", "{}", "[]", "<html/>", "{\"a\": 1}", "SF:a"] {
            assert!(read(none).is_none(), "{none}");
        }
    }
}
