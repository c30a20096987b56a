//! `serverReadyAction`: the address in a program's output, found as the output comes.

use regex::Regex;

use super::error::{LaunchError, Result};
use super::resolve::ServerReady;

/// Lines are matched up to this length.
const LONGEST_LINE: usize = 8 * 1024;

/// Reads a program's output until it says where it serves.
#[derive(Debug)]
pub struct ServerReadyWatch {
    pattern: Regex,
    uri_format: Option<String>,
    line: String,
    found: bool,
}

impl ServerReadyWatch {
    pub fn new(name: &str, ready: &ServerReady) -> Result<Self> {
        let bad = |problem: String| LaunchError::BadConfiguration { name: name.to_owned(), problem };
        let pattern =
            regex::RegexBuilder::new(&ready.pattern).case_insensitive(true).size_limit(1 << 20).build();
        let pattern = pattern
            .map_err(|_| bad(format!("waits for `{}`, which is no pattern we can use", ready.pattern)))?;
        let captures = pattern.captures_len() > 1;
        match ready.uri_format.as_deref().map(|format| format.matches("%s").count()) {
            Some(places) if places > 1 => Err(bad("has a `uriFormat` with more than one `%s`".to_owned())),
            Some(1) if !captures => {
                Err(bad("has a `uriFormat` with `%s` but a pattern that captures nothing".to_owned()))
            }
            Some(0) if captures => {
                Err(bad("has a pattern that captures but a `uriFormat` without `%s`".to_owned()))
            }
            None if !captures => {
                Err(bad("has a pattern that captures nothing and no `uriFormat`".to_owned()))
            }
            _ => {
                Ok(Self { pattern, uri_format: ready.uri_format.clone(), line: String::new(), found: false })
            }
        }
    }

    /// The address, once: with the first line that names it.
    pub fn push(&mut self, text: &str) -> Option<String> {
        if self.found {
            return None;
        }
        for piece in text.split_inclusive('\n') {
            let room = LONGEST_LINE.saturating_sub(self.line.len());
            self.line.extend(piece.trim_end_matches(['\n', '\r']).chars().take(room));
            if !piece.ends_with('\n') {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if let Some(address) = self.address(&line) {
                self.found = true;
                return Some(address);
            }
        }
        None
    }

    /// The address of a program whose last line had no end.
    pub fn finish(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if self.found { None } else { self.address(&line) }
    }

    fn address(&self, line: &str) -> Option<String> {
        let captures = self.pattern.captures(line)?;
        let Some(captured) =
            captures.get(1).map(|captured| captured.as_str()).filter(|captured| !captured.is_empty())
        else {
            return self.uri_format.clone().filter(|format| !format.contains("%s"));
        };
        let is_port = captured.bytes().all(|byte| byte.is_ascii_digit());
        let usual = if is_port { "http://localhost:%s" } else { "%s" };
        let address = self.uri_format.as_deref().unwrap_or(usual).replacen("%s", captured, 1);
        // Anything else could be a program to start.
        (address.starts_with("http://") || address.starts_with("https://")).then_some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "listening on.* (https?://\\S+|[0-9]+)";

    fn watch(pattern: &str, format: Option<&str>) -> Result<ServerReadyWatch> {
        let ready = ServerReady {
            pattern: pattern.to_owned(),
            uri_format: format.map(ToOwned::to_owned),
            action: "openExternally".to_owned(),
        };
        ServerReadyWatch::new("x", &ready)
    }

    /// Pattern, format, pieces of output, address.
    type Row = (&'static str, Option<&'static str>, &'static [&'static str], Option<&'static str>);

    #[test]
    fn addresses_are_found_in_the_output() {
        let rows: [Row; 8] = [
            (USUAL, None, &["starting\nListening on port 3000\n"], Some("http://localhost:3000")),
            (USUAL, None, &["listening on ", "https://box:8/x", "\nmore\n"], Some("https://box:8/x")),
            (
                USUAL,
                Some("http://127.0.0.1:%s/"),
                &["listening on port 80\r\n"],
                Some("http://127.0.0.1:80/"),
            ),
            (
                "ready",
                Some("http://localhost:5000"),
                &["not yet\n", "READY\n"],
                Some("http://localhost:5000"),
            ),
            ("at (\\S+)", None, &["at file:///etc/passwd\n"], None),
            ("at (\\S+)", None, &["at javascript:x\n", "at http://a\n"], Some("http://a")),
            (USUAL, None, &["listening on port x\n"], None),
            (USUAL, None, &["listening on port 1"], Some("http://localhost:1")),
        ];
        for (pattern, format, pieces, expected) in rows {
            let mut watch = watch(pattern, format).unwrap();
            let found = pieces.iter().find_map(|piece| watch.push(piece)).or_else(|| watch.finish());
            assert_eq!(found.as_deref(), expected, "{pieces:?}");
        }
    }

    #[test]
    fn an_address_is_told_once() {
        let mut watch = watch(USUAL, None).unwrap();
        assert!(watch.push("listening on port 1\nlistening on port 2\n").is_some());
        assert!(watch.push("listening on port 3\n").is_none() && watch.finish().is_none());
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        for (pattern, format) in
            [("(", None), ("x", None), ("x", Some("%s")), ("(x)", Some("http://a")), ("(x)", Some("%s%s"))]
        {
            assert!(watch(pattern, format).is_err(), "{pattern} {format:?}");
        }
    }
}
