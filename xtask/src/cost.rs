//! What it costs to extend Stepwell: `cargo xtask cost` counts files and lines from the tree.
//!
//! For each kind of extension an existing example is measured: the modules that are its own, and the lines of other
//! product files that name it. The count goes by words of the source, so each line is listed for a reader to judge.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// What an extension should cost: a new module, and lines in files that exist.
const AIM: Cost = Cost { modules: 1, lines: 2 };

/// A count of modules and lines. A module is a file, with its folder where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    modules: usize,
    lines: usize,
}

impl Cost {
    fn is_within(self, other: Self) -> bool {
        self.modules <= other.modules && self.lines <= other.lines
    }
}

/// A kind of extension and the example that is measured.
struct Extension {
    kind: &'static str,
    example: &'static str,
    /// Where to look, relative to the root.
    scope: &'static [&'static str],
    /// The example's own modules: a path in the scope belongs to it when these segments occur in it, in this order. A
    /// segment stands for `name`, `name.rs` and names that begin with `name_`.
    own: &'static [&'static [&'static str]],
    /// Texts that name the example. They match as whole words.
    names: &'static [&'static str],
    /// The most it may cost. Lower it when the cost falls.
    limit: Cost,
}

const EXTENSIONS: &[Extension] = &[
    Extension {
        kind: "tool",
        example: "`insert`",
        scope: &[
            "crates/agent",
            "crates/cli",
            "crates/mcp",
            "crates/store",
            "crates/tool-runtime",
            "crates/tools",
            "crates/transcript",
        ],
        own: &[&["tools", "files", "insert"]],
        names: &["mod insert", "insert::Insert", "files::Insert", "\"insert\""],
        limit: Cost { modules: 1, lines: 4 },
    },
    Extension {
        kind: "tool category",
        example: "`code`",
        // The tools name their category in their own files, so `crates/tools` is left out.
        scope: &["crates/agent", "crates/cli", "crates/mcp", "crates/tool-runtime"],
        own: &[],
        names: &["Category::Code", "ToolGroupArg::Code", "Self::Code", "Code,"],
        limit: Cost { modules: 0, lines: 2 },
    },
    Extension {
        kind: "wire format",
        example: "Gemini",
        // Other parts of `cli` name the MCP client of the same name.
        scope: &["crates/agent", "crates/cli/src/settings", "crates/llm"],
        own: &[&["llm", "providers", "gemini"]],
        names: &["gemini", "Gemini"],
        limit: Cost { modules: 1, lines: 7 },
    },
    Extension {
        kind: "debug adapter",
        example: "delve",
        scope: &["crates"],
        own: &[&["debug", "adapters", "delve"]],
        names: &["delve", "Delve", "dlv"],
        limit: Cost { modules: 1, lines: 7 },
    },
    Extension {
        kind: "language of the code index",
        example: "Go",
        scope: &["crates/code-intel", "crates/tools", "crates/cli", "Cargo.toml"],
        own: &[&["code-intel", "languages", "go"]],
        names: &["Language::Go", "Self::Go", "Go,", "mod go", "go::", "tree-sitter-go", "tree_sitter_go"],
        limit: Cost { modules: 1, lines: 5 },
    },
    Extension {
        kind: "door",
        example: "`doctor`",
        scope: &["crates"],
        own: &[&["cli", "doors", "doctor"]],
        names: &["mod doctor", "doctor::", "Doctor(", "DoctorArgs"],
        limit: Cost { modules: 1, lines: 4 },
    },
    Extension {
        kind: "engine command",
        example: "`SetFavourite`",
        scope: &["crates"],
        own: &[],
        names: &["SetFavourite"],
        limit: Cost { modules: 0, lines: 3 },
    },
];

/// A line that names an example.
struct Mention {
    file: PathBuf,
    line: usize,
    text: String,
}

/// What an extension was found to cost.
struct Measured {
    modules: BTreeSet<PathBuf>,
    mentions: Vec<Mention>,
}

impl Measured {
    fn cost(&self) -> Cost {
        Cost { modules: self.modules.len(), lines: self.mentions.len() }
    }
}

/// Prints the table, then each file and line that was counted.
pub fn print() -> anyhow::Result<()> {
    let measured: Vec<(&Extension, Measured)> = EXTENSIONS
        .iter()
        .map(|extension| Ok((extension, measure(extension)?)))
        .collect::<anyhow::Result<_>>()?;
    println!(
        "| to add a | example | new modules | lines in other files | at most | aim ({} + {}) |",
        AIM.modules, AIM.lines
    );
    println!("|---|---|---|---|---|---|");
    for (extension, measured) in &measured {
        let Cost { modules, lines } = measured.cost();
        let kept = if measured.cost().is_within(AIM) { "kept" } else { "missed" };
        let limit = format!("{} + {}", extension.limit.modules, extension.limit.lines);
        println!("| {} | {} | {modules} | {lines} | {limit} | {kept} |", extension.kind, extension.example);
    }
    for (extension, measured) in &measured {
        println!("\n{} ({})", extension.kind, extension.example);
        for module in &measured.modules {
            println!("  own  {}", module.display());
        }
        for mention in &measured.mentions {
            println!("  line {}:{}: {}", mention.file.display(), mention.line, mention.text);
        }
    }
    Ok(())
}

