//! Python.

mod facts;
mod resolve;

use super::outlined::OUTLINED;
use super::{Language, LanguageDefinition, LanguageServer};
use crate::lsp::ReadyBy;

const LANGUAGES: &[Language] = &[Language::Python];

pub(super) const PYTHON: LanguageDefinition = LanguageDefinition {
    name: "Python",
    id: "python",
    endings: &["py", "pyi", "pyw"],
    names: &["sconstruct", "sconscript"],
    programs: &["python", "python2", "python3"],
    items: &["def", "class", "async"],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    facts: &facts::RULES,
    rules: |resolver| Box::new(resolve::Python(resolver)),
    has_semicolons: false,
    servers: &[
        LanguageServer::new("basedpyright", LANGUAGES, "basedpyright-langserver --stdio", ReadyBy::Answering),
        LanguageServer::new("pyright", LANGUAGES, "pyright-langserver --stdio", ReadyBy::Answering),
        LanguageServer::new("pylsp", LANGUAGES, "pylsp", ReadyBy::Answering),
        LanguageServer::new("jedi", LANGUAGES, "jedi-language-server", ReadyBy::Answering),
    ],
    ..OUTLINED
};
