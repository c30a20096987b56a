//! Which parts of a C or C++ file are built on this machine, as far as the sources tell: directives are followed, with
//! the macros that the compiler defines, those of the command line, and those of the files that are included.
//!
//! Headers of the system are not read: of what they define only the names that programs often ask for are known, the
//! rest counts as undefined. Nothing is hidden because of that; of several definitions in branches of one file the one
//! that seems to be built is preferred.

mod condition;
pub(crate) mod system;

use std::collections::HashMap;

use crate::facts::Span;
use crate::languages::Language;

/// What C++17 has.
const OF_CPP: &[(&str, &str)] = &[
    ("__cplusplus", "201703L"),
    ("_GNU_SOURCE", "1"),
    ("__EXCEPTIONS", "1"),
    ("__GXX_RTTI", "1"),
    ("__cpp_exceptions", "199711L"),
    ("__cpp_rtti", "199711L"),
    ("__cpp_lambdas", "200907L"),
    ("__cpp_variadic_templates", "200704L"),
    ("__cpp_rvalue_references", "200610L"),
    ("__cpp_static_assert", "201411L"),
    ("__cpp_user_defined_literals", "200809L"),
    ("__cpp_range_based_for", "201603L"),
    ("__cpp_decltype_auto", "201304L"),
    ("__cpp_generic_lambdas", "201304L"),
    ("__cpp_return_type_deduction", "201304L"),
    ("__cpp_variable_templates", "201304L"),
    ("__cpp_constexpr", "201603L"),
    ("__cpp_if_constexpr", "201606L"),
    ("__cpp_inline_variables", "201606L"),
    ("__cpp_structured_bindings", "201606L"),
    ("__cpp_fold_expressions", "201603L"),
    ("__cpp_deduction_guides", "201703L"),
    ("__cpp_nontype_template_args", "201411L"),
    ("__cpp_noexcept_function_type", "201510L"),
    ("__cpp_aligned_new", "201606L"),
];

/// The macros that are defined, by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Macros(HashMap<String, Macro>);

#[derive(Clone, Debug)]
struct Macro {
    /// `None` for one that is not called.
    parameters: Option<Vec<String>>,
    text: String,
}

impl Macro {
    fn plain(text: &str) -> Self {
        Self { parameters: None, text: text.to_owned() }
    }
}

impl Macros {
    /// Those that a compiler defines on this system: Clang, as which GCC passes in most conditions.
    pub(crate) fn of_compiler(language: Language) -> Self {
        let of_system: &[(&str, &str)] = match std::env::consts::OS {
            "macos" => &[("__APPLE__", "1"), ("__MACH__", "1")],
            "windows" => &[("_WIN32", "1"), ("_WIN64", "1"), ("_MSC_VER", "1930")],
            _ => &[
                ("__linux__", "1"),
                ("__linux", "1"),
                ("linux", "1"),
                ("__unix__", "1"),
                ("__unix", "1"),
                ("unix", "1"),
                ("__gnu_linux__", "1"),
                ("__ELF__", "1"),
            ],
        };
        let of_processor: &[(&str, &str)] = match std::env::consts::ARCH {
            "x86_64" => &[
                ("__x86_64__", "1"),
                ("__x86_64", "1"),
                ("__amd64__", "1"),
                ("__SSE__", "1"),
                ("__SSE2__", "1"),
            ],
            "aarch64" => &[("__aarch64__", "1"), ("__ARM_NEON", "1")],
            _ => &[],
        };
        let of_language: &[(&str, &str)] = match language {
            Language::Cpp => OF_CPP,
            _ => &[("__STDC_VERSION__", "201710L")],
        };
        let of_gnu: &[(&str, &str)] = &[
            ("__clang__", "1"),
            ("__clang_major__", "19"),
            ("__clang_minor__", "1"),
            ("__GNUC__", "4"),
            ("__GNUC_MINOR__", "2"),
            ("__GNUC_PATCHLEVEL__", "1"),
            ("__STDC__", "1"),
            ("__STDC_HOSTED__", "1"),
            ("__CHAR_BIT__", "8"),
            ("__LP64__", "1"),
            ("_LP64", "1"),
            ("__SIZEOF_POINTER__", "8"),
            ("__SIZEOF_LONG__", "8"),
            ("__SIZEOF_INT128__", "16"),
            ("__BYTE_ORDER__", "1234"),
            ("__ORDER_LITTLE_ENDIAN__", "1234"),
            ("__ORDER_BIG_ENDIAN__", "4321"),
        ];
        let of_gnu = if std::env::consts::OS == "windows" { &[] } else { of_gnu };
        let all = [of_system, of_processor, of_language, of_gnu].concat();
        Self(all.into_iter().map(|(name, value)| (name.to_owned(), Macro::plain(value))).collect())
    }

