//! Rust.

mod facts;
mod resolve;

use super::outlined::OUTLINED;
use super::{Language, LanguageDefinition, LanguageServer};
use crate::facts::Kind;
use crate::lsp::ReadyBy;

pub(crate) use resolve::is_alike;

pub(super) const RUST: LanguageDefinition = LanguageDefinition {
    name: "Rust",
    id: "rust",
    endings: &["rs"],
    items: &[
        "pub",
        "fn",
        "struct",
        "enum",
        "trait",
        "impl",
        "mod",
        "use",
        "const",
        "static",
        "type",
        "unsafe",
        "async",
        "extern",
        "macro_rules!",
    ],
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    facts: &facts::RULES,
    rules: |resolver| Box::new(resolve::Rust(resolver)),
    contexts: &[
        ("fn stepwellcontext() {\n", "\n}"),
        ("", ""),
        ("impl StepwellContext {\n", "\n}"),
        ("struct StepwellContext {\n", "\n}"),
    ],
    listed_kind: |definition| (definition.kind == Kind::Macro).then_some("function"),
    servers: &[LanguageServer {
        project: &["Cargo.toml", "rust-project.json"],
        // A compiler run on every change would take the machine for answers nobody waits for.
        initialization: || serde_json::json!({"checkOnSave": false, "cachePriming": {"enable": false}}),
        ..LanguageServer::new("rust-analyzer", &[Language::Rust], "rust-analyzer", ReadyBy::ServerStatus)
    }],
    ..OUTLINED
};
