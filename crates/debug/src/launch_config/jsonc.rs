//! JSON as VS Code writes it: with comments, trailing commas, a byte order mark, or nothing at all.
//!
//! Comments and trailing commas become spaces, so that line and column of every error are those of the file, and
//! serde_json does the rest, with its bound on depth.

use std::path::Path;

use serde_json::Value;
use stepwell_workspace::files;

use super::error::{LaunchError, Result};

/// Configuration files are written by hand; what is longer is something else.
const LONGEST_FILE: u64 = 4 * 1024 * 1024;

/// The file's value, or `None` when there is no such file. An empty file is an empty object.
pub(crate) fn read(path: &Path) -> Result<Option<Value>> {
    match read_text(path, LONGEST_FILE)? {
        Some(text) => parse(&text, path).map(Some),
        None => Ok(None),
    }
}

/// The text of a regular file of a bounded size, without a byte order mark.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<Option<String>> {
    let metadata = match files::metadata(path) {
        Ok(metadata) => metadata,
        // A file where `.vscode` should be is no configuration either.
        Err(stepwell_workspace::Error::NotFound { .. } | stepwell_workspace::Error::NotAFolder { .. }) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let path_buf = path.to_path_buf();
    // A pipe of that name would be read forever.
    if !metadata.is_file() {
        return Err(LaunchError::Shape { path: path_buf, problem: "it is not a regular file".to_owned() });
    }
    if metadata.len() > limit {
        let error = stepwell_workspace::Error::TooLarge { path: path_buf, bytes: metadata.len(), limit };
        return Err(error.into());
    }
    let bytes = files::read(path)?;
    let text = String::from_utf8(bytes).map_err(|_| LaunchError::Shape {
        path: path.to_path_buf(),
        problem: "it is not UTF-8 text".to_owned(),
    })?;
    Ok(Some(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }))
}

pub(crate) fn parse(text: &str, path: &Path) -> Result<Value> {
    let broken = |line, column, problem: String| LaunchError::Broken {
        path: path.to_path_buf(),
        line,
        column,
        problem,
    };
    let plain = to_plain_json(text)
        .map_err(|(line, column)| broken(line, column, "this comment has no end".to_owned()))?;
    if plain.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(&plain).map_err(|error| {
        // serde_json writes the place behind the problem; it is a field of its own here.
        let text = error.to_string();
        let problem = text.split(" at line ").next().unwrap_or_default().to_owned();
        broken(error.line(), error.column(), problem)
    })
}

/// Replaces comments and trailing commas by spaces; the place of a comment without end is the error.
fn to_plain_json(text: &str) -> std::result::Result<String, (usize, usize)> {
    let bytes = text.as_bytes();
    let mut plain = bytes.to_vec();
    let mut at = 0;
    // The last comma, as long as only spaces and comments have followed it.
    let mut comma = None;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                comma = None;
                at = end_of_string(bytes, at);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let end =
                    memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |length| at + length);
                plain[at..end].fill(b' ');
                at = end;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let Some(length) = memchr::memmem::find(&bytes[at + 2..], b"*/") else {
                    return Err(place(text, at));
                };
                let end = at + 2 + length + 2;
                for byte in plain[at..end].iter_mut().filter(|byte| !matches!(**byte, b'\n' | b'\r')) {
                    *byte = b' ';
                }
                at = end;
                continue;
            }
            b',' => comma = Some(at),
            b']' | b'}' => {
                if let Some(comma) = comma.take() {
                    plain[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Only whole comments and commas were replaced, each by as many ASCII bytes.
    String::from_utf8(plain).map_err(|_| place(text, 0))
}

/// Behind the closing quote, or the end of the text where there is none.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(length) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += length;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: Expect) {
        let told = match parse(text, Path::new("launch.json")) {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn what_people_write_is_read() {
        check("", expect!["{}"]);
        check(" \n// nothing\n/* here */", expect!["{}"]);
        check("{\"a\": [1, 2, ], }", expect![[r#"{"a":[1,2]}"#]]);
        check(
            "{\"a\": 1, // one\n \"b\": \"/* no // comment */\", /* two */ }",
            expect![[r#"{"a":1,"b":"/* no // comment */"}"#]],
        );
        check(r#"{"a": "quote \" , ]", "b": "\\"}"#, expect![[r#"{"a":"quote \" , ]","b":"\\"}"#]]);
        check("{\"z\": 1, \"a\": 2}", expect![[r#"{"z":1,"a":2}"#]]);
    }

    #[test]
    fn what_is_broken_is_told_with_its_place() {
        check(
            "{\n  \"a\": 1\n  \"b\": 2\n}",
            expect!["`launch.json` is broken in line 3, column 3: expected `,` or `}`"],
        );
        check(
            "{\n  /* no end",
            expect!["`launch.json` is broken in line 2, column 3: this comment has no end"],
        );
        check(
            "{\"a\": \"no end",
            expect!["`launch.json` is broken in line 1, column 13: EOF while parsing a string"],
        );
        check("[,]", expect!["[]"]);
        check(
            &"[".repeat(100_000),
            expect!["`launch.json` is broken in line 1, column 128: recursion limit exceeded"],
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            Just(json!("// not a comment, /* nor this */ ,]")),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    /// The same value with a comment in every gap and a comma before every end.
    fn written_by_a_person(value: &Value) -> String {
        match value {
            Value::Array(items) => {
                let items: String = items.iter().map(|item| written_by_a_person(item) + ", // ]\n").collect();
                format!("/* [ */ [{items}]")
            }
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(key, value)| {
                        format!("{}: {}, /* }} */\r\n", json!(key), written_by_a_person(value))
                    })
                    .collect::<Vec<_>>()
                    .concat();
                format!("{{ {fields} }} // {{") + "\n"
            }
            other => format!("{other} /* \" */"),
        }
    }

    proptest! {
        #[test]
        fn jsonc_means_what_the_same_json_means(value in any_json()) {
            let path = Path::new("x");
            prop_assert_eq!(&parse(&value.to_string(), path).unwrap(), &value);
            let text = written_by_a_person(&value);
            // A comma outside of lists and objects was never written, so the value is the whole text.
            prop_assert_eq!(&parse(&text, path).unwrap(), &value);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[\\[\\]{},:\"\\\\/* \n\ra1é]{0,40}") {
            parse(&text, Path::new("x")).ok();
        }
    }
}
