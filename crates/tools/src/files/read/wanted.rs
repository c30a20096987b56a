//! What a call asks for: files, and lines of them, in the forms that models write.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

const DEFAULT_LINES: usize = 2000;
/// Files of one call.
const MOST_FILES: usize = 50;
const MOST_RANGES: usize = 100;

/// The files of a call; what cannot be understood is refused before anyone is asked about it.
#[derive(Clone, Debug)]
pub struct ReadInput {
    pub files: Vec<Wanted>,
}

impl<'de> Deserialize<'de> for ReadInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let files = Form::deserialize(deserializer)?.wanted().map_err(D::Error::custom)?;
        Ok(Self { files })
    }
}

impl JsonSchema for ReadInput {
    fn schema_name() -> Cow<'static, str> {
        Form::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Form::json_schema(generator)
    }
}

/// Reads files and kept artifacts: text with line numbers (2000 lines from `offset`), images, PDF, DOCX, ODT, notebooks.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
struct Form {
    /// Within the workspace.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    file_path: Option<String>,
    /// First line, from 1.
    #[schemars(extend("x-aliases" = ["start_line", "line"]))]
    offset: Option<usize>,
    /// Number of lines.
    limit: Option<usize>,
    /// Lines like "10-20" or "40-".
    #[schemars(extend("x-aliases" = ["line_range"]))]
    ranges: Option<Vec<String>>,
    /// Several at once.
    #[schemars(extend("x-aliases" = ["paths", "file_paths"]))]
    files: Option<Vec<FileInput>>,
    #[serde(flatten)]
    other: OtherForms,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
struct FileInput {
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    file_path: String,
    #[schemars(extend("x-hidden" = true, "x-aliases" = ["start_line", "line"]))]
    offset: Option<usize>,
    #[schemars(extend("x-hidden" = true))]
    limit: Option<usize>,
    #[schemars(extend("x-aliases" = ["line_range"]))]
    ranges: Option<Vec<String>>,
    #[serde(flatten)]
    other: OtherForms,
}

// Forms of other agents, which are understood and not offered. A doc comment would be the model's to read.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
struct OtherForms {
    /// `slice` is what is done anyway.
    #[serde(rename = "mode")]
    #[schemars(extend("x-hidden" = true))]
    _mode: Option<Value>,
    /// Roo-Code's files as they stand in XML: `{"file": [{"path": ..., "line_range": ...}]}`.
    #[schemars(extend("x-hidden" = true))]
    args: Option<Value>,
    /// `["1-5"]` or `[[1, 5]]`.
    #[schemars(extend("x-hidden" = true))]
    line_ranges: Option<Value>,
    #[schemars(extend("x-hidden" = true))]
    end_line: Option<Value>,
}

/// A file and the lines of it that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub path: String,
    pub lines: Lines,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lines {
    From {
        offset: usize,
        limit: usize,
    },
    /// First and last lines, both included, in order and apart from each other.
    Ranges(Vec<(usize, usize)>),
}

impl Lines {
    pub fn first(&self) -> usize {
        match self {
            Self::From { offset, .. } => *offset,
            Self::Ranges(ranges) => ranges.first().map_or(1, |(first, _)| *first),
        }
    }

    /// What the first line is called.
    pub fn word(&self) -> &'static str {
        match self {
            Self::From { .. } => "offset",
            Self::Ranges(_) => "line",
        }
    }

    pub fn has(&self, number: usize) -> bool {
        match self {
            Self::From { offset, .. } => number >= *offset,
            Self::Ranges(ranges) => {
                let at = ranges.partition_point(|(_, last)| *last < number);
                ranges.get(at).is_some_and(|(first, _)| *first <= number)
            }
        }
    }

    /// Whether no line from this number on was asked for.
    pub fn ended_before(&self, number: usize) -> bool {
        match self {
            Self::From { .. } => false,
            Self::Ranges(ranges) => ranges.last().is_some_and(|(_, last)| *last < number),
        }
    }

    pub fn is_enough(&self, lines: usize) -> bool {
        match self {
            Self::From { limit, .. } => lines >= *limit,
            Self::Ranges(_) => false,
        }
    }

