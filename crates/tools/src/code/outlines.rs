//! `ast_find_symbols`, `ast_extract_function`, `ast_get_imports`, `code_index_build`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_code_intel::Result;
use stepwell_code_intel::ask::{Ask, Excerpts, Imports, IndexStatus, Symbol, SymbolFilter};
use stepwell_code_intel::facts::Kind;
use stepwell_code_intel::index::Index;
use stepwell_code_intel::languages::Language;
use stepwell_tool_runtime::counted;

use super::answer::TextAnswer;
use super::below::Below;
use super::code_tool;

code_tool!(
    AstFindSymbols,
    "ast_find_symbols",
    &["list_code_definition_names"],
    SymbolsInput => Outline,
    symbols
);
code_tool!(AstExtractFunction, "ast_extract_function", &[], ExtractInput => Excerpts, extracted);
code_tool!(AstGetImports, "ast_get_imports", &[], ImportsInput => Imports, imports);
code_tool!(CodeIndexBuild, "code_index_build", &[], BuildInput => IndexStatus, built);

/// Lists what a file, or each file of a folder, defines: functions, types, members, constants, with line, kind and
/// signature.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SymbolsInput {
    #[schemars(extend("x-aliases" = ["file_path", "path"]))]
    file: String,
    /// Only these kinds, such as `function`, `method` or `class`.
    #[schemars(extend("x-aliases" = ["symbol_type", "symbol_types", "symbol_kind", "kind", "type"]))]
    #[serde(default)]
    kinds: Vec<String>,
}

/// Gives the whole source of a function, method or type, with its comments and decorators.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ExtractInput {
    #[schemars(extend("x-aliases" = ["file_path", "path"]))]
    file: String,
    /// `name` or `Type.name`.
    #[schemars(extend("x-aliases" = ["function_name", "symbol", "symbol_name", "function"]))]
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
    #[schemars(extend("x-aliases" = ["force", "rebuild"]))]
    fresh: bool,
    /// Tell only about this folder.
    #[schemars(extend("x-aliases" = ["dir", "directory", "folder"]))]
    path: Option<String>,
    /// Tell only about files of these languages.
    #[serde(default)]
    languages: Vec<String>,
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
        (subject.to_owned(), self.path.iter().cloned().collect())
    }
}

/// What a file defines, or each file of a folder.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Outline {
    /// Of the one file that was asked about.
    symbols: Vec<Symbol>,
    /// Of a folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileOutline>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct FileOutline {
    file: String,
    symbols: Vec<Symbol>,
}

/// Kinds as models name them: also in the plural, and `all` for no choice.
fn wanted_kinds(names: &[String]) -> Option<Vec<Kind>> {
    let names: Vec<String> = names.iter().map(|name| name.trim().to_lowercase()).collect();
    if names.is_empty() || names.iter().any(|name| name == "all" || name == "any") {
        return None;
    }
    let singular = |name: &String| match name.as_str() {
        "classes" => Some(Kind::Class),
        name => Kind::named(name).or_else(|| Kind::named(name.strip_suffix('s')?)),
    };
    Some(names.iter().filter_map(singular).collect())
}

fn symbols(index: &mut Index, input: &SymbolsInput) -> Result<TextAnswer<Outline>> {
    let kinds = wanted_kinds(&input.kinds);
    let filter = kinds.as_deref().map_or(SymbolFilter::Outline, SymbolFilter::Kinds);
    let place = index.workspace().place(&input.file)?;
    if place.absolute().is_dir() {
        return folder_symbols(index, &input.file, filter);
    }
    let symbols = Ask::new(index).symbols(&input.file, filter)?.symbols;
    let mut text = symbol_lines(&symbols);
    if text.is_empty() {
        let known = Kind::ALL.map(Kind::name).join(", ");
        text = format!("`{}` defines nothing of that kind; the kinds are {known}.", input.file);
    }
    Ok(TextAnswer::new(Outline { symbols, files: Vec::new() }, text))
}

/// The files right in a folder; those of its subfolders where it has none.
fn folder_symbols(index: &Index, folder: &str, filter: SymbolFilter<'_>) -> Result<TextAnswer<Outline>> {
    const MOST_FILES: usize = 50;
    let below = Below::named(index, folder)?;
    let indexed = index.entries().filter(|(_, entry)| entry.omission.is_none()).map(|(_, entry)| &entry.path);
    let mut all: Vec<String> = indexed.filter(|path| below.has(path)).cloned().collect();
    all.sort_unstable();
    let direct: Vec<String> = all.iter().filter(|path| below.has_directly(path)).cloned().collect();
    let chosen = if direct.is_empty() { &all } else { &direct };
    let mut text = String::new();
    let mut files = Vec::new();
    for file in chosen.iter().take(MOST_FILES) {
        let symbols = Ask::new(index).symbols(file, filter)?.symbols;
        if !symbols.is_empty() {
            text.push_str(&format!("# {file}\n{}\n", symbol_lines(&symbols)));
            files.push(FileOutline { file: file.clone(), symbols });
        }
    }
    if files.is_empty() {
        text = format!("No file in `{folder}` defines anything that was asked for.\n");
    }
    let more = chosen.len().saturating_sub(MOST_FILES);
    if more > 0 {
        text.push_str(&format!("(and {more} more files)\n"));
    }
    if !direct.is_empty() && direct.len() < all.len() {
        let deeper = counted((all.len() - direct.len()) as u64, "file");
        text.push_str(&format!("({deeper} in subfolders not listed: name a subfolder)\n"));
    }
    Ok(TextAnswer::new(Outline { symbols: Vec::new(), files }, text))
}

fn symbol_lines(symbols: &[Symbol]) -> String {
    let line = |one: &Symbol| {
        let doc = one.doc.as_ref().map(|doc| format!("  # {doc}")).unwrap_or_default();
        let lines = format!("{}-{}", one.line, one.last_line);
        format!("{lines}: {} {}: {}{doc}\n", one.kind, one.path, one.signature)
    };
    symbols.iter().map(line).collect()
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
    let mut status = Ask::new(index).status();
    let below = input.path.as_deref().map(|path| Below::named(index, path)).transpose()?;
    let languages: Vec<Language> = input.languages.iter().filter_map(|name| Language::called(name)).collect();
    let is_wanted = |path: &str, language: Option<Language>| {
        below.as_ref().is_none_or(|below| below.has(path))
            && (input.languages.is_empty() || language.is_some_and(|language| languages.contains(&language)))
    };
    let wanted = index.entries().filter(|(_, entry)| is_wanted(&entry.path, entry.language));
    status.files = wanted.count();
    status.omitted.retain(|one| below.as_ref().is_none_or(|below| below.has(&one.file)));
    let place = input.path.as_ref().map(|path| format!(" of `{path}`")).unwrap_or_default();
    let names: Vec<&str> = languages.iter().map(|language| language.name()).collect();
    let written = if names.is_empty() { String::new() } else { format!(" in {}", names.join(", ")) };
    let mut text = format!("The index holds {} files{place}{written} and is up to date.\n", status.files);
    for name in input.languages.iter().filter(|name| Language::called(name).is_none()) {
        let known: Vec<&str> = Language::all().map(Language::name).collect();
        text.push_str(&format!("`{name}` is no language that is indexed; those are {}\n", known.join(", ")));
    }
    for one in &status.omitted {
        text.push_str(&format!("left out: {}: {}\n", one.file, one.reason));
    }
    Ok(TextAnswer::new(status, text))
}
