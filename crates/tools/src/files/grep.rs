//! `grep`: lines by their content, with ripgrep's engine.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, BufReader, Read, Seek};
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{
    Category, Planned, Redactor, Tool, ToolContext, ToolError, ToolOutput, ToolSpec, counted,
};
use stepwell_workspace::search::{FileMatches, TextQuery, WalkRules};
use stepwell_workspace::{Inside, Workspace};

use super::read::next_line;
use super::{in_background, place, under};

const DEFAULT_LIMIT: usize = 250;
const LARGEST_LIMIT: usize = 5000;
const MOST_CONTEXT: usize = 50;
/// A file in which this stands may hold a private key, whose lines are told as such only together.
const KEY_MARK: &[u8] = b"PRIVATE KEY-----";
const PIECE: usize = 256 * 1024;

pub struct Grep {
    workspace: Workspace,
}

impl Grep {
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// Searches file contents by regular expression (Rust's syntax, as ripgrep has it), in a folder or one file. Matching
/// lines come with their numbers, by path. What git ignores and binary files are left out.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct GrepInput {
    #[schemars(extend("x-aliases" = ["regex", "query", "search"]))]
    pattern: String,
    /// The folder or file to search; the workspace by default.
    #[schemars(extend("x-aliases" = ["dir", "directory", "folder", "file_path"]))]
    path: Option<String>,
    /// Only files that match, such as `*.rs` or `src/**/*.ts`; several with commas, `!` leaves files out.
    #[schemars(extend("x-aliases" = ["file_pattern", "include", "glob_pattern"]))]
    glob: Option<String>,
    /// Only files of a kind: `rust`, `py`, `js`, `ts`, `go`, `cpp` ...
    #[serde(rename = "type")]
    #[schemars(extend("x-aliases" = ["file_type"]))]
    kind: Option<String>,
    /// `content` (lines, the default), `files` (only which), `count` (how many in each).
    #[serde(default)]
    output_mode: GrepMode,
    /// Lines around each match.
    #[schemars(extend("x-aliases" = ["context_lines", "-C"]))]
    context: Option<usize>,
    #[schemars(extend("x-aliases" = ["-B"]))]
    before: Option<usize>,
    #[schemars(extend("x-aliases" = ["-A"]))]
    after: Option<usize>,
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["ignore_case", "-i"]))]
    case_insensitive: bool,
    /// Lines are always numbered.
    #[serde(rename = "line_numbers")]
    #[schemars(extend("x-hidden" = true, "x-aliases" = ["-n"]))]
    _line_numbers: Option<bool>,
    /// The pattern is plain text.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["fixed_strings"]))]
    literal: bool,
    /// Only whole words.
    #[serde(default)]
    whole_words: bool,
    /// A match may span lines; `.` then also matches a line's end.
    #[serde(default)]
    multiline: bool,
    /// Also what git ignores.
    #[serde(default)]
    include_ignored: bool,
    /// Lines (or files) at most; 250 by default.
    #[schemars(extend("x-aliases" = ["head_limit", "max_results"]))]
    limit: Option<usize>,
    /// Lines (or files) to pass over first.
    offset: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrepMode {
    #[default]
    Content,
    #[serde(alias = "files_with_matches")]
    Files,
    Count,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GrepOutput {
    files: Vec<GrepFile>,
    /// Matching lines in all files, shown or not; with `files` one for each.
    matches: u64,
    /// Files with matches, shown or not.
    matching_files: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip)]
    mode: GrepMode,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GrepFile {
    path: String,
    count: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<GrepLine>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GrepLine {
    line: u64,
    text: String,
    /// Near a match, none itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    context: bool,
}

impl ToolOutput for GrepOutput {
    fn for_model(&self) -> Cow<'_, str> {
        let mut text = String::new();
        for file in &self.files {
            let written = match self.mode {
                GrepMode::Files => writeln!(text, "{}", file.path),
                GrepMode::Count => writeln!(text, "{}: {}", file.path, file.count),
                GrepMode::Content => write_lines(&mut text, file),
            };
            // Writing to a string cannot fail.
            written.ok();
        }
        if let Some(note) = &self.note {
            text.push_str(&format!("({note})"));
        }
        Cow::Owned(text)
    }
}

/// The file's name, then its lines; a gap between lines that do not follow each other where context was asked for.
fn write_lines(text: &mut String, file: &GrepFile) -> std::fmt::Result {
    if !text.is_empty() {
        text.push('\n');
    }
    writeln!(text, "{}", file.path)?;
    let has_context = file.lines.iter().any(|line| line.context);
    let mut last = None;
    for line in &file.lines {
        if has_context && last.is_some_and(|last| line.line > last + 1) {
            writeln!(text, "  ...")?;
        }
        let mark = if line.context { '-' } else { ':' };
        writeln!(text, "{:>6}{mark} {}", line.line, line.text)?;
        last = Some(line.line);
    }
    Ok(())
}

#[async_trait]
impl Tool for Grep {
    type Input = GrepInput;
    type Plan = GrepInput;
    type Output = GrepOutput;

    fn is_basic(&self) -> bool {
        true
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "grep",
            aliases: &["search_files", "search", "ripgrep", "rg", "grep_search"],
            category: Category::Files,
            risk: Risk::Read,
            time_limit: Duration::from_secs(60),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let path = input.path.as_deref().unwrap_or(".");
        let preview = Preview {
            summary: format!("Search `{path}` for `{}`", input.pattern),
            paths: vec![path.to_owned()],
            ..Preview::default()
        };
        Planned::ready(preview, input)
    }

