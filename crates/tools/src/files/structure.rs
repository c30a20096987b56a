//! Edits by structure, as `edit_by_ast`, `batch_edit` and `preview_edit` take them, planned on files and on what is
//! planned for them already.

mod rename;
mod rewrite;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use stepwell_code_intel::ask::similar_names;
use stepwell_code_intel::facts;
use stepwell_code_intel::resolve::{DefinitionSite, Resolver};
use stepwell_code_intel::structure::check::{self, Around};
use stepwell_code_intel::structure::edits::{self, Operation};
use stepwell_code_intel::structure::symbols::{self, Target, Want};
use stepwell_code_intel::structure::{Refusal, SourceText, Splice};
use stepwell_tool_runtime::ToolError;
use stepwell_workspace::Inside;

use super::edit::EditInput;
use super::service::{Before, Caller, Change, FileService, like};

/// Changes code by its structure: a symbol, a name everywhere, or all code of a form. Only that code changes; an edit that
/// would break the syntax is refused.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct StructureEditInput {
    pub operation: What,
    /// `name` or `Type.member`.
    pub symbol: Option<String>,
    /// Not needed where the symbol is unique.
    #[schemars(extend("x-aliases" = ["path", "file", "filename", "target_file"]))]
    pub file_path: Option<String>,
    /// A line of the symbol, if its name is not unique.
    pub line: Option<u32>,
    /// The new code, in any indentation; what the pattern becomes.
    #[schemars(extend("x-aliases" = ["content", "new_str", "body", "replacement"]))]
    pub code: Option<String>,
    pub new_name: Option<String>,
    /// Rename what is not certain too.
    #[serde(default)]
    pub include_unsure: bool,
    /// Code with `$X` for one part and `$$$X` for any number.
    pub pattern: Option<String>,
    /// Files to rewrite, such as `src/**/*.py`.
    pub glob: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Replace,
    ReplaceBody,
    InsertBefore,
    InsertAfter,
    Delete,
    Rename,
    Rewrite,
}

impl What {
    fn words(self) -> &'static str {
        match self {
            Self::Replace => "Replace",
            Self::ReplaceBody => "Replace the body of",
            Self::InsertBefore => "Insert before",
            Self::InsertAfter => "Insert after",
            Self::Delete => "Delete",
            Self::Rename => "Rename",
            Self::Rewrite => "Rewrite",
        }
    }
}

impl StructureEditInput {
    /// What is asked for, in a line.
    pub fn summary(&self) -> String {
        let what = match (&self.symbol, &self.pattern, self.line) {
            (Some(symbol), ..) => format!("`{symbol}`"),
            (None, Some(pattern), _) => format!("`{pattern}`"),
            (None, None, Some(line)) => format!("what stands at line {line}"),
            (None, None, None) => "code".to_owned(),
        };
        let name = self.new_name.as_ref().map(|name| format!(" to `{name}`")).unwrap_or_default();
        let place = self.file_path.as_ref().or(self.glob.as_ref());
        let place = place.map(|path| format!(" in `{path}`")).unwrap_or_default();
        format!("{} {what}{name}{place}", self.operation.words())
    }

    /// Adds the edit to what is planned.
    pub fn plan(
        &self,
        service: &FileService,
        caller: &Caller,
        changes: &mut Vec<Change>,
    ) -> Result<(), ToolError> {
        match self.operation {
            What::Rename => return self.plan_rename(service, caller, changes),
            What::Rewrite => return self.plan_rewrite(service, caller, changes),
            _ => {}
        }
        let code = || self.code.clone().ok_or_else(|| ToolError::parameter("`code` is missing"));
        let operation = match self.operation {
            What::Replace => Operation::Replace(code()?),
            What::ReplaceBody => Operation::ReplaceBody(code()?),
            What::InsertBefore => Operation::InsertBefore(code()?),
            What::InsertAfter => Operation::InsertAfter(code()?),
            What::Delete | What::Rename | What::Rewrite => Operation::Delete,
        };
        let (place, target) = self.located(service, caller)?;
        let file = Planned::open(service, caller, changes, place)?;
        let source = file.source()?;
        let made = symbols::find(&source, &target, Want::Declarations).and_then(|symbol| {
            let splices = edits::plan(&source, symbol, &operation)?;
            let after = check::applied(&source, &splices, Around::Definitions)?;
            Ok((after, splices))
        });
        let (after, splices) = made.map_err(|refusal| file.refused(&refusal))?;
        let line = first_line(&source, &splices);
        drop(source);
        file.put(changes, after, line, 1, Vec::new());
        Ok(())
    }

    fn target(&self) -> Target {
        Target { symbol: self.symbol.clone().filter(|name| !name.is_empty()), line: self.line }
    }

