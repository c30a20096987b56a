//! `ast_parse`.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_code_intel::languages::Language;
use stepwell_code_intel::structure::nodes::{self, Bounds, Lines};
use stepwell_code_intel::structure::{Refusal, SourceText};
use stepwell_protocol::{Preview, Risk};
use stepwell_tool_runtime::{Category, Planned, Tool, ToolContext, ToolError, ToolSpec, counted};
use stepwell_workspace::Workspace;

use super::answer::TextAnswer;
use crate::files::{explained, place};

/// A file of which a tree is shown is read whole.
const LARGEST: u64 = 4 * 1024 * 1024;
const MOST_NODES: usize = 400;

pub struct AstParse(pub Workspace);

/// Shows the syntax tree of a file: nodes with field, kind and place, of some lines or of what a tree-sitter query captures.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ParseInput {
    #[schemars(extend("x-aliases" = ["file_path", "path"]))]
    file: String,
    /// Where the file's name does not tell.
    language: Option<String>,
    start_line: Option<u32>,
    end_line: Option<u32>,
    /// Such as `(function_item name: (identifier) @name)`.
    query: Option<String>,
    /// Levels shown, 6 by default.
    depth: Option<usize>,
}

/// The syntax tree of a file, or what a query captures of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SyntaxTree {
    language: &'static str,
    /// One node per line: field, kind and place, indented by depth.
    tree: String,
    nodes: usize,
    /// False where nodes or levels were left out.
    complete: bool,
}

impl ParseInput {
    fn parsed(&self, workspace: &Workspace) -> Result<TextAnswer<SyntaxTree>, ToolError> {
        let place = place(workspace, &self.file)?;
        let read = workspace.read_text(&place, LARGEST);
        let text = read.map_err(|error| explained(workspace, Some(&place), error))?.text;
        let refused = |refusal: Refusal| ToolError::validation(format!("`{}`: {refusal}", place.display()));
        let source = match self.language.as_deref().filter(|name| !name.trim().is_empty()) {
            None => SourceText::read(place.relative(), &text),
            Some(name) => SourceText::of(language_named(name)?, &text),
        };
        let source = source.map_err(refused)?;
        let lines = self.lines(text.lines().count().max(1) as u32)?;
        let bounds = Bounds { nodes: MOST_NODES, depth: self.depth.unwrap_or(6).min(60) };
        let shown = match self.query.as_deref().filter(|query| !query.trim().is_empty()) {
            Some(query) => nodes::query(&source, query, lines, bounds).map_err(refused)?,
            None => nodes::outline(&source, lines, bounds),
        };
        let mut text = format!("{}\n{}", source.language.name(), shown.text);
        if shown.count == 0 {
            text.push_str("nothing fits\n");
        }
        if shown.is_cut {
            text.push_str("(there is more: narrow the lines, raise `depth`, or ask with a query)\n");
        }
        let tree = SyntaxTree {
            language: source.language.name(),
            tree: shown.text,
            nodes: shown.count,
            complete: !shown.is_cut,
        };
        Ok(TextAnswer::new(tree, text))
    }

    fn lines(&self, count: u32) -> Result<Option<Lines>, ToolError> {
        if self.start_line.is_none() && self.end_line.is_none() {
            return Ok(None);
        }
        let first = self.start_line.unwrap_or(1).max(1);
        let last = self.end_line.unwrap_or(count);
        if first > count || last < first {
            let lines = counted(u64::from(count), "line");
            return Err(ToolError::validation(format!(
                "`{}` has {lines}; `start_line` and `end_line` lie outside it",
                self.file
            )));
        }
        Ok(Some(Lines { first, last: last.min(count) }))
    }
}

fn language_named(name: &str) -> Result<Language, ToolError> {
    Language::called(name).ok_or_else(|| {
        let known: Vec<&str> = Language::all().map(Language::name).collect();
        ToolError::parameter(format!(
            "`{name}` is no language that can be parsed; those are {}",
            known.join(", ")
        ))
    })
}

#[async_trait]
impl Tool for AstParse {
    type Input = ParseInput;
    type Plan = ParseInput;
    type Output = TextAnswer<SyntaxTree>;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ast_parse",
            aliases: &[],
            category: Category::Code,
            risk: Risk::Read,
            time_limit: Duration::from_secs(60),
            output_limit: 50 * 1024,
        }
    }

    async fn plan(&self, _: &ToolContext, input: Self::Input) -> Planned<Self::Plan> {
        let summary = format!("Show the syntax tree of `{}`", input.file);
        let preview = Preview { summary, paths: vec![input.file.clone()], ..Preview::default() };
        Planned::ready(preview, input)
    }

    async fn run(&self, _: &ToolContext, input: Self::Plan) -> Result<Self::Output, ToolError> {
        let workspace = self.0.clone();
        tokio::task::spawn_blocking(move || input.parsed(&workspace))
            .await
            .map_err(|error| ToolError::execution(format!("the file could not be parsed: {error}")))?
    }
}
