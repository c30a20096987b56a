//! Languages of which only the outline is known: what files define, and nothing about what names mean.

use super::{Language, LanguageDefinition, LanguageServer};
use crate::facts::outline;
use crate::lsp::ReadyBy;
use crate::resolve::languages::Plain;

/// Default definition, for languages of which only an outline is read.
pub(super) const OUTLINED: LanguageDefinition = LanguageDefinition {
    name: "",
    id: "",
    endings: &[],
    names: &[],
    programs: &[],
    items: &[],
    grammar: || tree_sitter_json::LANGUAGE.into(),
    facts: &outline::RULES,
    rules: |resolver| Box::new(Plain(resolver)),
    indentation: "    ",
    has_semicolons: true,
    contexts: &[("", "")],
    listed_kind: |_| None,
    servers: &[],
};

pub(super) const BASH: LanguageDefinition = LanguageDefinition {
    name: "Bash",
    id: "shellscript",
    endings: &["sh", "bash"],
    names: &[".bashrc", ".bash_profile", ".profile", "pkgbuild"],
    programs: &["sh", "bash", "dash", "ash"],
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    has_semicolons: false,
    servers: &[LanguageServer::new(
        "bash",
        &[Language::Bash],
        "bash-language-server start",
        ReadyBy::Answering,
    )],
    ..OUTLINED
};

pub(super) const C_SHARP: LanguageDefinition = LanguageDefinition {
    name: "C#",
    id: "csharp",
    endings: &["cs", "csx"],
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    contexts: super::java::CONTEXTS,
    servers: &[LanguageServer::new("csharp-ls", &[Language::CSharp], "csharp-ls", ReadyBy::Progress)],
    ..OUTLINED
};

pub(super) const CSS: LanguageDefinition = LanguageDefinition {
    name: "CSS",
    id: "css",
    endings: &["css"],
    grammar: || tree_sitter_css::LANGUAGE.into(),
    ..OUTLINED
};

pub(super) const HTML: LanguageDefinition = LanguageDefinition {
    name: "HTML",
    id: "html",
    endings: &["html", "htm"],
    grammar: || tree_sitter_html::LANGUAGE.into(),
    ..OUTLINED
};

pub(super) const JSON: LanguageDefinition = LanguageDefinition {
    name: "JSON",
    id: "json",
    endings: &["json", "geojson", "webmanifest"],
    names: &[".babelrc", ".eslintrc"],
    grammar: || tree_sitter_json::LANGUAGE.into(),
    ..OUTLINED
};

pub(super) const PHP: LanguageDefinition = LanguageDefinition {
    name: "PHP",
    id: "php",
    endings: &["php", "phtml"],
    programs: &["php"],
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    contexts: &[("<?php\n", "\n"), ("<?php\n", ";\n"), ("<?php\nclass StepwellContext {\n", "\n}\n")],
    servers: &[
        LanguageServer::new("intelephense", &[Language::Php], "intelephense --stdio", ReadyBy::Progress),
        LanguageServer::new("phpactor", &[Language::Php], "phpactor language-server", ReadyBy::Progress),
    ],
    ..OUTLINED
};

pub(super) const RUBY: LanguageDefinition = LanguageDefinition {
    name: "Ruby",
    id: "ruby",
    endings: &["rb", "rake", "gemspec", "ru"],
    names: &["gemfile", "rakefile", "podfile", "vagrantfile"],
    programs: &["ruby"],
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    indentation: "  ",
    has_semicolons: false,
    servers: &[
        LanguageServer::new("ruby-lsp", &[Language::Ruby], "ruby-lsp", ReadyBy::Progress),
        LanguageServer::new("solargraph", &[Language::Ruby], "solargraph stdio", ReadyBy::Progress),
    ],
    ..OUTLINED
};

pub(super) const TOML: LanguageDefinition = LanguageDefinition {
    name: "TOML",
    id: "toml",
    endings: &["toml"],
    names: &["cargo.lock", "poetry.lock", "uv.lock"],
    grammar: || tree_sitter_toml_ng::LANGUAGE.into(),
    ..OUTLINED
};

pub(super) const YAML: LanguageDefinition = LanguageDefinition {
    name: "YAML",
    id: "yaml",
    endings: &["yaml", "yml"],
    names: &[".clang-format"],
    grammar: || tree_sitter_yaml::LANGUAGE.into(),
    ..OUTLINED
};
