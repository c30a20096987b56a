//! Scripts that steps do not enter: Node's own, and those the configuration names.

use serde_json::Value;

/// Node's own scripts. What its assertions throw is the program's failure, so those are not passed over.
const NODES_OWN: &str = "^node:(?!assert|internal/assert)";

/// Patterns of addresses, in JavaScript's dialect.
pub(crate) fn patterns(arguments: &Value) -> Vec<String> {
    let mut patterns = vec![NODES_OWN.to_owned()];
    let named = arguments.get("skipFiles").and_then(Value::as_array).into_iter().flatten();
    for glob in named.filter_map(Value::as_str) {
        // Node's own are passed over anyway; what is excepted again cannot be said to the inspector.
        if !glob.starts_with("<node_internals>") && !glob.starts_with('!') && !glob.is_empty() {
            patterns.push(pattern(glob));
        }
    }
    patterns
}

/// `**/node_modules/**` and the like as a pattern.
fn pattern(glob: &str) -> String {
    let mut pattern = if glob.starts_with('/') { "^(?:file://)?".to_owned() } else { String::new() };
    let mut rest = glob;
    while let Some(letter) = rest.chars().next() {
        let (words, length) = if rest.starts_with("**/") {
            (r"(?:.*/)?".to_owned(), 3)
        } else if rest.starts_with("**") {
            (".*".to_owned(), 2)
        } else if letter == '*' {
            ("[^/]*".to_owned(), 1)
        } else if letter == '?' {
            ("[^/]".to_owned(), 1)
        } else if letter.is_ascii_punctuation() && letter != '/' && letter != '_' {
            (format!("\\{letter}"), 1)
        } else {
            (letter.to_string(), letter.len_utf8())
        };
        pattern.push_str(&words);
        rest = &rest[length..];
    }
    pattern.push('$');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_addresses() {
        let rows = [
            ("**/node_modules/**", "file:///a/node_modules/b/c.js", true),
            ("**/node_modules/**", "file:///a/src/c.js", false),
            ("/a/lib/*.js", "file:///a/lib/x.js", true),
            ("/a/lib/*.js", "file:///a/lib/x/y.js", false),
            ("/a/lib/?.js", "file:///a/lib/xy.js", false),
        ];
        for (glob, address, expected) in rows {
            assert_eq!(regex::Regex::new(&pattern(glob)).unwrap().is_match(address), expected, "{glob}");
        }
        let given = serde_json::json!({ "skipFiles": ["<node_internals>/**", "!/a", "/b/**"] });
        assert_eq!(patterns(&given), [NODES_OWN, r"^(?:file://)?/b/.*$"]);
    }
}
