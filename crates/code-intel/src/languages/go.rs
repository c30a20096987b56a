//! Go.

mod facts;
mod resolve;

use super::outlined::OUTLINED;
use super::{Language, LanguageDefinition, LanguageServer};
use crate::facts::{Definition, Kind};
use crate::lsp::ReadyBy;

pub(crate) use resolve::GoModule;

pub(super) const GO: LanguageDefinition = LanguageDefinition {
    name: "Go",
    id: "go",
    endings: &["go"],
    items: &["func", "type", "var", "const"],
    grammar: || tree_sitter_go::LANGUAGE.into(),
    facts: &facts::RULES,
    rules: |resolver| Box::new(resolve::Go(resolver)),
    indentation: "\t",
    has_semicolons: false,
    contexts: &[
        ("package stepwellcontext\nfunc stepwellcontext() {\n", "\n}\n"),
        ("package stepwellcontext\n", "\n"),
        ("", ""),
    ],
    listed_kind,
    servers: &[LanguageServer {
        project: &["go.mod", "go.work"],
        ..LanguageServer::new("gopls", &[Language::Go], "gopls", ReadyBy::Progress)
    }],
    ..OUTLINED
};

fn listed_kind(definition: &Definition) -> Option<&'static str> {
    match definition.kind {
        Kind::Type if definition.declared.starts_with("func") => Some("function"),
        Kind::Type | Kind::Union => Some("class"),
        _ => None,
    }
}
