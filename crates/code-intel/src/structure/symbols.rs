//! What a name or a line means in one file.

use std::ops::Range;

use super::extent::Extent;
use super::{Refusal, Result, SourceText};
use crate::facts::{self, Definition, Kind};

/// How a symbol to edit is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// `name` or `Type.member`.
    pub symbol: Option<String>,
    /// A line of it, from 1.
    pub line: Option<u32>,
}

/// A definition of a file, by its index in [`facts::Facts::definitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol(pub usize);

impl Symbol {
    pub fn definition<'s>(self, source: &'s SourceText<'_>) -> &'s Definition {
        &source.facts.definitions[self.0]
    }

    /// Its qualified name.
    pub fn path(self, source: &SourceText<'_>) -> String {
        facts::described(&source.facts, self.0 as u32)
    }
}

/// Which symbols an operation applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// What can stand for itself: no parameters.
    Declarations,
    /// Anything that has a name.
    Names,
}

/// Finds the one symbol that a target names.
pub fn find(source: &SourceText<'_>, target: &Target, want: Want) -> Result<Symbol> {
    let definitions = &source.facts.definitions;
    let is_wanted = |definition: &Definition| {
        want == Want::Names || !matches!(definition.kind, Kind::Parameter | Kind::TypeParameter)
    };
    let all = || (0..definitions.len()).filter(|place| is_wanted(&definitions[*place]));
    let Some(name) = target.symbol.as_deref().filter(|name| !name.is_empty()) else {
        let line = target.line.ok_or(Refusal::NoSymbol { name: String::new(), near: String::new() })?;
        return at_line(source, all().collect(), line, want);
    };
    let wanted = name.replace("::", ".").replace('#', ".");
    let mut found: Vec<usize> = all().filter(|place| is_named(source, *place, &wanted)).collect();
    if let Some(line) = target.line {
        let near: Vec<usize> =
            found.iter().copied().filter(|place| definitions[*place].at.line == line).collect();
        let around = || {
            let bytes = bytes_of_line(source, line);
            let spans = |place: &usize| touches(&definitions[*place], &bytes);
            found.iter().copied().filter(spans).collect()
        };
        found = if near.is_empty() { around() } else { near };
    }
    // What is known everywhere is meant before what is known in one function, and a body before its prototype.
    for is_better in [
        (|definition: &Definition| definition.scope.is_none()) as fn(&Definition) -> bool,
        |definition| !definition.is_declaration,
        |definition| definition.kind != Kind::Module || !definition.is_declaration,
    ] {
        if found.iter().any(|place| is_better(&definitions[*place])) {
            found.retain(|place| is_better(&definitions[*place]));
        }
    }
    // Several names may stand for the same place: a parameter that is a field, a variable that is assigned again.
    found.dedup_by_key(|place| definitions[*place].name_span);
    match found.as_slice() {
        [] => Err(Refusal::NoSymbol { name: name.to_owned(), near: near(source, &wanted) }),
        [only] => Ok(Symbol(*only)),
        several => {
            // The same variable assigned again is one thing, and the first assignment is its definition.
            let first = several[0];
            let is_variable = |place: &usize| {
                let definition = &definitions[*place];
                matches!(definition.kind, Kind::Variable | Kind::Field | Kind::Constant)
                    && definition.scope == definitions[first].scope
                    && definition.container == definitions[first].container
            };
            if want == Want::Names && several.iter().all(is_variable) {
                return Ok(Symbol(first));
            }
            Err(Refusal::Ambiguous { name: name.to_owned(), candidates: listed(source, several) })
        }
    }
}

fn is_named(source: &SourceText<'_>, place: usize, wanted: &str) -> bool {
    let definition = &source.facts.definitions[place];
    let last = wanted.rsplit('.').next().unwrap_or(wanted);
    if definition.name != last && definition.name != wanted {
        return false;
    }
    let path = facts::described(&source.facts, place as u32).replace("::", ".");
    definition.name == wanted || path == wanted || path.ends_with(&format!(".{wanted}"))
}

/// The definition whose name stands on a line, else the innermost function or type around it.
fn at_line(source: &SourceText<'_>, all: Vec<usize>, line: u32, want: Want) -> Result<Symbol> {
    let definitions = &source.facts.definitions;
    let mut named: Vec<usize> =
        all.iter().copied().filter(|place| definitions[*place].at.line == line).collect();
    if want == Want::Declarations {
        named.retain(|place| is_statement(source, &definitions[*place]));
    }
    // Of several on a line the one that reaches furthest is meant: `class A { int b; }`.
    if let Some(widest) =
        named.iter().copied().max_by_key(|place| (definitions[*place].span.len(), usize::MAX - *place))
    {
        return Ok(Symbol(widest));
    }
    let bytes = bytes_of_line(source, line);
    let around = all.into_iter().filter(|place| {
        let definition = &definitions[*place];
        (definition.is_callable() || definition.kind.is_type() || definition.kind == Kind::Module)
            && touches(definition, &bytes)
    });
    around.min_by_key(|place| definitions[*place].span.len()).map(Symbol).ok_or(Refusal::NothingAt(line))
}

/// Whether a line can stand for a definition: a local name counts where the line begins with what declares it. That of a
/// comprehension is a part of an expression, and who gives its line means what is around it.
fn is_statement(source: &SourceText<'_>, definition: &Definition) -> bool {
    if definition.scope.is_none() || definition.is_callable() || definition.kind.is_type() {
        return true;
    }
    Extent::of(source, definition).is_some_and(|extent| {
        let start = extent.outer.start_byte();
        source.slice(source.line_start(start)..start).trim().is_empty()
    })
}

/// The bytes of a line, with its line break.
fn bytes_of_line(source: &SourceText<'_>, line: u32) -> Range<usize> {
    let mut lines = source.text.split_inclusive('\n');
    let start = lines.by_ref().take(line.saturating_sub(1) as usize).map(str::len).sum();
    start..start + lines.next().map_or(0, str::len)
}

fn touches(definition: &Definition, bytes: &Range<usize>) -> bool {
    (definition.span.start as usize) < bytes.end && bytes.start < definition.span.end as usize
}

/// Candidates, one a line.
fn listed(source: &SourceText<'_>, places: &[usize]) -> String {
    const SHOWN: usize = 20;
    let lines = places.iter().take(SHOWN).map(|place| {
        let definition = &source.facts.definitions[*place];
        let path = facts::described(&source.facts, *place as u32);
        format!("line {}: {} {path}", definition.at.line, definition.kind.name())
    });
    let more = if places.len() > SHOWN { "\n…" } else { "" };
    format!("{}{more}", lines.collect::<Vec<_>>().join("\n"))
}

/// What the file has instead of a name that is not there.
fn near(source: &SourceText<'_>, wanted: &str) -> String {
    const SHOWN: usize = 5;
    let last = wanted.rsplit('.').next().unwrap_or(wanted).to_lowercase();
    let mut names: Vec<String> = Vec::new();
    for (place, definition) in source.facts.definitions.iter().enumerate() {
        let name = definition.name.to_lowercase();
        let is_near = !name.is_empty() && (name == last || name.contains(&last) || last.contains(&name));
        if is_near && definition.scope.is_none() && names.len() < SHOWN {
            names.push(format!("`{}`", facts::described(&source.facts, place as u32)));
        }
    }
    if names.is_empty() {
        "; `ast_find_symbols` lists what is".to_owned()
    } else {
        format!("; there is {}", names.join(", "))
    }
}
