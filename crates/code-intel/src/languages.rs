//! Languages, and how a file's language is told.

use std::path::Path;

/// A language that can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    Bash,
    C,
    Cpp,
    CSharp,
    Css,
    Go,
    Html,
    Java,
    JavaScript,
    Json,
    Php,
    Python,
    Ruby,
    Rust,
    Toml,
    Tsx,
    TypeScript,
    Yaml,
}

/// A language with the endings and whole names of its files, in lower case, and the programs that run them.
struct Signs {
    language: Language,
    name: &'static str,
    endings: &'static [&'static str],
    names: &'static [&'static str],
    programs: &'static [&'static str],
    /// The words that begin an item at the left margin.
    items: &'static [&'static str],
}

const SCRIPT_ITEMS: &[&str] = &["export", "function", "class", "interface", "enum", "async", "import"];
const C_ITEMS: &[&str] = &[
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
];

const SIGNS: &[Signs] = &[
    Signs {
        language: Language::Bash,
        name: "Bash",
        endings: &["sh", "bash"],
        names: &[".bashrc", ".bash_profile", ".profile", "pkgbuild"],
        programs: &["sh", "bash", "dash", "ash"],
        items: &[],
    },
    Signs {
        language: Language::C,
        name: "C",
        endings: &["c", "h"],
        names: &[],
        programs: &[],
        items: C_ITEMS,
    },
    Signs {
        language: Language::Cpp,
        name: "C++",
        endings: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "ipp"],
        names: &[],
        programs: &[],
        items: C_ITEMS,
    },
    Signs {
        language: Language::CSharp,
        name: "C#",
        endings: &["cs", "csx"],
        names: &[],
        programs: &[],
        items: &[],
    },
    Signs { language: Language::Css, name: "CSS", endings: &["css"], names: &[], programs: &[], items: &[] },
    Signs {
        language: Language::Go,
        name: "Go",
        endings: &["go"],
        names: &[],
        programs: &[],
        items: &["func", "type", "var", "const"],
    },
    Signs {
        language: Language::Html,
        name: "HTML",
        endings: &["html", "htm"],
        names: &[],
        programs: &[],
        items: &[],
    },
    Signs {
        language: Language::Java,
        name: "Java",
        endings: &["java"],
        names: &[],
        programs: &[],
        items: &[],
    },
    Signs {
        language: Language::JavaScript,
        name: "JavaScript",
        endings: &["js", "mjs", "cjs", "jsx"],
        names: &[],
        programs: &["node", "nodejs", "bun"],
        items: SCRIPT_ITEMS,
    },
    Signs {
        language: Language::Json,
        name: "JSON",
        endings: &["json", "geojson", "webmanifest"],
        names: &[".babelrc", ".eslintrc"],
        programs: &[],
        items: &[],
    },
    Signs {
        language: Language::Php,
        name: "PHP",
        endings: &["php", "phtml"],
        names: &[],
        programs: &["php"],
        items: &[],
    },
    Signs {
        language: Language::Python,
        name: "Python",
        endings: &["py", "pyi", "pyw"],
        names: &["sconstruct", "sconscript"],
        programs: &["python", "python2", "python3"],
        items: &["def", "class", "async"],
    },
    Signs {
        language: Language::Ruby,
        name: "Ruby",
        endings: &["rb", "rake", "gemspec", "ru"],
        names: &["gemfile", "rakefile", "podfile", "vagrantfile"],
        programs: &["ruby"],
        items: &[],
    },
    Signs {
        language: Language::Rust,
        name: "Rust",
        endings: &["rs"],
        names: &[],
        programs: &[],
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
    },
    Signs {
        language: Language::Toml,
        name: "TOML",
        endings: &["toml"],
        names: &["cargo.lock", "poetry.lock", "uv.lock"],
        programs: &[],
        items: &[],
    },
    Signs {
        language: Language::Tsx,
        name: "TSX",
        endings: &["tsx"],
        names: &[],
        programs: &[],
        items: SCRIPT_ITEMS,
    },
    Signs {
        language: Language::TypeScript,
        name: "TypeScript",
        endings: &["ts", "mts", "cts"],
        names: &[],
        programs: &["deno", "ts-node", "tsx"],
        items: SCRIPT_ITEMS,
    },
    Signs {
        language: Language::Yaml,
        name: "YAML",
        endings: &["yaml", "yml"],
        names: &[".clang-format"],
        programs: &[],
        items: &[],
    },
];

/// What no header of C has.
const CPP_SIGNS: &[&str] =
    &["namespace ", "class ", "template <", "template<", "std::", "public:", "private:"];

impl Language {
    /// Its usual name.
    pub fn name(self) -> &'static str {
        SIGNS.iter().find(|signs| signs.language == self).map_or("", |signs| signs.name)
    }

    /// The words that begin an item at the left margin; none where that is not known.
    pub(crate) fn item_words(self) -> &'static [&'static str] {
        SIGNS.iter().find(|signs| signs.language == self).map_or(&[], |signs| signs.items)
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
        SIGNS.iter().map(|signs| signs.language)
    }

    /// Detects the language of a file by its name, else by its shebang line.
    pub fn detect(path: &Path, text: &str) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_lowercase();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        let by_name = SIGNS.iter().find(|signs| {
            signs.names.contains(&name.as_str())
                || ending.is_some_and(|ending| signs.endings.contains(&ending))
        });
        if let Some(signs) = by_name {
            // Headers of C++ are called like those of C.
            let is_cpp = ending == Some("h") && CPP_SIGNS.iter().any(|sign| text.contains(sign));
            return Some(if is_cpp { Self::Cpp } else { signs.language });
        }
        let program = program(text.lines().next()?)?;
        SIGNS.iter().find(|signs| signs.programs.contains(&program)).map(|signs| signs.language)
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