    fn of(
        offset: Option<usize>,
        limit: Option<usize>,
        ranges: Option<Vec<String>>,
        other: &OtherForms,
    ) -> Result<Self, String> {
        let mut texts = ranges.unwrap_or_default();
        if let Some(value) = &other.line_ranges {
            texts.extend(range_texts(value));
        }
        if let (true, Some(end)) = (texts.is_empty(), other.end_line.as_ref().and_then(number)) {
            texts.push(format!("{}-{end}", offset.unwrap_or(1).max(1)));
        }
        if texts.is_empty() {
            let offset = offset.unwrap_or(1).max(1);
            return Ok(Self::From { offset, limit: limit.unwrap_or(DEFAULT_LINES).max(1) });
        }
        let pieces: Vec<&str> = texts.iter().flat_map(|text| text.split(',')).collect();
        if pieces.len() > MOST_RANGES {
            return Err(format!(
                "{} ranges were asked for; at most {MOST_RANGES} are read at a time",
                pieces.len()
            ));
        }
        let mut ranges = pieces.into_iter().map(range).collect::<Result<Vec<_>, _>>()?;
        ranges.sort_unstable();
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        Ok(Self::Ranges(joined))
    }
}

/// `10-20`, `40-`, `-20` or `7`.
fn range(text: &str) -> Result<(usize, usize), String> {
    let bad = || format!("`{text}` is no range of lines; write `10-20`, `40-`, `-20` or one number");
    let line = |text: &str| text.trim().trim_start_matches(['L', 'l']).parse::<usize>().map_err(|_| bad());
    let Some((first, last)) = text.split_once(['-', ':', '\u{2013}']) else {
        let only = line(text)?.max(1);
        return Ok((only, only));
    };
    let (first, last) = match (first.trim(), last.trim()) {
        ("", "") => return Err(bad()),
        ("", last) => (1, line(last)?),
        (first, "") => (line(first)?.max(1), usize::MAX),
        (first, last) => (line(first)?.max(1), line(last)?),
    };
    if last < first { Err(bad()) } else { Ok((first, last)) }
}

/// Ranges as text, whatever a model wrote them as.
fn range_texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(items) => items
            .iter()
            .flat_map(|item| match item.as_array().map(Vec::as_slice) {
                Some([first, last]) => vec![format!("{first}-{last}").replace('"', "")],
                _ => range_texts(item),
            })
            .collect(),
        Value::Object(object) => {
            let of = |names: [&str; 2]| names.iter().find_map(|name| object.get(*name)).and_then(number);
            match (of(["start", "start_line"]), of(["end", "end_line"])) {
                (None, None) => vec![value.to_string()],
                (first, last) => {
                    let last = last.map(|last| last.to_string()).unwrap_or_default();
                    vec![format!("{}-{last}", first.unwrap_or(1))]
                }
            }
        }
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

fn number(value: &Value) -> Option<usize> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

impl Form {
    /// Every file with its lines, in the order they were named.
    fn wanted(self) -> Result<Vec<Wanted>, String> {
        let mut wanted = Vec::new();
        if let Some(path) = self.file_path {
            let lines = Lines::of(self.offset, self.limit, self.ranges, &self.other)?;
            wanted.push(Wanted { path, lines });
        }
        for file in self.files.unwrap_or_default() {
            let lines = Lines::of(file.offset, file.limit, file.ranges, &file.other)?;
            wanted.push(Wanted { path: file.file_path, lines });
        }
        for file in self.other.args.iter().flat_map(roo_files) {
            wanted.push(file?);
        }
        match wanted.len() {
            0 => Err("no file is named; give `file_path`, or `files` for several".to_owned()),
            1..=MOST_FILES => Ok(wanted),
            more => Err(format!("{more} files were asked for; at most {MOST_FILES} are read at a time")),
        }
    }
}

fn roo_files(args: &Value) -> Vec<Result<Wanted, String>> {
    let parsed;
    let args = match args.as_str().map(serde_json::from_str) {
        Some(Ok(value)) => {
            parsed = value;
            &parsed
        }
        _ => args,
    };
    let files = args.get("file").unwrap_or(args);
    let files = files.as_array().map_or_else(|| vec![files], |files| files.iter().collect());
    files.into_iter().map(roo_file).collect()
}

