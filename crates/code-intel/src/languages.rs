//! Languages, and how a file's language is told.
//!
//! Each language is described by a `LanguageDefinition` in a file of its own, with the rules that read its syntax and
//! resolve its names beside it. A new one is a folder here and a row in the table below.

pub(crate) mod c;
pub(crate) mod go;
mod java;
mod outlined;
mod python;
pub(crate) mod rust;
pub(crate) mod script;

use std::path::Path;

use serde_json::Value;

use crate::facts::Definition;
use crate::facts::extract::Rules as FactRules;
use crate::lsp::ReadyBy;
use crate::resolve::Resolver;
use crate::resolve::languages::Rules;

/// Declares the languages, each with its definition.
macro_rules! languages {
    ($($language:ident = $definition:expr,)*) => {
        /// A language that can be parsed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Language {
            $($language,)*
        }

        const ALL: &[Language] = &[$(Language::$language,)*];

        impl Language {
            /// All that is known of it.
            pub(crate) fn definition(self) -> &'static LanguageDefinition {
                match self {
                    $(Self::$language => &$definition,)*
                }
            }
        }
    };
}

languages! {
    Bash = outlined::BASH,
    C = c::C,
    Cpp = c::CPP,
    CSharp = outlined::C_SHARP,
    Css = outlined::CSS,
    Go = go::GO,
    Html = outlined::HTML,
    Java = java::JAVA,
    JavaScript = script::JAVA_SCRIPT,
    Json = outlined::JSON,
    Php = outlined::PHP,
    Python = python::PYTHON,
    Ruby = outlined::RUBY,
    Rust = rust::RUST,
    Toml = outlined::TOML,
    Tsx = script::TSX,
    TypeScript = script::TYPE_SCRIPT,
    Yaml = outlined::YAML,
}

/// All that must be known of a language.
pub(crate) struct LanguageDefinition {
    pub name: &'static str,
    /// What language servers call it.
    pub id: &'static str,
    /// The endings and whole names of its files, in lower case.
    pub endings: &'static [&'static str],
    pub names: &'static [&'static str],
    /// The programs that run its files.
    pub programs: &'static [&'static str],
    /// The words that begin an item at the left margin.
    pub items: &'static [&'static str],
    pub grammar: fn() -> tree_sitter::Language,
    /// How the facts of a file are read from its syntax tree.
    pub facts: &'static FactRules,
    /// How names are resolved.
    pub rules: for<'r> fn(&'r Resolver<'_>) -> Rules<'r>,
    /// One step of indentation, where a file shows none.
    pub indentation: &'static str,
    /// Whether statements end in a semicolon.
    pub has_semicolons: bool,
    /// What may stand around a pattern: it can be a whole declaration, a statement, an expression, or a member.
    pub contexts: &'static [(&'static str, &'static str)],
    /// The kind by which its language servers list a definition, where it is not its own.
    pub listed_kind: fn(&Definition) -> Option<&'static str>,
    /// Language servers, the preferred one first.
    pub servers: &'static [LanguageServer],
}

/// A language server that is known without configuration.
pub(crate) struct LanguageServer {
    pub name: &'static str,
    pub languages: &'static [Language],
    /// The program and its arguments.
    pub command: &'static str,
    pub ready: ReadyBy,
    /// The files of which it needs one, above what is asked about, to know more than the files that are open.
    pub project: &'static [&'static str],
    /// Builds the initialization options.
    pub initialization: fn() -> Value,
}

impl LanguageServer {
    /// Creates a server that needs no project file and no initialization options.
    const fn new(
        name: &'static str,
        languages: &'static [Language],
        command: &'static str,
        ready: ReadyBy,
    ) -> Self {
        Self { name, languages, command, ready, project: &[], initialization: || Value::Null }
    }
}

/// What no header of C has.
const CPP_SIGNS: &[&str] =
    &["namespace ", "class ", "template <", "template<", "std::", "public:", "private:"];

impl Language {
    /// Its usual name.
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// Its tree-sitter grammar.
    pub fn grammar(self) -> tree_sitter::Language {
        (self.definition().grammar)()
    }

    /// The words that begin an item at the left margin; none where that is not known.
    pub(crate) fn item_words(self) -> &'static [&'static str] {
        self.definition().items
    }

    /// Whether files of the two languages belong to one program: TypeScript and TSX, C and C++.
    pub(crate) fn is_near(self, other: Self) -> bool {
        let family = |language| match language {
            Self::Tsx => Self::TypeScript,
            Self::C => Self::Cpp,
            other => other,
        };
        family(self) == family(other)
    }

    /// Finds a language by its name, whatever the case.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|language| language.name().eq_ignore_ascii_case(name))
    }

    /// Finds a language by its name or by the ending of its files: `python`, `Python` and `py` alike.
    pub fn called(name: &str) -> Option<Self> {
        let name = name.trim().trim_start_matches('.');
        Self::named(name).or_else(|| Self::detect(Path::new(&format!("x.{name}")), ""))
    }

    /// Lists all languages by name.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().copied()
    }

    /// Detects the language of a file by its name, else by its shebang line.
    pub fn detect(path: &Path, text: &str) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_lowercase();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        let by_name = Self::all().find(|language| {
            let definition = language.definition();
            definition.names.contains(&name.as_str())
                || ending.is_some_and(|ending| definition.endings.contains(&ending))
        });
        if let Some(language) = by_name {
            // Headers of C++ are called like those of C.
            let is_cpp = ending == Some("h") && CPP_SIGNS.iter().any(|sign| text.contains(sign));
            return Some(if is_cpp { Self::Cpp } else { language });
        }
        let program = program(text.lines().next()?)?;
        Self::all().find(|language| language.definition().programs.contains(&program))
    }
}

/// The program a script is run by.
fn program(first_line: &str) -> Option<&str> {
    let mut words = first_line.strip_prefix("#!")?.split_whitespace();
    let base = |word: &'_ str| -> usize { word.rfind('/').map_or(0, |at| at + 1) };
    let first = words.next()?;
    let first = &first[base(first)..];
    let program = if first == "env" {
        words.find(|word| !word.starts_with('-') && !word.contains('='))?
    } else {
        first
    };
    let program = &program[base(program)..];
    // `python3.12` is `python3`.
    Some(program.split_once('.').map_or(program, |(program, _)| program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_its_language_by_name_or_first_line() {
        for (path, text, expected) in [
            ("src/main.rs", "", Some("Rust")),
            ("A.PY", "", Some("Python")),
            ("web/page.tsx", "", Some("TSX")),
            ("a.h", "int a(void);\n", Some("C")),
            ("a.h", "namespace a { int b(); }\n", Some("C++")),
            ("Gemfile", "", Some("Ruby")),
            ("run", "#!/usr/bin/env -S FOO=1 python3.12 -u\n", Some("Python")),
            ("run", "#!/bin/sh\n", Some("Bash")),
            ("Cargo.lock", "", Some("TOML")),
            ("notes.txt", "#!important", None),
            ("Makefile", "all:\n", None),
            ("data.json5", "", None),
            ("", "", None),
        ] {
            let found = Language::detect(Path::new(path), text).map(Language::name);
            assert_eq!(found, expected, "{path}");
        }
    }
}
