//! Which branches of `#if` are compiled on this machine.

use std::collections::HashMap;
use std::rc::Rc;

use super::C;
use crate::facts::{Definition, Span};
use crate::index::FileId;
use crate::languages::Language;
use crate::preprocessor::{Macros, left_out, system};
use crate::resolve::DefinitionSite;

/// What is read of included files for one, at most.
const MOST_FILES: usize = 300;
const MOST_BYTES: usize = 8 << 20;
const DEEPEST: usize = 40;

/// What may still be read.
struct Budget {
    files: usize,
    bytes: usize,
}

impl C<'_, '_> {
    /// The bytes of a file that the preprocessor leaves out.
    pub(super) fn skipped_spans(&self, file: FileId) -> Rc<[Span]> {
        if let Some(known) = self.inactive_spans.borrow().get(&file) {
            return Rc::clone(known);
        }
        let language = if self.is_cpp(file) { Language::Cpp } else { Language::C };
        let mut macros = Macros::of_compiler(language);
        for flag in self.index.compile_flags(file).iter() {
            macros.obey(flag);
        }
        let mut budget = Budget { files: MOST_FILES, bytes: MOST_BYTES };
        let spans: Rc<[Span]> = self.preprocess(file, &mut macros, &mut budget, DEEPEST).into();
        self.inactive_spans.borrow_mut().insert(file, Rc::clone(&spans));
        spans
    }

    fn preprocess(&self, file: FileId, macros: &mut Macros, budget: &mut Budget, depth: usize) -> Vec<Span> {
        let text = self.index.source(file);
        if depth == 0 || budget.files == 0 || budget.bytes < text.len() {
            return Vec::new();
        }
        budget.files -= 1;
        budget.bytes -= text.len();
        let mut include = |path: &str, macros: &mut Macros| match self.module_files(file, path).first() {
            Some(included) => drop(self.preprocess(*included, macros, budget, depth - 1)),
            None => macros.include_system(path),
        };
        left_out(&text, macros, &mut include)
    }

    /// Of definitions in one file those that are built, where some are.
    pub(super) fn built<'d>(&self, file: FileId, found: Vec<&'d Definition>) -> Vec<&'d Definition> {
        let spans = self.skipped_spans(file);
        let is_built = |one: &Definition| !spans.iter().any(|span| span.contains(one.name_span.start));
        if found.iter().all(|one| is_built(one)) || !found.iter().any(|one| is_built(one)) {
            return found;
        }
        found.into_iter().filter(|one| is_built(one)).collect()
    }

    /// Whether a name is one of a header of the system, and what was found only stands in for it where there is none:
    /// it is not built, or behind `#ifndef` of the same name.
    pub(super) fn is_of_system(&self, file: FileId, name: &str, found: &[DefinitionSite]) -> bool {
        if !system::is_known(name) {
            return false;
        }
        let includes = |file| self.index.imports(file).any(|header| system::gives(header, name));
        let stands_in = |one: &DefinitionSite| {
            let at = one.definition.name_span.start;
            self.skipped_spans(one.file).iter().any(|span| span.contains(at))
                || is_guarded(self.index.source(one.file).get(..at as usize).unwrap_or_default(), name)
        };
        (includes(file) || found.iter().any(|one| includes(one.file))) && found.iter().all(stands_in)
    }

    /// Of definitions of one name in several files those that are built, where a file has more than one.
    pub(super) fn built_in_each(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        let mut counts: HashMap<FileId, usize> = HashMap::new();
        for one in &found {
            *counts.entry(one.file).or_default() += 1;
        }
        if counts.values().all(|count| *count < 2) {
            return found;
        }
        let mut built = Vec::new();
        for one in &found {
            let same: Vec<&Definition> =
                found.iter().filter(|other| other.file == one.file).map(|other| &other.definition).collect();
            if same.len() < 2 || self.built(one.file, same).contains(&&one.definition) {
                built.push(one.clone());
            }
        }
        built
    }
}

/// Whether the last directive before a definition asks whether there is such a name already.
fn is_guarded(before: &str, name: &str) -> bool {
    let lines = before.lines().rev().skip(1);
    let directive = lines.map(str::trim_start).find_map(|line| line.strip_prefix('#'));
    let asked = directive.map(str::trim_start).and_then(|line| {
        let rest = line
            .strip_prefix("ifndef")
            .or_else(|| line.strip_prefix("if")?.trim().strip_prefix("!defined"))?;
        Some(rest.trim_matches(|character: char| character.is_whitespace() || matches!(character, '(' | ')')))
    });
    asked.is_some_and(|asked| asked.split_whitespace().next() == Some(name))
}
