//! Java.

mod facts;
mod resolve;

use super::outlined::OUTLINED;
use super::{Language, LanguageDefinition, LanguageServer};
use crate::lsp::ReadyBy;

/// What may stand around a pattern.
pub(super) const CONTEXTS: &[(&str, &str)] = &[
    ("class StepwellContext { void stepwellcontext() {\n", "\n} }"),
    ("class StepwellContext { void stepwellcontext() {\n", ";\n} }"),
    ("class StepwellContext {\n", "\n}"),
    ("", ""),
];

pub(super) const JAVA: LanguageDefinition = LanguageDefinition {
    name: "Java",
    id: "java",
    endings: &["java"],
    grammar: || tree_sitter_java::LANGUAGE.into(),
    facts: &facts::RULES,
    rules: |resolver| Box::new(resolve::Java(resolver)),
    contexts: CONTEXTS,
    servers: &[LanguageServer::new("jdtls", &[Language::Java], "jdtls", ReadyBy::LanguageStatus)],
    ..OUTLINED
};
