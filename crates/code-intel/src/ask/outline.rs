//! Questions about one file: its symbols, its imports, the source of one of its functions.

use std::rc::Rc;

use super::Ask;
use super::answers::{
    Excerpt, Excerpts, ImportStatement, Imports, IndexStatus, OmittedFile, Symbol, Symbols,
};
use crate::error::{Error, Result};
use crate::facts::{self, Definition, Kind, Span};
use crate::languages::Language;
use crate::resolve::Resolver;

/// Which symbols of a file are listed.
#[derive(Clone, Copy, Debug)]
pub enum SymbolFilter<'k> {
    /// Everything but local variables and parameters.
    Outline,
    /// Symbols of these kinds, local ones too.
    Kinds(&'k [Kind]),
    /// What a language server lists for these kinds, in its few kinds and with its names; all symbols for none.
    AsLanguageServer(&'k [String]),
}

impl Ask<'_> {
    /// Lists what a file defines.
    pub fn symbols(&self, file: &str, filter: SymbolFilter<'_>) -> Result<Symbols> {
        let id = self.index.named(file)?;
        let whole = self.index.whole(id);
        let language = self.index.entry(id).and_then(|entry| entry.language);
        let hidden = match filter {
            SymbolFilter::AsLanguageServer(kinds) if !kinds.is_empty() => match language {
                // rust-analyzer lists nothing inside a macro, clangd only what is compiled.
                Some(Language::Rust) => facts::items_in_macros(&whole.0).into(),
                _ => Resolver::new(self.index).inactive_spans(id),
            },
            _ => Rc::<[Span]>::default(),
        };
        let is_listed = |place: usize, definition: &Definition| match filter {
            SymbolFilter::Outline => {
                definition.scope.is_none()
                    || definition.kind.is_callable()
                    || definition.kind == Kind::Class
                    || language == Some(Language::Toml)
            }
            SymbolFilter::Kinds(kinds) => kinds.contains(&definition.kind),
            SymbolFilter::AsLanguageServer([]) => true,
            SymbolFilter::AsLanguageServer(kinds) => {
                kinds.iter().any(|kind| kind == broad_kind(language, definition))
                    && !hidden.iter().any(|span| span.contains(definition.span.start))
                    // pyright lists only the last definition of a name.
                    && !(language == Some(Language::Python) && whole.1.is_defined_again(place))
            }
        };
        let listed = whole.1.definitions.iter().enumerate();
        let listed = listed.filter(|(place, definition)| is_listed(*place, definition));
        let symbols = listed.map(|(place, definition)| Symbol {
            name: match filter {
                SymbolFilter::AsLanguageServer(_) => listed_name(language, definition, &whole.0).to_owned(),
                SymbolFilter::Outline | SymbolFilter::Kinds(_) => definition.name.clone(),
            },
            path: facts::described(&whole.1, place as u32),
            kind: definition.kind.name(),
            line: definition.at.line,
            column: definition.at.column,
            last_line: definition.last_line,
            signature: facts::signature(&whole.0, definition),
            doc: facts::doc_line(&whole.0, definition),
        });
        Ok(Symbols { symbols: symbols.collect() })
    }

    /// Lists what a file imports.
    pub fn imports(&self, file: &str) -> Result<Imports> {
        let outline = self.index.outline(self.index.named(file)?);
        let imports = outline.imports.iter().filter(|import| !import.module.is_empty());
        let imports = imports.map(|import| ImportStatement {
            module: import.module.clone(),
            line: import.line,
            names: import.names.iter().map(|name| name.alias.clone()).collect(),
        });
        Ok(Imports { imports: imports.collect() })
    }

    /// Gives the source of the functions, types and properties of a file that have a name, also as `Type.name`.
    pub fn excerpts(&self, file: &str, name: &str) -> Result<Excerpts> {
        let id = self.index.named(file)?;
        let whole = self.index.whole(id);
        let wanted = name.replace("::", ".");
        let excerpts = whole.1.definitions.iter().enumerate().filter_map(|(place, definition)| {
            let path = facts::described(&whole.1, place as u32);
            let fits = definition.name == wanted || path == wanted || path.ends_with(&format!(".{wanted}"));
            let is_shown =
                definition.is_callable() || definition.kind.is_type() || definition.kind == Kind::Property;
            (fits && is_shown).then(|| Excerpt {
                file: self.index.path(id).to_owned(),
                line: definition.at.line,
                text: facts::whole(&whole.0, definition).of(&whole.0).to_owned(),
                path,
            })
        });
        let excerpts: Vec<Excerpt> = excerpts.collect();
        if excerpts.is_empty() {
            return Err(Error::NotThere {
                what: format!("`{}` defines no function or type `{name}`", self.index.path(id)),
                near: "`ast_find_symbols` lists what it does".to_owned(),
            });
        }
        Ok(Excerpts { excerpts })
    }

    /// Counts the files of the index and lists those it leaves out.
    pub fn status(&self) -> IndexStatus {
        let omitted = self.index.entries().filter_map(|(_, entry)| {
            Some(OmittedFile { file: entry.path.clone(), reason: entry.omission?.reason() })
        });
        let mut omitted: Vec<OmittedFile> = omitted.collect();
        omitted.sort_unstable();
        IndexStatus { files: self.index.entries().count(), omitted }
    }
}

/// The kind of a definition among the few kinds of language servers.
fn broad_kind(language: Option<Language>, definition: &Definition) -> &'static str {
    let listed = language.and_then(|language| (language.definition().listed_kind)(definition));
    listed.unwrap_or(match definition.kind {
        Kind::Constructor | Kind::Property => "method",
        kind => kind.name(),
    })
}

/// The name of a definition as language servers list it: that of a template's specialization is `Name<int>`.
fn listed_name<'d>(language: Option<Language>, definition: &'d Definition, text: &'d str) -> &'d str {
    let from = definition.name_span.start as usize;
    let after = text.get(definition.name_span.end as usize..).unwrap_or_default();
    if language != Some(Language::Cpp) || !definition.kind.is_type() || !after.starts_with('<') {
        return &definition.name;
    }
    let mut depth = 0_usize;
    for (at, character) in after.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => depth -= 1,
            '{' | ';' => break,
            _ => {}
        }
        if depth == 0 {
            let end = definition.name_span.end as usize + at + 1;
            return text.get(from..end).unwrap_or(&definition.name);
        }
    }
    &definition.name
}
