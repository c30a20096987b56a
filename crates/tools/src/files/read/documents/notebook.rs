//! Jupyter notebooks as cells: number, kind, source, and the text of their outputs.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};
use stepwell_protocol::Image;
use stepwell_tool_runtime::counted;

use super::Document;

/// Lines of one output that are shown: the first and the last of them.
const OUTPUT_HEAD: usize = 40;
const OUTPUT_TAIL: usize = 20;
/// Characters of one image, as it is sent; larger ones are only named.
const LARGEST_IMAGE: usize = 512 * 1024;
const MOST_IMAGES: usize = 8;

#[derive(Debug, Deserialize)]
struct Notebook {
    /// Absent before version 4 of the format, which has work sheets.
    cells: Option<Vec<Cell>>,
    worksheets: Option<Vec<Worksheet>>,
    #[serde(default)]
    metadata: Value,
}

#[derive(Debug, Deserialize)]
struct Worksheet {
    #[serde(default)]
    cells: Vec<Cell>,
}

#[derive(Debug, Deserialize)]
struct Cell {
    #[serde(default, rename = "cell_type")]
    kind: String,
    #[serde(default, alias = "input")]
    source: Value,
    #[serde(default, alias = "prompt_number")]
    execution_count: Option<Value>,
    #[serde(default)]
    outputs: Vec<Value>,
}

/// The notebook as text, or nothing if it is none.
pub fn text(json: &str) -> Option<Document> {
    let notebook: Notebook = serde_json::from_str(json).ok()?;
    let cells = match (notebook.cells, notebook.worksheets) {
        (Some(cells), _) => cells,
        (None, Some(sheets)) => sheets.into_iter().flat_map(|sheet| sheet.cells).collect(),
        (None, None) => return None,
    };
    let mut page = Page::default();
    for (nth, cell) in cells.iter().enumerate() {
        page.cell(nth + 1, cell);
    }
    let language = notebook.metadata.pointer("/kernelspec/language");
    let language = language.or_else(|| notebook.metadata.pointer("/language_info/name"));
    let language = language.and_then(Value::as_str).map(|name| format!(" in {name}")).unwrap_or_default();
    let note = format!(
        "notebook{language} as text, {}; the line numbers are not those of the file",
        counted(cells.len() as u64, "cell")
    );
    Some(Document { text: page.text, note, images: page.images })
}

#[derive(Default)]
struct Page {
    text: String,
    images: Vec<Image>,
}

impl Page {
    fn cell(&mut self, number: usize, cell: &Cell) {
        let kind = if cell.kind.is_empty() { "cell" } else { cell.kind.as_str() };
        let run = match &cell.execution_count {
            Some(Value::Number(count)) => format!(", run {count}"),
            _ => String::new(),
        };
        self.line(&format!("[cell {number}: {}{run}]", one_line(kind)));
        self.lines(&joined(&cell.source));
        for output in &cell.outputs {
            self.output(number, output);
        }
        self.line("");
    }

    fn output(&mut self, number: usize, output: &Value) {
        let kind = output.get("output_type").and_then(Value::as_str).unwrap_or("output");
        let name = output.get("name").and_then(Value::as_str).unwrap_or(kind);
        self.line(&format!("[cell {number}: {}]", one_line(name)));
        match kind {
            "stream" => self.shortened(&joined(output.get("text").unwrap_or(&Value::Null))),
            "error" | "pyerr" => {
                let part = |name: &str| joined(output.get(name).unwrap_or(&Value::Null));
                let trace = output.get("traceback").and_then(Value::as_array).map_or(Vec::new(), |lines| {
                    lines.iter().map(|line| without_colours(&joined(line))).collect()
                });
                if trace.is_empty() {
                    self.shortened(&format!("{}: {}", part("ename"), part("evalue")));
                } else {
                    self.shortened(&trace.join("\n"));
                }
            }
            _ => match output.get("data").and_then(Value::as_object).or_else(|| output.as_object()) {
                Some(data) => self.data(data),
                None => self.line("(nothing that can be shown)"),
            },
        }
    }

    /// One output in several forms: the plainest text of them, and an image.
    fn data(&mut self, data: &Map<String, Value>) {
        const TEXTS: &[&str] =
            &["text/markdown", "text/plain", "text", "application/json", "text/latex", "text/html"];
        let text = TEXTS.iter().find_map(|kind| data.get(*kind));
        if let Some(text) = text {
            let shown = if text.is_object() { text.to_string() } else { joined(text) };
            self.shortened(&shown);
        }
        let mut shown = text.is_some();
        for (key, media_type) in [
            ("image/png", "image/png"),
            ("png", "image/png"),
            ("image/jpeg", "image/jpeg"),
            ("image/gif", "image/gif"),
        ] {
            let Some(image) = data.get(key) else { continue };
            let encoded: String = joined(image).split_ascii_whitespace().collect();
            shown = true;
            if encoded.len() <= LARGEST_IMAGE && self.images.len() < MOST_IMAGES && is_base64(&encoded) {
                self.images.push(Image { media_type: media_type.to_owned(), data: encoded });
                let nth = self.images.len();
                self.line(&format!("({media_type}, image {nth})"));
            } else {
                self.line(&format!("({media_type}, {} characters; not shown)", encoded.len()));
            }
        }
        if !shown {
            let kinds: Vec<String> = data.keys().take(8).map(|kind| one_line(kind)).collect();
            self.line(&format!("({}; not shown)", kinds.join(", ")));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn lines(&mut self, text: &str) {
        for line in text.lines() {
            self.line(line);
        }
    }

    fn shortened(&mut self, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() <= OUTPUT_HEAD + OUTPUT_TAIL {
            return self.lines(text);
        }
        for line in &lines[..OUTPUT_HEAD] {
            self.line(line);
        }
        let left_out = lines.len() - OUTPUT_HEAD - OUTPUT_TAIL;
        writeln!(self.text, "(... {left_out} lines left out ...)").ok();
        for line in &lines[lines.len() - OUTPUT_TAIL..] {
            self.line(line);
        }
    }
}

/// Text, which the format has as one text or as a list of lines with their ends.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(Value::as_str).collect(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).take(80).collect()
}

fn is_base64(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}

/// Tracebacks come with a terminal's colours.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            out.push(character);
            continue;
        }
        if characters.next() == Some('[') {
            for skipped in characters.by_ref() {
                if ('\u{40}'..='\u{7e}').contains(&skipped) {
                    break;
                }
            }
        }
    }
    out
}