    /// The file the symbol is in and how it is called there.
    fn located(&self, service: &FileService, caller: &Caller) -> Result<(Inside, Target), ToolError> {
        let target = self.target();
        if target.symbol.is_none() && (target.line.is_none() || self.file_path.is_none()) {
            return Err(ToolError::parameter("give a `symbol`, or `file_path` and `line`"));
        }
        if let Some(path) = &self.file_path {
            return Ok((service.place(path)?, target));
        }
        let name = target.symbol.clone().unwrap_or_default();
        let (path, line) = service.code.ask_now(&caller.cancel, |index| {
            Ok(unique(index, &name)
                .map(|found| (index.path(found.file).to_owned(), found.definition.at.line)))
        })??;
        Ok((service.place(&path)?, Target { line: Some(line), ..target }))
    }
}

/// The one definition of the workspace that has a name.
fn unique(index: &stepwell_code_intel::index::Index, name: &str) -> Result<DefinitionSite, ToolError> {
    const SHOWN: usize = 20;
    let mut found = Resolver::new(index).definitions_named(name);
    if found.iter().any(|one| !one.definition.is_declaration) {
        found.retain(|one| !one.definition.is_declaration);
    }
    match found.as_slice() {
        [] => {
            let others = similar_names(index, name);
            let advice = if others.is_empty() {
                "give `file_path`, or look with `codebase_search`".to_owned()
            } else {
                format!("there is {}", others.join(", "))
            };
            Err(ToolError::validation(format!(
                "there is no `{name}` in the workspace as far as the index can tell; {advice}"
            )))
        }
        [only] => Ok(only.clone()),
        several => {
            let line = |one: &DefinitionSite| {
                let whole = index.whole(one.file);
                let path = facts::qualified_name(&whole.1, &one.definition);
                format!(
                    "{}:{}: {} {path}",
                    index.path(one.file),
                    one.definition.at.line,
                    one.definition.kind.name()
                )
            };
            let candidates: Vec<String> = several.iter().take(SHOWN).map(line).collect();
            let refusal = Refusal::Ambiguous { name: name.to_owned(), candidates: candidates.join("\n") };
            Err(ToolError::validation(format!("nothing was changed: {refusal}")))
        }
    }
}

/// A file as it will be when what is planned so far is done.
pub struct Planned {
    place: Inside,
    text: String,
    before: Option<Before>,
}

impl Planned {
    fn open(
        service: &FileService,
        caller: &Caller,
        changes: &[Change],
        place: Inside,
    ) -> Result<Self, ToolError> {
        let planned = changes.iter().find(|change| change.place.absolute() == place.absolute());
        if let Some(change) = planned {
            return Ok(Self { place, text: change.new_text().to_owned(), before: None });
        }
        let before = service.open(caller, &place)?;
        Ok(Self { place, text: before.file.text.clone(), before: Some(before) })
    }

    fn source(&self) -> Result<SourceText<'_>, ToolError> {
        SourceText::read(self.place.relative(), &self.text).map_err(|refusal| self.refused(&refusal))
    }

    fn refused(&self, refusal: &Refusal) -> ToolError {
        ToolError::validation(format!("`{}` was not changed: {refusal}", self.place.display()))
    }

    /// Adds the new text to what is planned.
    fn put(self, changes: &mut Vec<Change>, text: String, line: usize, count: usize, notes: Vec<String>) {
        if let Some(change) =
            changes.iter_mut().find(|change| change.place.absolute() == self.place.absolute())
        {
            change.after = Some(like(change.before.as_ref(), text));
            change.line = change.line.map(|first| first.min(line));
            change.replacements += count;
            change.notes.extend(notes);
            change.show = true;
            return;
        }
        let after = like(self.before.as_ref(), text);
        let mut change = Change::new(self.place, self.before, Some(after));
        change.line = Some(line);
        change.replacements = count;
        change.notes = notes;
        change.show = true;
        changes.push(change);
    }
}

fn first_line(source: &SourceText<'_>, splices: &[Splice]) -> usize {
    source.line(splices.iter().map(|splice| splice.range.start).min().unwrap_or(0))
}

/// An edit of a batch: by text, or by structure where it has an `operation`.
#[derive(Clone, Debug)]
pub enum OneEdit {
    Text(EditInput),
    Structure(StructureEditInput),
}

impl OneEdit {
    /// The file it names.
    pub fn path(&self) -> Option<String> {
        match self {
            Self::Text(edit) => Some(edit.file_path.clone()),
            Self::Structure(edit) => edit.file_path.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for OneEdit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let failed = <D::Error as serde::de::Error>::custom;
        if value.get("operation").is_some_and(|operation| !operation.is_null()) {
            return serde_json::from_value(value).map(Self::Structure).map_err(failed);
        }
        serde_json::from_value(value).map(Self::Text).map_err(failed)
    }
}

/// The fields of both, so that names and values of either are mended alike.
impl JsonSchema for OneEdit {
    fn schema_name() -> Cow<'static, str> {
        "OneEdit".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = EditInput::json_schema(generator);
        schema.remove("required");
        schema.remove("description");
        let others = StructureEditInput::json_schema(generator);
        let fields = others.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            for (name, mut field) in fields {
                if let Some(field) = field.as_object_mut() {
                    field.remove("description");
                    field.remove("x-aliases");
                }
                properties.entry(name).or_insert(field);
            }
        }
        schema
    }
}
