//! Code of a form rewritten, in one file or in many.

use std::collections::HashMap;

use stepwell_code_intel::languages::Language;
use stepwell_code_intel::structure::SourceText;
use stepwell_code_intel::structure::check::{self, Around};
use stepwell_code_intel::structure::pattern::Pattern;
use stepwell_tool_runtime::{ToolError, counted};
use stepwell_workspace::Inside;
use stepwell_workspace::search::{NameQuery, WalkRules};

use super::{Planned, StructureEditInput, first_line};
use crate::files::LARGEST_EDIT;
use crate::files::service::{Caller, Change, FileService};

const MOST_FILES: usize = 20_000;
const MOST_PLACES: usize = 5_000;

impl StructureEditInput {
    pub(super) fn plan_rewrite(
        &self,
        service: &FileService,
        caller: &Caller,
        changes: &mut Vec<Change>,
    ) -> Result<(), ToolError> {
        let missing = |what: &str| ToolError::parameter(format!("`{what}` is missing"));
        let pattern = self.pattern.as_deref().ok_or_else(|| missing("pattern"))?;
        let replacement = self.code.as_deref().ok_or_else(|| missing("code"))?;
        let places = self.rewritten_places(service, caller)?;
        let mut patterns: HashMap<Language, Result<Pattern, ToolError>> = HashMap::new();
        let (mut looked_at, mut found) = (0, 0);
        let mut last_error = None;
        for place in places {
            if caller.cancel.is_cancelled() {
                return Err(ToolError::execution("it was cancelled; nothing was changed"));
            }
            let Some(text) = text_of(service, changes, &place) else { continue };
            let Some(language) = Language::detect(place.relative(), &text) else { continue };
            let parsed = patterns.entry(language).or_insert_with(|| {
                Pattern::parse(language, pattern)
                    .map_err(|refusal| ToolError::validation(refusal.to_string()))
            });
            let parsed = match parsed {
                Ok(parsed) => parsed,
                Err(error) => {
                    last_error = Some(error.clone());
                    continue;
                }
            };
            looked_at += 1;
            if !parsed.may_be_in(&text) {
                continue;
            }
            let count = rewrite(service, caller, changes, place, parsed, replacement)?;
            found += count;
            if found > MOST_PLACES {
                return Err(ToolError::validation(format!(
                    "the pattern fits more than {MOST_PLACES} places; nothing was changed; narrow `glob`"
                )));
            }
        }
        match (found, last_error, looked_at) {
            (0, Some(error), 0) => Err(error),
            (0, _, 0) => {
                Err(ToolError::validation("there is no file of a known language there; nothing was changed"))
            }
            (0, ..) => Err(ToolError::validation(format!(
                "the pattern fits nothing in {}; nothing was changed",
                counted(looked_at, "file")
            ))),
            _ => Ok(()),
        }
    }

    /// The files that are looked at, in the order of their names.
    fn rewritten_places(&self, service: &FileService, caller: &Caller) -> Result<Vec<Inside>, ToolError> {
        if let Some(path) = &self.file_path {
            let place = service.place(path)?;
            service.workspace.peek(&place).map_err(|error| service.explained(&place, error))?;
            return Ok(vec![place]);
        }
        let glob = self.glob.clone().filter(|glob| !glob.trim().is_empty());
        let pattern =
            glob.ok_or_else(|| ToolError::parameter("give `file_path` or a `glob` of the files to rewrite"))?;
        let root = service.place(".")?;
        let query = NameQuery { pattern, limit: MOST_FILES };
        let is_cancelled = || caller.cancel.is_cancelled();
        let found = service.workspace.find_files(&root, &query, &WalkRules::default(), &is_cancelled);
        let found = found.map_err(|error| service.explained(&root, error))?;
        if found.is_cut || found.files.len() >= MOST_FILES {
            return Err(ToolError::validation("`glob` fits too many files; nothing was changed; narrow it"));
        }
        let mut paths: Vec<String> = found.files.iter().map(|file| file.path.display().to_string()).collect();
        paths.sort();
        paths.iter().map(|path| service.place(path)).collect()
    }
}

/// The text of a file as it is planned or as it is; `None` where it is none.
fn text_of(service: &FileService, changes: &[Change], place: &Inside) -> Option<String> {
    let planned = changes.iter().find(|change| change.place.absolute() == place.absolute());
    match planned {
        Some(change) => Some(change.new_text().to_owned()),
        None => service.workspace.read_text(place, LARGEST_EDIT).ok().map(|file| file.text),
    }
}

/// Rewrites one file; how many places.
fn rewrite(
    service: &FileService,
    caller: &Caller,
    changes: &mut Vec<Change>,
    place: Inside,
    pattern: &Pattern,
    replacement: &str,
) -> Result<usize, ToolError> {
    let file = Planned::open(service, caller, changes, place)?;
    let source: SourceText<'_> = file.source()?;
    let refused = |refusal| file.refused(&refusal);
    let matches = pattern.matches(&source).map_err(refused)?;
    if matches.is_empty() {
        return Ok(0);
    }
    let splices = pattern.rewrite(&source, &matches, replacement).map_err(refused)?;
    let after = check::applied(&source, &splices, Around::Syntax).map_err(refused)?;
    let line = first_line(&source, &splices);
    drop(source);
    file.put(changes, after, line, matches.len(), Vec::new());
    Ok(matches.len())
}
