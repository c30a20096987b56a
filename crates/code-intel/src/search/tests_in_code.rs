//! Which symbols are tests: by the path of their file, by the module they stand in, by their name.

use crate::facts::{Definition, Facts, Kind};

/// Whether a definition of a file is a test or helps tests.
pub(super) fn is_test(path: &str, text: &str, facts: &Facts, definition: &Definition) -> bool {
    is_test_path(path) || is_in_test_module(facts, definition) || is_marked(text, definition)
}

/// Whether a path is that of a test by the customs of the languages.
pub(crate) fn is_test_path(path: &str) -> bool {
    const FOLDERS: [&str; 9] =
        ["test", "tests", "__tests__", "testing", "testdata", "spec", "specs", "fixtures", "e2e"];
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let lower = stem.to_lowercase();
    folders.split('/').any(|folder| FOLDERS.contains(&folder.to_lowercase().as_str()))
        || ["test", "tests", "conftest"].contains(&lower.as_str())
        || lower.starts_with("test_")
        || ["_test", "_tests", "_spec", "-test", "-spec"].iter().any(|ending| lower.ends_with(ending))
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || name.contains(".test.")
        || name.contains(".spec.")
}

/// `mod tests { ... }`.
fn is_in_test_module(facts: &Facts, definition: &Definition) -> bool {
    const DEEPEST: usize = 32;
    let mut container = definition.container;
    for _ in 0..DEEPEST {
        let Some(outer) = container.and_then(|index| facts.definitions.get(index as usize)) else {
            return false;
        };
        if outer.kind == Kind::Module && matches!(outer.name.as_str(), "test" | "tests") {
            return true;
        }
        container = outer.container;
    }
    false
}

/// `#[test]` and `@Test` before a function, or a name that test runners go by.
fn is_marked(text: &str, definition: &Definition) -> bool {
    if !definition.kind.is_callable() {
        return false;
    }
    let before = text.get(..definition.span.start as usize).unwrap_or_default();
    let own = definition.span.of(text);
    let marks = before.trim_end().rsplit('\n').take_while(|line| line.trim_start().starts_with(['#', '@']));
    let mut marks = marks.chain(own.lines().take_while(|line| line.trim_start().starts_with('@')));
    definition.name.starts_with("test_") || marks.any(|line| line.contains("test]") || line.trim() == "@Test")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts;
    use crate::languages::Language;

    #[test]
    fn tests_are_told_by_path_module_and_mark() {
        for (path, expected) in [
            ("tests/a.py", true),
            ("src/test_a.py", true),
            ("a/b_test.go", true),
            ("web/a.spec.ts", true),
            ("web/__tests__/a.ts", true),
            ("src/test/java/ATest.java", true),
            ("src/latest.py", false),
            ("contest/entry.rs", false),
            ("attest.go", false),
            ("src/testify.py", false),
        ] {
            assert_eq!(is_test_path(path), expected, "{path}");
        }
        let text = "fn a() {}\n#[tokio::test]\nasync fn b() {}\nmod tests {\n    fn c() {}\n}\n";
        let facts = facts::read(Language::Rust, text).unwrap();
        let found: Vec<&str> = facts
            .definitions
            .iter()
            .filter(|one| is_test("src/lib.rs", text, &facts, one))
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(found, ["b", "c"]);
    }
}
