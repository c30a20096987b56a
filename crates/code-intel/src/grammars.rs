//! The grammar of each language.

use crate::languages::Language;

/// The tree-sitter grammar.
pub fn grammar(language: Language) -> tree_sitter::Language {
    match language {
        Language::Bash => tree_sitter_bash::LANGUAGE,
        Language::C => tree_sitter_c::LANGUAGE,
        Language::Cpp => tree_sitter_cpp::LANGUAGE,
        Language::CSharp => tree_sitter_c_sharp::LANGUAGE,
        Language::Css => tree_sitter_css::LANGUAGE,
        Language::Go => tree_sitter_go::LANGUAGE,
        Language::Html => tree_sitter_html::LANGUAGE,
        Language::Java => tree_sitter_java::LANGUAGE,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::Json => tree_sitter_json::LANGUAGE,
        Language::Php => tree_sitter_php::LANGUAGE_PHP,
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::Ruby => tree_sitter_ruby::LANGUAGE,
        Language::Rust => tree_sitter_rust::LANGUAGE,
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Language::Yaml => tree_sitter_yaml::LANGUAGE,
        Language::Toml => tree_sitter_toml_ng::LANGUAGE,
    }
    .into()
}
