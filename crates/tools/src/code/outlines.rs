//! `ast_find_symbols`, `ast_extract_function`, `ast_get_imports`, `code_index_build`.

use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_code_intel::Result;
use stepwell_code_intel::ask::{Ask, Excerpts, Imports, IndexStatus, SymbolFilter, Symbols};
use stepwell_code_intel::facts::Kind;
use stepwell_code_intel::index::Index;

use super::answer::TextAnswer;
use super::code_tool;

code_tool!(
    AstFindSymbols,
    "ast_find_symbols",
    &["list_code_definition_names"],
    SymbolsInput => Symbols,
    symbols
);
code_tool!(AstExtractFunction, "ast_extract_function", &[], ExtractInput => Excerpts, extracted);
code_tool!(AstGetImports, "ast_get_imports", &[], ImportsInput => Imports, imports);
code_tool!(CodeIndexBuild, "code_index_build", &[], BuildInput => IndexStatus, built);

/// Lists what a file defines: functions, types, members, constants, each with its line, kind and signature.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SymbolsInput {
    #[schemars(extend("x-aliases" = ["file_path", "path"]))]
    file: String,
    /// Only these kinds, such as `function`, `method` or `class`.
    #[serde(default)]
    kinds: Vec<String>,
}

/// Gives the whole source of a function, method or type, with its comments and decorators.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ExtractInput {
    #[schemars(extend("x-aliases" = ["file_path", "path"]))]
    file: String,
    /// `name` or `Type.name`.
    #[schemars(extend("x-aliases" = ["symbol", "function"]))]
    name: String,
}

/// Lists what a file imports, as it is written.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ImportsInput {
    #[schemars(extend("x-aliases" = ["file_path", "path"]))]
    file: String,
}

/// Reads what changed in the workspace and says what the code index holds and leaves out. Not needed before other questions: they do the same.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct BuildInput {
    /// Forget everything and read every file.
    #[serde(default)]
    fresh: bool,
}

impl SymbolsInput {
    fn subject(&self) -> (String, Vec<String>) {
        (format!("`{}`", self.file), vec![self.file.clone()])
    }
}

impl ExtractInput {
    fn subject(&self) -> (String, Vec<String>) {
        (format!("`{}` in `{}`", self.name, self.file), vec![self.file.clone()])
    }
}

impl ImportsInput {
    fn subject(&self) -> (String, Vec<String>) {
        (format!("`{}`", self.file), vec![self.file.clone()])
    }
}

impl BuildInput {
    fn subject(&self) -> (String, Vec<String>) {
        let subject = if self.fresh { "the workspace, from the beginning" } else { "the workspace" };
        (subject.to_owned(), Vec::new())
    }
}

fn symbols(index: &mut Index, input: &SymbolsInput) -> Result<TextAnswer<Symbols>> {
    let kinds: Vec<Kind> = input.kinds.iter().filter_map(|kind| Kind::named(kind)).collect();
    let filter = if input.kinds.is_empty() { SymbolFilter::Outline } else { SymbolFilter::Kinds(&kinds) };
    let answer = Ask::new(index).symbols(&input.file, filter)?;
    let mut text = String::new();
    for one in &answer.symbols {
        let doc = one.doc.as_ref().map(|doc| format!("  # {doc}")).unwrap_or_default();
        let lines = format!("{}-{}", one.line, one.last_line);
        text.push_str(&format!("{lines}: {} {}: {}{doc}\n", one.kind, one.path, one.signature));
    }
    if text.is_empty() {
        let known = Kind::ALL.map(Kind::name).join(", ");
        text = format!("`{}` defines nothing of that kind; the kinds are {known}.", input.file);
    }
    Ok(TextAnswer::new(answer, text))
}

fn extracted(index: &mut Index, input: &ExtractInput) -> Result<TextAnswer<Excerpts>> {
    let answer = Ask::new(index).excerpts(&input.file, &input.name)?;
    let shown =
        answer.excerpts.iter().map(|one| format!("{}:{} {}\n{}\n", one.file, one.line, one.path, one.text));
    let text: String = shown.collect();
    Ok(TextAnswer::new(answer, text))
}

fn imports(index: &mut Index, input: &ImportsInput) -> Result<TextAnswer<Imports>> {
    let answer = Ask::new(index).imports(&input.file)?;
    let mut text = String::new();
    for import in &answer.imports {
        let names = import.names.join(", ");
        let names = if names.is_empty() { names } else { format!(" ({names})") };
        text.push_str(&format!("{}: {}{names}\n", import.line, import.module));
    }
    if text.is_empty() {
        text = format!("`{}` imports nothing.", input.file);
    }
    Ok(TextAnswer::new(answer, text))
}

fn built(index: &mut Index, input: &BuildInput) -> Result<TextAnswer<IndexStatus>> {
    if input.fresh {
        index.clear();
        index.refresh(&|_, _| {}, &|| false)?;
    }
    let status = Ask::new(index).status();
    let omitted = status.omitted.iter().map(|one| format!("left out: {}: {}\n", one.file, one.reason));
    let text =
        format!("The index holds {} files and is up to date.\n{}", status.files, omitted.collect::<String>());
    Ok(TextAnswer::new(status, text))
}
