//! A name changed everywhere it means the same, planned through the index.

use stepwell_code_intel::Error;
use stepwell_code_intel::index::{FileId, Index};
use stepwell_code_intel::resolve::{DefinitionSite, Resolution, Resolver};
use stepwell_code_intel::structure::rename::{
    self, Rename, RenameSite, RenamedFile, SiteCertainty, UncertainSites,
};
use stepwell_code_intel::structure::symbols::{self, Target, Want};
use stepwell_code_intel::structure::{Refusal, SourceText};
use stepwell_tool_runtime::{ToolError, counted};

use super::{Planned, StructureEditInput, unique};
use crate::files::service::{Caller, Change, FileService};

/// Places that are listed.
const LISTED: usize = 100;

/// A rename as it is to be made: the files by their paths, and what is to be said.
struct Prepared {
    files: Vec<(String, RenamedFile, Vec<String>)>,
    rest: Vec<String>,
}

impl StructureEditInput {
    pub(super) fn plan_rename(
        &self,
        service: &FileService,
        caller: &Caller,
        changes: &mut Vec<Change>,
    ) -> Result<(), ToolError> {
        let new_name =
            self.new_name.as_deref().ok_or_else(|| ToolError::parameter("`new_name` is missing"))?;
        let target = self.target();
        if target.symbol.is_none() && (target.line.is_none() || self.file_path.is_none()) {
            return Err(ToolError::parameter("give a `symbol`, or `file_path` and `line`"));
        }
        let unsure = if self.include_unsure { UncertainSites::Rename } else { UncertainSites::LeaveAlone };
        let prepared = service.code.ask_now(&caller.cancel, |index| {
            let found = self.meant(index, &target)?;
            Ok(found.and_then(|found| {
                let made = rename::plan(index, &found, new_name, unsure);
                made.map(|made| prepared(index, made, unsure)).map_err(|refusal| {
                    ToolError::validation(format!("`{}` was not renamed: {refusal}", found.definition.name))
                })
            }))
        })??;
        let mut rest = prepared.rest;
        for (path, renamed, mut notes) in prepared.files {
            let place = service.place(&path)?;
            if changes.iter().any(|change| change.place.absolute() == place.absolute()) {
                return Err(ToolError::validation(format!(
                    "an edit before the rename changes `{path}` too; make the rename the first edit, or a call of its own"
                )));
            }
            let file = Planned::open(service, caller, changes, place)?;
            if file.text != renamed.before {
                return Err(ToolError::execution(format!(
                    "`{path}` was changed by someone else at this very moment; nothing was changed; try again"
                )));
            }
            let line = renamed.splices.first().map_or(1, |splice| {
                renamed.before.get(..splice.range.start).unwrap_or_default().matches('\n').count() + 1
            });
            notes.append(&mut rest);
            file.put(changes, renamed.after, line, renamed.splices.len(), notes);
        }
        Ok(())
    }

    /// The definition that is to be renamed: named, or found by a place where its name stands.
    fn meant(&self, index: &Index, target: &Target) -> Result<Result<DefinitionSite, ToolError>, Error> {
        let Some(path) = &self.file_path else {
            return Ok(unique(index, target.symbol.as_deref().unwrap_or_default()));
        };
        let file = index.named(path)?;
        let whole = index.whole(file);
        let Some(language) = index.entry(file).and_then(|entry| entry.language) else {
            return Ok(Err(told(path, &Refusal::UnknownLanguage)));
        };
        let source = match SourceText::of(language, &whole.0) {
            Ok(source) => source,
            Err(refusal) => return Ok(Err(told(path, &refusal))),
        };
        match symbols::find(&source, target, Want::Names) {
            Ok(symbol) => Ok(Ok(DefinitionSite { file, definition: symbol.definition(&source).clone() })),
            Err(refusal) => Ok(used(index, file, target).ok_or_else(|| told(path, &refusal))),
        }
    }
}

fn told(path: &str, refusal: &Refusal) -> ToolError {
    ToolError::validation(format!("`{path}` was not changed: {refusal}"))
}

/// The one definition that a name means which is only used on a line.
fn used(index: &Index, file: FileId, target: &Target) -> Option<DefinitionSite> {
    let (name, line) = (target.symbol.as_deref()?, target.line?);
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    let whole = index.whole(file);
    let occurrence =
        whole.1.occurrences.iter().find(|one| one.at.line == line && one.span.of(&whole.0) == last)?;
    let meaning = Resolver::new(index).definition_at(file, line, occurrence.at.column).ok()?;
    match meaning {
        Resolution::Found(found, _) if found.len() == 1 => found.into_iter().next(),
        Resolution::Found(..) | Resolution::External | Resolution::Unknown => None,
    }
}

/// The files of a rename with what is said about each, and what is said about the rest.
fn prepared(index: &Index, made: Rename, unsure: UncertainSites) -> Prepared {
    let line_of = |place: &RenameSite| {
        let whole = index.whole(place.file);
        let line: String = whole
            .0
            .lines()
            .nth(place.at.line.saturating_sub(1) as usize)
            .unwrap_or_default()
            .trim()
            .chars()
            .take(120)
            .collect();
        format!("{}:{}: {}: {line}", index.path(place.file), place.at.line, place.sure.words())
    };
    let is_changed =
        |place: &RenameSite| place.sure == SiteCertainty::Resolved || unsure == UncertainSites::Rename;
    let mut listed = 0;
    let mut shown = |place: &RenameSite| {
        listed += 1;
        (listed <= LISTED).then(|| line_of(place))
    };
    let mut files = Vec::new();
    for renamed in made.files {
        let here = made.places.iter().filter(|place| place.file == renamed.file && is_changed(place));
        let notes = here.filter_map(&mut shown).map(|line| format!("renamed {line}")).collect();
        files.push((index.path(renamed.file).to_owned(), renamed, notes));
    }
    let left: Vec<&RenameSite> = made.places.iter().filter(|place| !is_changed(place)).collect();
    let mut rest: Vec<String> =
        left.iter().filter_map(|place| shown(place)).map(|line| format!("left alone {line}")).collect();
    if made.places.len() > LISTED {
        rest.push(format!("{} more places are not listed", made.places.len() - LISTED));
    }
    if !left.is_empty() {
        rest.push("set `include_unsure` to rename what was left alone too".to_owned());
    }
    let mentions: Vec<String> =
        made.mentions.iter().take(20).map(|(file, line)| format!("{}:{line}", index.path(*file))).collect();
    if !mentions.is_empty() {
        let count = counted(made.mentions.len() as u64, "line");
        rest.push(format!("{count} with the old name in comments or texts stay: {}", mentions.join(", ")));
    }
    Prepared { files, rest }
}
