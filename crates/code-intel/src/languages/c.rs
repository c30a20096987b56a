//! C and C++.

mod facts;
mod resolve;

use super::outlined::OUTLINED;
use super::{Language, LanguageDefinition, LanguageServer};
use crate::facts::{Definition, Kind};
use crate::lsp::ReadyBy;

pub(super) const C: LanguageDefinition = LanguageDefinition {
    name: "C",
    id: "c",
    endings: &["c", "h"],
    items: &[
        "static",
        "struct",
        "class",
        "enum",
        "union",
        "typedef",
        "void",
        "int",
        "char",
        "bool",
        "unsigned",
        "long",
        "const",
        "extern",
        "template",
        "namespace",
        "inline",
        "double",
        "float",
        "size_t",
        "auto",
    ],
    grammar: || tree_sitter_c::LANGUAGE.into(),
    facts: &facts::RULES,
    rules: |resolver| Box::new(resolve::C(resolver)),
    contexts: &[
        ("void stepwellcontext() {\n", "\n}"),
        ("void stepwellcontext() {\n", ";\n}"),
        ("", ""),
        ("struct stepwellcontext {\n", "\n};"),
    ],
    listed_kind,
    servers: &[LanguageServer {
        project: &["compile_commands.json", "build/compile_commands.json"],
        ..LanguageServer::new(
            "clangd",
            &[Language::C, Language::Cpp],
            "clangd --log=error",
            ReadyBy::Progress,
        )
    }],
    ..OUTLINED
};

pub(super) const CPP: LanguageDefinition = LanguageDefinition {
    name: "C++",
    id: "cpp",
    endings: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "ipp"],
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    contexts: &[
        ("void stepwellcontext() {\n", "\n}"),
        ("void stepwellcontext() {\n", ";\n}"),
        ("", ""),
        ("class stepwellcontext {\n", "\n};"),
    ],
    servers: &[],
    ..C
};

fn listed_kind(definition: &Definition) -> Option<&'static str> {
    match definition.kind {
        // clangd lists nothing inside a function.
        _ if definition.scope.is_some() => Some("local"),
        Kind::Constructor | Kind::Property => Some("method"),
        Kind::Type | Kind::Union => Some("class"),
        Kind::EnumMember => Some("enum"),
        _ => None,
    }
}