    /// What `-D`, `-U` and `-std` of a command line do.
    pub(crate) fn obey(&mut self, flag: &str) {
        if let Some(name) = flag.strip_prefix("-U") {
            self.0.remove(name);
        } else if let Some(defined) = flag.strip_prefix("-D") {
            self.define_flag(defined);
        } else if let Some(standard) = flag.strip_prefix("-std=") {
            let (name, value) = match standard.trim_start_matches("gnu").trim_start_matches('c') {
                "++98" | "++03" => ("__cplusplus", "199711L"),
                "++11" | "++0x" => ("__cplusplus", "201103L"),
                "++14" | "++1y" => ("__cplusplus", "201402L"),
                "++17" | "++1z" => ("__cplusplus", "201703L"),
                "++20" | "++2a" => ("__cplusplus", "202002L"),
                "++23" | "++2b" => ("__cplusplus", "202302L"),
                "99" => ("__STDC_VERSION__", "199901L"),
                "11" => ("__STDC_VERSION__", "201112L"),
                "23" | "2x" => ("__STDC_VERSION__", "202311L"),
                _ => return,
            };
            // A header of C that is read as C++ keeps what tells the two apart.
            if self.0.contains_key(name) {
                self.0.insert(name.to_owned(), Macro::plain(value));
            }
        }
    }

    /// `NAME=value` or `NAME`, as behind `-D`.
    fn define_flag(&mut self, flag: &str) {
        let (name, value) = flag.split_once('=').unwrap_or((flag, "1"));
        self.0.insert(name.to_owned(), Macro::plain(value));
    }

    /// What a header of the system defines.
    pub(crate) fn include_system(&mut self, header: &str) {
        let given = system::macros_of(header);
        self.0.extend(given.map(|(name, value)| (name.to_owned(), Macro::plain(value))));
    }

    /// What stands behind `#define`.
    fn define(&mut self, rest: &str) {
        let name = first_word(rest);
        let after = &rest[name.len()..];
        let called = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        let known = match called {
            Some((parameters, text)) => {
                let parameters = parameters.split(',').map(|one| one.trim().to_owned()).collect();
                Macro { parameters: Some(parameters), text: text.to_owned() }
            }
            None => Macro::plain(after.trim()),
        };
        self.0.insert(name.to_owned(), known);
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name) || condition::QUESTIONS.iter().any(|(known, _)| *known == name)
    }
}

/// A line that the preprocessor reads, with its bytes.
#[derive(Debug, PartialEq, Eq)]
struct Directive<'t> {
    span: Span,
    word: &'t str,
    rest: &'t str,
}

/// Whether the lines behind a condition are built.
struct Branch {
    /// Whether what is around it is.
    is_within: bool,
    is_built: bool,
    /// Whether one of its branches was.
    was_built: bool,
}

