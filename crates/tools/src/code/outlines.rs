//! `ast_find_symbols`, `ast_extract_function`, `ast_get_imports`, `code_index_build`.

use schemars::JsonSchema;
use serde::Deserialize;
use stepwell_code_intel::facts::{self, Kind};
use stepwell_code_intel::index::Index;
use stepwell_code_intel::{Error, Result};

use super::code_tool;
use super::service::Told;

code_tool!(AstFindSymbols, "ast_find_symbols", &["list_code_definition_names"], SymbolsInput, symbols);
code_tool!(AstExtractFunction, "ast_extract_function", &[], ExtractInput, extracted);
code_tool!(AstGetImports, "ast_get_imports", &[], ImportsInput, imports);
code_tool!(CodeIndexBuild, "code_index_build", &[], BuildInput, built);

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

fn symbols(index: &mut Index, input: &SymbolsInput) -> Result<Told> {
    let whole = index.whole(index.named(&input.file)?);
    let mut text = String::new();
    for (place, definition) in whole.1.definitions.iter().enumerate() {
        let is_wanted = if input.kinds.is_empty() {
            definition.scope.is_none() || definition.kind.is_callable() || definition.kind == Kind::Class
        } else {
            input.kinds.iter().any(|kind| kind == definition.kind.name())
        };
        if is_wanted {
            let path = facts::described(&whole.1, place as u32);
            let doc =
                facts::doc_line(&whole.0, definition).map(|doc| format!("  # {doc}")).unwrap_or_default();
            let (lines, kind) =
                (format!("{}-{}", definition.at.line, definition.last_line), definition.kind.name());
            text.push_str(&format!(
                "{lines}: {kind} {path}: {}{doc}\n",
                facts::signature(&whole.0, definition)
            ));
        }
    }
    if text.is_empty() {
        let known = Kind::ALL.map(Kind::name).join(", ");
        text = format!("`{}` defines nothing of that kind; the kinds are {known}.", input.file);
    }
    Ok(Told::new(text))
}

fn extracted(index: &mut Index, input: &ExtractInput) -> Result<Told> {
    let file = index.named(&input.file)?;
    let whole = index.whole(file);
    let wanted = input.name.replace("::", ".");
    let mut text = String::new();
    for (place, definition) in whole.1.definitions.iter().enumerate() {
        let path = facts::described(&whole.1, place as u32);
        let fits = definition.name == wanted || path == wanted || path.ends_with(&format!(".{wanted}"));
        if fits
            && (definition.is_callable() || definition.kind.is_type() || definition.kind == Kind::Property)
        {
            let span = facts::whole(&whole.0, definition);
            text.push_str(&format!(
                "{}:{} {path}\n{}\n",
                index.path(file),
                definition.at.line,
                span.of(&whole.0)
            ));
        }
    }
    if text.is_empty() {
        return Err(Error::NotThere {
            what: format!("`{}` defines no function or type `{}`", index.path(file), input.name),
            near: "`ast_find_symbols` lists what it does".to_owned(),
        });
    }
    Ok(Told::new(text))
}

fn imports(index: &mut Index, input: &ImportsInput) -> Result<Told> {
    let outline = index.outline(index.named(&input.file)?);
    let mut text = String::new();
    for import in outline.imports.iter().filter(|import| !import.module.is_empty()) {
        let names: Vec<&str> = import.names.iter().map(|name| name.alias.as_str()).collect();
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        text.push_str(&format!("{}: {}{names}\n", import.line, import.module));
    }
    Ok(Told::new(if text.is_empty() { format!("`{}` imports nothing.", input.file) } else { text }))
}

fn built(index: &mut Index, input: &BuildInput) -> Result<Told> {
    if input.fresh {
        index.clear();
        index.refresh(&|_, _| {}, &|| false)?;
    }
    let files = index.entries().count();
    let mut omitted: Vec<String> = index
        .entries()
        .filter_map(|(_, entry)| Some(format!("left out: {}: {}\n", entry.path, entry.omission?.reason())))
        .collect();
    omitted.sort();
    Ok(Told::new(format!("The index holds {files} files and is up to date.\n{}", omitted.concat())))
}
