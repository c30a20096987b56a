//! Texts, comments and attributes that ask for a definition by its name, where no reference says so.

use super::super::SourceText;
use super::judge::words;
use crate::facts::{Definition, Kind};
use crate::index::{FileId, Index};
use crate::languages::Language;
use crate::resolve::DefinitionSite;

/// Words before which a text in Python is a path to what it names: `patch("module.name")`.
const TAKE_PATHS: [&str; 5] = ["patch(", "setattr(", "delattr(", "import_string(", "entry_points"];

/// Who asks for a definition, or for one that is defined by the same name, by a text.
pub(super) fn asking(index: &Index, target: &DefinitionSite, defined: &[Definition]) -> Option<String> {
    match index.entry(target.file).and_then(|entry| entry.language)? {
        Language::Rust => in_attribute(index, target).or_else(|| linked(index, target)),
        Language::Go => in_directive(index, target).or_else(|| in_template(index, target)),
        Language::Python if defined.iter().any(|one| one.kind == Kind::Parameter) => {
            as_key_of_arguments(index, target)
        }
        Language::Python if target.definition.scope.is_none() => in_path(index, target),
        _ => None,
    }
}

/// `#[serde(default = "name")]` and `#[arg(value_parser = "module::name")]`.
fn in_attribute(index: &Index, target: &DefinitionSite) -> Option<String> {
    let name = &target.definition.name;
    if target.definition.scope.is_some() || target.definition.kind == Kind::Field {
        return None;
    }
    let quoted = format!("{name}\"");
    let asks = |file: &FileId| {
        let source = index.source(*file);
        source.match_indices(&quoted).any(|(at, _)| {
            let before = &source[..at];
            let is_path = before.ends_with('"') || before.ends_with("::");
            let attribute = before.rfind("#[").map(|open| &before[open..]);
            is_path && attribute.is_some_and(|attribute| !attribute.contains([']', '\n']))
        })
    };
    let file = index.using(name).into_iter().chain([target.file]).find(asks)?;
    Some(format!("An attribute in {}", index.path(file)))
}

/// What a linker knows by its name.
fn linked(index: &Index, target: &DefinitionSite) -> Option<String> {
    let definition = &target.definition;
    let may_be_linked = definition.kind == Kind::Function || definition.kind == Kind::Constant;
    if !may_be_linked || definition.scope.is_some() {
        return None;
    }
    let source = index.source(target.file);
    let above = source.get(..definition.span.start as usize)?.trim_end();
    let attributes = above.lines().rev().take_while(|line| line.trim_start().starts_with("#["));
    let is_exported = { attributes }.any(|line| line.contains("no_mangle"));
    let is_foreign = || {
        let source = SourceText::of(Language::Rust, &source).ok()?;
        let span = definition.name_span;
        let mut node = source.node_at(span.start as usize..span.end as usize);
        while let Some(around) = node {
            if around.kind() == "foreign_mod_item" {
                return Some(());
            }
            node = around.parent();
        }
        None
    };
    let mentions_extern = source.contains("extern");
    (is_exported || mentions_extern && is_foreign().is_some()).then(|| "The linker".to_owned())
}

/// `//export Name` and `//go:linkname name`.
fn in_directive(index: &Index, target: &DefinitionSite) -> Option<String> {
    if target.definition.scope.is_some() || target.definition.is_member {
        return None;
    }
    let source = index.source(target.file);
    let asks = |line: &str| {
        let rest = line.strip_prefix("//export ").or_else(|| line.strip_prefix("//go:linkname "));
        rest.is_some_and(|rest| rest.split_whitespace().next() == Some(&target.definition.name))
    };
    source.lines().any(asks).then(|| "The linker".to_owned())
}

/// `{{ .Name }}` in a template of Go.
fn in_template(index: &Index, target: &DefinitionSite) -> Option<String> {
    let definition = &target.definition;
    if !definition.is_member || !definition.name.starts_with(char::is_uppercase) {
        return None;
    }
    let asks = |file: &FileId| {
        let source = index.source(*file);
        source.split("{{").skip(1).any(|rest| {
            let inside = rest.split("}}").next().unwrap_or_default();
            inside.len() < rest.len() && words(inside, &definition.name).any(|at| inside[..at].ends_with('.'))
        })
    };
    let file = index.using(&definition.name).into_iter().chain([target.file]).find(asks)?;
    Some(format!("A template in {}", index.path(file)))
}

/// `function(**{"name": 1})` and `Thread(target=function, kwargs={"name": 1})`.
fn as_key_of_arguments(index: &Index, target: &DefinitionSite) -> Option<String> {
    let name = &target.definition.name;
    let own = index.whole(target.file);
    let scope = target.definition.scope?;
    let function = own.1.definitions.iter().find(|one| one.span == scope && one.is_callable())?;
    let asks = |file: &FileId| {
        let source = index.source(*file);
        let quoted = [format!("'{name}'"), format!("\"{name}\"")];
        quoted.iter().flat_map(|quoted| source.match_indices(quoted)).any(|(at, quoted)| {
            let line = source[..at].rsplit('\n').next().unwrap_or_default();
            source[at + quoted.len()..].trim_start().starts_with(':')
                && words(line, &function.name).next().is_some()
        })
    };
    let file = index.using(&function.name).into_iter().find(asks)?;
    Some(format!("The text `{name}` in {}", index.path(file)))
}

/// `patch("module.name")` in a test, and `"command = module:name"` in what says how a package is installed.
fn in_path(index: &Index, target: &DefinitionSite) -> Option<String> {
    let name = &target.definition.name;
    let is_asking = |path: &str| {
        let file = path.rsplit('/').next().unwrap_or(path);
        let is_python = file.ends_with(".py");
        matches!(file, "setup.py" | "setup.cfg" | "pyproject.toml" | "conftest.py")
            || is_python
                && (file.starts_with("test") || file.ends_with("_test.py") || path.contains("tests/"))
    };
    let asks = |path: &str, file: FileId| {
        let source = index.source(file);
        words(&source, name).any(|at| {
            let (before, after) = (&source[..at], &source[at + name.len()..]);
            let line = before.rsplit('\n').next().unwrap_or_default();
            let is_path = line.ends_with(['.', ':', '"', '\'']) && after.starts_with(['"', '\'']);
            let is_taken = TAKE_PATHS.iter().any(|word| line.contains(word));
            let is_entry = line.ends_with(':') && !path.contains("test") && line.contains('=');
            is_path && (is_taken || is_entry)
        })
    };
    let using = index.using(name);
    let mut entries = index
        .entries()
        .filter(|(file, entry)| is_asking(&entry.path) || *file == target.file || using.contains(file));
    let (_, entry) = entries.find(|(file, entry)| asks(&entry.path, *file))?;
    Some(format!("A text in {}", entry.path))
}