    async fn run(&self, ctx: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let path = input.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let place = place(&self.workspace, path)?;
        let context = |one: Option<usize>| one.or(input.context).unwrap_or(0).min(MOST_CONTEXT);
        let query = TextQuery {
            pattern: input.pattern.clone(),
            literal: input.literal,
            ignore_case: input.case_insensitive,
            whole_words: input.whole_words,
            multiline: input.multiline,
            before: context(input.before),
            after: context(input.after),
            count_only: input.output_mode == GrepMode::Count,
            files_only: input.output_mode == GrepMode::Files,
        };
        let listed = |text: &Option<String>| -> Vec<String> {
            let parts = text.as_deref().unwrap_or_default().split(',');
            parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let rules = WalkRules {
            depth: None,
            include_ignored: input.include_ignored,
            // Braces hold commas of their own.
            globs: match &input.glob {
                Some(glob) if glob.contains('{') => vec![glob.clone()],
                glob => listed(glob),
            },
            types: listed(&input.kind),
        };
        let (searched, redactor) = (place.clone(), ctx.redactor.clone());
        let (mode, offset) = (input.output_mode, input.offset.unwrap_or(0));
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, LARGEST_LIMIT);
        in_background(ctx, &self.workspace, &place, move |workspace, is_cancelled| {
            let found = workspace.search_text(&searched, &query, &rules, is_cancelled)?;
            let (matches, matching_files) = (found.matches, found.files.len());
            let mut window = Window { skip: offset, left: limit, more: found.is_cut };
            let mut files = Vec::new();
            for file in found.files {
                if let Some(file) = window.take(mode, file) {
                    files.push(shown(workspace, &searched, &redactor, file));
                }
            }
            let note = note(&query.pattern, mode, matches, matching_files, &window, offset + limit);
            Ok(GrepOutput { files, matches, matching_files, note, mode })
        })
        .await
    }
}

/// The part of the result that is asked for.
struct Window {
    skip: usize,
    left: usize,
    more: bool,
}

impl Window {
    /// What of a file's matches falls into the window.
    fn take(&mut self, mode: GrepMode, mut file: FileMatches) -> Option<FileMatches> {
        let count = if mode == GrepMode::Content { file.lines.len() } else { 1 };
        let skipped = self.skip.min(count);
        self.skip -= skipped;
        let taken = self.left.min(count - skipped);
        self.more |= taken < count - skipped;
        self.left -= taken;
        if mode == GrepMode::Content {
            file.lines = file.lines.into_iter().skip(skipped).take(taken).collect();
        }
        (taken > 0).then_some(file)
    }
}

fn note(
    pattern: &str,
    mode: GrepMode,
    matches: u64,
    files: usize,
    window: &Window,
    next: usize,
) -> Option<String> {
    if matches == 0 {
        return Some(format!("nothing matches `{pattern}`"));
    }
    let what = if mode == GrepMode::Content { "lines" } else { "files" };
    let total = match mode {
        GrepMode::Files => counted(files as u64, "matching file"),
        _ => format!("{} in {}", counted(matches, "matching line"), counted(files as u64, "file")),
    };
    window.more.then(|| format!("{total}; more {what} follow, go on with offset {next} or narrow the search"))
}

/// A file's lines without secrets.
fn shown(workspace: &Workspace, searched: &Inside, redactor: &Redactor, file: FileMatches) -> GrepFile {
    let path = under(searched, &file.path);
    let numbers: HashSet<u64> = file.lines.iter().map(|line| line.number).collect();
    // By its bytes: a name that is no UTF-8 is shown in another form.
    let mut hidden = key_lines(workspace, &searched.join(&file.path), redactor, &numbers);
    let lines = file.lines.into_iter().map(|line| {
        let text = match &mut hidden {
            Ok(hidden) => hidden.remove(&line.number).unwrap_or(line.text),
            // What cannot be looked at again may be a key.
            Err(_) => "[not shown: the file changed during the search]".to_owned(),
        };
        GrepLine { line: line.number, text, context: line.is_context }
    });
    GrepFile { count: file.count, lines: lines.collect(), path }
}

/// The lines of these numbers as they may be shown, in a file that may hold a private key. Read line by line: the
/// file may be larger than the memory.
fn key_lines(
    workspace: &Workspace,
    place: &Inside,
    redactor: &Redactor,
    numbers: &HashSet<u64>,
) -> io::Result<HashMap<u64, String>> {
    let mut shown = HashMap::new();
    // Where no line is shown, no line needs to be hidden.
    let Some(last) = numbers.iter().max() else { return Ok(shown) };
    let mut file = workspace.open_file(place).map_err(io::Error::other)?;
    if !holds_key_mark(&mut file)? {
        return Ok(shown);
    }
    file.rewind()?;
    let (mut source, mut redacted) = (BufReader::with_capacity(PIECE, file), redactor.stream());
    let mut line = Vec::new();
    for number in 1..=*last {
        if !next_line(&mut source, &mut line)? {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        if numbers.contains(&number) {
            let text = redacted.push_line(&format!("{}\n", text.trim_end_matches('\r')));
            shown.insert(number, text.trim_end_matches('\n').to_owned());
        } else {
            redacted.skip_line(&text);
        }
    }
    Ok(shown)
}

fn holds_key_mark(file: &mut std::fs::File) -> io::Result<bool> {
    let mut piece = vec![0; PIECE];
    let mut kept = 0;
    loop {
        let read = file.read(&mut piece[kept..])?;
        if read == 0 {
            return Ok(false);
        }
        let filled = kept + read;
        if memchr::memmem::find(&piece[..filled], KEY_MARK).is_some() {
            return Ok(true);
        }
        // The mark may lie across two pieces.
        kept = filled.min(KEY_MARK.len() - 1);
        piece.copy_within(filled - kept..filled, 0);
    }
}