fn roo_file(file: &Value) -> Result<Wanted, String> {
    let path = file.get("path").or_else(|| file.get("file_path")).unwrap_or(file).as_str();
    let path = path.ok_or_else(|| "`args` names a file without its `path`".to_owned())?;
    let ranges = ["line_range", "line_ranges"].iter().filter_map(|name| file.get(name));
    let ranges: Vec<String> = ranges.flat_map(range_texts).collect();
    let of = |name: &str| file.get(name).and_then(number);
    let lines = Lines::of(
        of("offset").or_else(|| of("start_line")),
        of("limit"),
        Some(ranges),
        &OtherForms { end_line: file.get("end_line").cloned(), ..OtherForms::default() },
    )?;
    Ok(Wanted { path: path.to_owned(), lines })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wanted(input: Value) -> Result<Vec<(String, Lines)>, String> {
        let input: ReadInput = serde_json::from_value(input).map_err(|error| error.to_string())?;
        Ok(input.files.into_iter().map(|file| (file.path, file.lines)).collect())
    }

    #[test]
    fn lines_are_asked_for_in_many_forms() {
        let from = |offset, limit| Lines::From { offset, limit };
        let ranges = |ranges: &[(usize, usize)]| Lines::Ranges(ranges.to_vec());
        let end = usize::MAX;
        for (input, expected) in [
            (json!({}), from(1, 2000)),
            (json!({"offset": 0, "limit": 0}), from(1, 1)),
            (json!({"offset": 7}), from(7, 2000)),
            (json!({"ranges": []}), from(1, 2000)),
            (json!({"ranges": ["10-20", "40-"]}), ranges(&[(10, 20), (40, end)])),
            (
                json!({"ranges": ["40-", "30", "-5", "L6-L7", "31:33"]}),
                ranges(&[(1, 7), (30, 33), (40, end)]),
            ),
            (json!({"ranges": ["1-2, 8-9"]}), ranges(&[(1, 2), (8, 9)])),
            (json!({"ranges": ["2-3"], "offset": 1, "limit": 2000}), ranges(&[(2, 3)])),
            (json!({"line_ranges": [[1, 5], ["7", "9"], "11-12"]}), ranges(&[(1, 5), (7, 9), (11, 12)])),
            (json!({"line_ranges": [{"start": 2, "end": 3}]}), ranges(&[(2, 3)])),
            (json!({"offset": 3, "end_line": "4"}), ranges(&[(3, 4)])),
            (json!({"mode": "slice", "offset": 3, "limit": 2}), from(3, 2)),
        ] {
            let mut input = input;
            input["file_path"] = "a".into();
            assert_eq!(wanted(input.clone()), Ok(vec![("a".to_owned(), expected)]), "{input}");
        }
        for bad in ["", "-", "x", "5-3", "1-2-3", "99999999999999999999999"] {
            let told = wanted(json!({"file_path": "a", "ranges": [bad]}));
            assert!(told.is_err_and(|told| told.contains("is no range of lines")), "{bad}");
        }
    }

    #[test]
    fn files_are_named_in_many_forms() {
        let all = || Lines::From { offset: 1, limit: 2000 };
        let roo = json!({"file": [{"path": "a", "line_range": "2-3"}, {"path": "b"}]});
        let expected = Ok(vec![("a".to_owned(), Lines::Ranges(vec![(2, 3)])), ("b".to_owned(), all())]);
        for input in [
            json!({"files": [{"file_path": "a", "ranges": ["2-3"]}, {"file_path": "b"}]}),
            json!({"file_path": "a", "ranges": ["2-3"], "files": [{"file_path": "b"}]}),
            json!({"files": [{"file_path": "a", "offset": 2, "end_line": 3}, {"file_path": "b", "limit": 2000}]}),
            json!({"args": roo}),
            json!({"args": roo.to_string()}),
            json!({"args": roo["file"]}),
        ] {
            assert_eq!(wanted(input.clone()), expected, "{input}");
        }
        assert_eq!(wanted(json!({"args": {"file": {"path": "b"}}})), Ok(vec![("b".to_owned(), all())]));
        let nothing = Err("no file is named; give `file_path`, or `files` for several".to_owned());
        assert_eq!(wanted(json!({})), nothing);
        assert_eq!(wanted(json!({"files": []})), nothing);
        let many: Vec<Value> = (0..51).map(|_| json!({"file_path": "a"})).collect();
        assert!(wanted(json!({"files": many})).is_err_and(|told| told.starts_with("51 files")));
    }
}
