//! JavaScript and TypeScript.

mod facts;
mod resolve;

use super::outlined::OUTLINED;
use super::{Language, LanguageDefinition, LanguageServer};
use crate::lsp::ReadyBy;

pub(crate) use facts::separated;
pub(crate) use resolve::Bound;

const LANGUAGES: &[Language] = &[Language::TypeScript, Language::Tsx, Language::JavaScript];

pub(super) const JAVA_SCRIPT: LanguageDefinition = LanguageDefinition {
    name: "JavaScript",
    id: "javascript",
    endings: &["js", "mjs", "cjs", "jsx"],
    programs: &["node", "nodejs", "bun"],
    items: &["export", "function", "class", "interface", "enum", "async", "import"],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    facts: &facts::RULES,
    rules: |resolver| Box::new(resolve::Script(resolver)),
    indentation: "  ",
    contexts: &[("", ""), ("class StepwellContext {\n", "\n}"), ("(", ")")],
    ..OUTLINED
};

pub(super) const TSX: LanguageDefinition = LanguageDefinition {
    name: "TSX",
    id: "typescriptreact",
    endings: &["tsx"],
    programs: &[],
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    facts: &facts::TYPED_RULES,
    ..JAVA_SCRIPT
};

pub(super) const TYPE_SCRIPT: LanguageDefinition = LanguageDefinition {
    name: "TypeScript",
    id: "typescript",
    endings: &["ts", "mts", "cts"],
    programs: &["deno", "ts-node", "tsx"],
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    servers: &[
        LanguageServer::new("vtsls", LANGUAGES, "vtsls --stdio", ReadyBy::Progress),
        LanguageServer::new("typescript", LANGUAGES, "typescript-language-server --stdio", ReadyBy::Progress),
    ],
    ..TSX
};