/// Follows the directives of a text, each include that is built by `include`. Gives what is not built.
pub(crate) fn left_out(
    text: &str,
    macros: &mut Macros,
    include: &mut dyn FnMut(&str, &mut Macros),
) -> Vec<Span> {
    let mut open: Vec<Branch> = Vec::new();
    let mut spans = Vec::new();
    // Where the branch that is not built began.
    let mut since: Option<u32> = None;
    for directive in directives(text) {
        let is_built = open.last().is_none_or(|branch| branch.is_built);
        let rest = directive.rest;
        match directive.word {
            "if" | "ifdef" | "ifndef" => {
                let is_true = is_built
                    && match directive.word {
                        "if" => condition::is_true(rest, macros),
                        "ifdef" => macros.has(first_word(rest)),
                        _ => !macros.has(first_word(rest)),
                    };
                open.push(Branch { is_within: is_built, is_built: is_true, was_built: is_true });
            }
            "elif" | "elifdef" | "elifndef" | "else" => {
                let Some(branch) = open.last_mut() else { continue };
                let may = branch.is_within && !branch.was_built;
                branch.is_built = may
                    && match directive.word {
                        "elif" => condition::is_true(rest, macros),
                        "elifdef" => macros.has(first_word(rest)),
                        "elifndef" => !macros.has(first_word(rest)),
                        _ => true,
                    };
                branch.was_built |= branch.is_built;
            }
            "endif" => drop(open.pop()),
            _ if !is_built => {}
            "define" => macros.define(rest),
            "undef" => drop(macros.0.remove(first_word(rest))),
            "include" => {
                let path = rest.trim().trim_start_matches(['<', '"']);
                let path = path.split(['>', '"']).next().unwrap_or_default();
                include(path, macros);
            }
            _ => {}
        }
        let is_built_now = open.last().is_none_or(|branch| branch.is_built);
        match (since, is_built_now) {
            (None, false) => since = Some(directive.span.end),
            (Some(start), true) => {
                spans.push(Span { start, end: directive.span.start });
                since = None;
            }
            _ => {}
        }
    }
    if let Some(start) = since {
        spans.push(Span { start, end: text.len() as u32 });
    }
    spans
}

/// The directives of a text, in order; those in comments are none.
fn directives(text: &str) -> Vec<Directive<'_>> {
    let mut found = Vec::new();
    let (mut start, mut is_comment) = (0, false);
    while start < text.len() {
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = &text[start..end];
        let mut last = end;
        if let Some(directive) = line.trim_start().strip_prefix('#').filter(|_| !is_comment) {
            // A line goes on behind a stroke at its end.
            while text[..last].trim_end_matches('\r').ends_with('\\') && last < text.len() {
                last = text[last + 1..].find('\n').map_or(text.len(), |at| last + 1 + at);
            }
            let from = end - directive.len();
            let whole = text[from..last].trim_start();
            let word = first_word(whole);
            let span = Span { start: start as u32, end: last as u32 };
            found.push(Directive { span, word, rest: whole[word.len()..].trim_start() });
        }
        is_comment = goes_on_as_comment(&text[start..last], is_comment);
        start = last + 1;
    }
    found
}

/// Whether a comment of several lines is open behind a line.
fn goes_on_as_comment(line: &str, is_comment: bool) -> bool {
    let mut rest = line;
    let mut is_comment = is_comment;
    loop {
        if is_comment {
            let Some(end) = rest.find("*/") else { return true };
            rest = &rest[end + 2..];
            is_comment = false;
        }
        let Some(at) = rest.find(['/', '"', '\'']) else { return false };
        rest = &rest[at..];
        if rest.starts_with("//") {
            return false;
        }
        if rest.starts_with("/*") {
            rest = &rest[2..];
            is_comment = true;
        } else if let Some(quote) = rest.chars().next().filter(|first| *first != '/') {
            rest = behind_quote(rest, quote);
        } else {
            rest = &rest[1..];
        }
    }
}

/// What stands behind a text in quotes; quotes do not go on in the next line.
fn behind_quote(text: &str, quote: char) -> &str {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return &text[at..],
            character if character == quote => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

fn first_word(text: &str) -> &str {
    let end = text.find(|character: char| !(character.is_alphanumeric() || character == '_'));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
#[path = "preprocessor/tests.rs"]
mod tests;