fn measure(extension: &Extension) -> anyhow::Result<Measured> {
    let mut modules = BTreeSet::new();
    let mut mentions = Vec::new();
    for path in product_files(extension.scope)? {
        if let Some(module) = extension.own.iter().find_map(|segments| module_of(&path, segments)) {
            modules.insert(module);
            continue;
        }
        let text = std::fs::read_to_string(crate::root().join(&path))
            .with_context(|| format!("cannot read {}", path.display()))?;
        for (line, text) in product_lines(&text) {
            if extension.names.iter().any(|name| has_word(text, name)) {
                mentions.push(Mention { file: path.clone(), line, text: text.trim().to_owned() });
            }
        }
    }
    Ok(Measured { modules, mentions })
}

/// The Rust files and manifests of the product below the scope, without tests, relative to the root and in order.
fn product_files(scope: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let exists = |path: &&&str| crate::root().join(path).exists();
    let mut waiting: Vec<PathBuf> = scope.iter().filter(exists).map(PathBuf::from).collect();
    while let Some(path) = waiting.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let full = crate::root().join(&path);
        if full.is_dir() {
            if matches!(name.as_str(), "tests" | "benches" | "fixtures" | "test-support") {
                continue;
            }
            for entry in std::fs::read_dir(&full)? {
                waiting.push(path.join(entry?.file_name()));
            }
        } else if name == "Cargo.toml" || is_product_source(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn is_product_source(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let is_rust = path.extension().is_some_and(|extension| extension == "rs");
    is_rust && stem != "tests" && !stem.ends_with("_tests")
}

/// The module a file belongs to, if the segments occur in its path in this order: the path up to the last of them.
fn module_of(path: &Path, segments: &[&str]) -> Option<PathBuf> {
    let mut wanted = segments.iter().peekable();
    let mut module = PathBuf::new();
    for component in path.components() {
        let name = component.as_os_str().to_string_lossy();
        let name = name.strip_suffix(".rs").unwrap_or(&name);
        module.push(name);
        let rest = wanted.peek().and_then(|segment| name.strip_prefix(**segment));
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_')) {
            wanted.next();
        }
        if wanted.peek().is_none() {
            return Some(module);
        }
    }
    None
}

/// The lines of a file that are product code, with their numbers: no comments, nothing from `#[cfg(test)]` modules.
fn product_lines(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut is_for_tests = false;
    for (number, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if is_for_tests && code.starts_with("mod ") && code.ends_with('{') {
            break;
        }
        if !is_for_tests && !code.starts_with("//") && !code.starts_with("#[cfg(test)]") {
            lines.push((number + 1, line));
        }
        is_for_tests = code.starts_with("#[cfg(test)]");
    }
    lines
}

/// Whether a text occurs in a line without a letter, digit or `_` before or after it.
fn has_word(line: &str, word: &str) -> bool {
    let continues =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    line.match_indices(word).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + word.len()..]);
        let starts_word =
            !word.starts_with(|first: char| continues(Some(first))) || !continues(before.chars().next_back());
        let ends_word =
            !word.ends_with(|last: char| continues(Some(last))) || !continues(after.chars().next());
        starts_word && ends_word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_cost_no_more_than_before() {
        let mut wrong = Vec::new();
        for extension in EXTENSIONS {
            let cost = measure(extension).unwrap().cost();
            if !cost.is_within(extension.limit) {
                wrong.push(format!("{}: {cost:?}, {:?} are allowed", extension.kind, extension.limit));
            }
        }
        assert!(wrong.is_empty(), "{}\nrun `cargo xtask cost` to see each line", wrong.join("\n"));
    }

    #[test]
    fn examples_exist() {
        for extension in EXTENSIONS {
            let measured = measure(extension).unwrap();
            assert_eq!(measured.modules.is_empty(), extension.own.is_empty(), "{}", extension.kind);
            assert!(!measured.mentions.is_empty(), "nothing names {}", extension.example);
        }
    }

    #[test]
    fn names_match_as_whole_words() {
        assert!(has_word("    Delve => delve::Delve,", "delve"));
        assert!(has_word("use files::Insert;", "files::Insert"));
        assert!(has_word("doctor::run(args)", "doctor::"));
        assert!(!has_word("fn launch_with_delve()", "delve"));
        assert!(!has_word("ErrorCode,", "Code,"));
    }

    #[test]
    fn comments_and_test_modules_are_not_counted() {
        let text = "a\n// b\n#[cfg(test)]\nmod tests;\nc\n#[cfg(test)]\nmod tests {\n    d\n}\n";
        assert_eq!(product_lines(text), [(1, "a"), (5, "c")]);
    }

    #[test]
    fn own_modules_are_found_by_segments() {
        let module = |path: &str| {
            let module = module_of(Path::new(path), &["code-intel", "languages", "go"]);
            module.map(|module| module.display().to_string())
        };
        let languages = "crates/code-intel/src/languages";
        assert_eq!(module(&format!("{languages}/go.rs")), Some(format!("{languages}/go")));
        assert_eq!(module(&format!("{languages}/go/resolve.rs")), Some(format!("{languages}/go")));
        assert_eq!(module(&format!("{languages}/go_modules.rs")), Some(format!("{languages}/go_modules")));
        assert_eq!(module(&format!("{languages}/google.rs")), None);
        assert_eq!(module("crates/code-intel/src/facts/go.rs"), None);
    }
}
