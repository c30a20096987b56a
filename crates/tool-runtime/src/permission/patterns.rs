//! What a rule's text is compared with: words of commands, paths, hosts.

use regex::{Regex, RegexBuilder};

use super::places::JudgePlaces;
use crate::shell::{Part, Word, base_name};

/// How carefully a rule is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// For allowing: only what is certain matches.
    Certain,
    /// For refusing and asking: what could match does.
    Possible,
}

/// Words at the beginning of a command: `cargo test`, `npm run *`, `git log --format=*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandPattern {
    words: Vec<String>,
}

impl CommandPattern {
    /// `cargo test`, `cargo test *` and `cargo test:*` mean the same: whatever begins with these words.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let text = text.strip_suffix(":*").unwrap_or(text);
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.last().is_some_and(|word| word == "*") {
            words.pop();
        }
        if let Some(operator) = words
            .iter()
            .find(|word| word.contains(['|', ';', '&', '<', '>', '`', '\n']) || word.contains("$("))
        {
            return Err(format!(
                "`{operator}` is no word of one command; give each command a rule of its own"
            ));
        }
        Ok(Self { words })
    }

    /// The program it names, where it names one.
    pub(super) fn program(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }

    pub(super) fn matches(&self, part: &Part, care: Care) -> bool {
        let Some((program, rest)) = self.words.split_first() else { return true };
        let Some(first) = part.words.first() else { return false };
        match care {
            Care::Certain => {
                is_like(program, first, care)
                    && rest.len() <= part.arguments().len()
                    && rest.iter().zip(part.arguments()).all(|(pattern, word)| is_like(pattern, word, care))
            }
            Care::Possible => {
                let named = glob_matches(program, &first.guess)
                    || glob_matches(base_name(program), base_name(&first.guess));
                named && could_follow(rest, part.arguments())
            }
        }
    }

    /// How much it says: words, then characters.
    pub(super) fn weight(&self) -> usize {
        self.words.len() * 1000 + self.words.iter().map(|word| word.replace('*', "").len()).sum::<usize>()
    }
}

fn is_like(pattern: &str, word: &Word, care: Care) -> bool {
    match care {
        Care::Certain => word.known().is_some_and(|text| glob_matches(pattern, text)),
        Care::Possible => glob_matches(pattern, &word.guess) || !word.literal,
    }
}

/// Whether the words follow, with options and their values between them.
fn could_follow(pattern: &[String], words: &[Word]) -> bool {
    // From where in the words the rest of the pattern may begin; every place is looked at once.
    let mut places = vec![false; words.len() + 2];
    places[0] = true;
    for first in pattern {
        let mut next = vec![false; words.len() + 2];
        for (at, word) in words.iter().enumerate() {
            if !places[at] {
                continue;
            }
            if is_like(first, word, Care::Possible) {
                next[at + 1] = true;
            }
            // An option, and perhaps its value, stands between.
            if word.text.starts_with('-') {
                places[at + 1] = true;
                places[at + 2] = true;
            }
        }
        places = next;
    }
    places.iter().take(words.len() + 1).any(|place| *place)
}

/// A text with `*` for anything.
fn glob_matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let Some(last) = pieces.pop() else { return true };
    for piece in pieces {
        match text.find(piece) {
            Some(at) => text = &text[at + piece.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

/// A path as in `.gitignore`, relative to the workspace, below `~/`, or absolute.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    certain: Regex,
    /// File systems may ignore case, so refusing does too.
    possible: Regex,
    /// The path it names, with everything below, where it is no pattern otherwise.
    plain: Option<String>,
    weight: usize,
}

impl PathPattern {
    pub(super) fn parse(text: &str, places: &JudgePlaces) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the path is empty".to_owned());
        }
        let text = text.strip_prefix("./").unwrap_or(text);
        // `//etc` is how some write an absolute path where `/` means the workspace.
        let text = text.strip_prefix('/').filter(|rest| rest.starts_with('/')).unwrap_or(text);
        let absolute = text.starts_with('/') || text == "~" || text.starts_with("~/");
        let trimmed = text.trim_end_matches('/');
        // As in `.gitignore`, a name without a slash is looked for at every depth.
        let anywhere = !absolute && !trimmed.contains('/');
        let full = match (absolute, anywhere) {
            (true, _) => match trimmed.strip_prefix('~') {
                Some(rest) => format!("{}{rest}", places.home.as_deref().unwrap_or("/~")),
                None => trimmed.to_owned(),
            },
            (false, true) => format!("{}/**/{trimmed}", places.root()),
            (false, false) => format!("{}/{trimmed}", places.root()),
        };
        let expression = format!("^{}(?:/.*)?$", path_expression(&full));
        let build = |ignore_case: bool| {
            RegexBuilder::new(&expression).case_insensitive(ignore_case).dot_matches_new_line(true).build()
        };
        let (Ok(certain), Ok(possible)) = (build(false), build(true)) else {
            return Err(format!("`{text}` is no pattern of paths"));
        };
        let weight = text.chars().filter(|character| !matches!(character, '*' | '?' | '/')).count() * 10 + 1;
        let plain = full.strip_suffix("/**").unwrap_or(&full);
        let plain = (!plain.contains(['*', '?'])).then(|| plain.to_owned());
        Ok(Self { certain, possible, plain, weight })
    }

    pub(super) fn matches(&self, absolute: &str, care: Care) -> bool {
        match care {
            Care::Certain => self.certain.is_match(absolute),
            Care::Possible => self.possible.is_match(absolute),
        }
    }

    pub(super) fn plain(&self) -> Option<&str> {
        self.plain.as_deref()
    }

    pub(super) fn weight(&self) -> usize {
        self.weight
    }
}

fn path_expression(glob: &str) -> String {
    let mut expression = String::new();
    let mut rest = glob;
    while let Some(character) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("/**/") {
            expression.push_str("/(?:.*/)?");
            rest = after;
        } else if rest == "/**" {
            expression.push_str("(?:/.*)?");
            rest = "";
        } else if let Some(after) = rest.strip_prefix("**") {
            expression.push_str(".*");
            rest = after;
        } else {
            match character {
                '*' => expression.push_str("[^/]*"),
                '?' => expression.push_str("[^/]"),
                character => expression.push_str(&regex::escape(character.encode_utf8(&mut [0; 4]))),
            }
            rest = &rest[character.len_utf8()..];
        }
    }
    expression
}

/// How this machine's own loopback is written.
pub(super) const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// `example.com`, `*.example.com`, `*`; with `:443` only that port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPattern {
    host: String,
    port: Option<String>,
}

impl HostPattern {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let text = text.strip_prefix("domain:").unwrap_or(text).to_ascii_lowercase();
        let (host, port) = split_port(&text);
        let inner = host.strip_prefix("*.").unwrap_or(host);
        let plain = !inner.is_empty()
            && !inner.contains(['/', '@', ' ', '%'])
            && (inner == "*" || !inner.contains('*'));
        if !plain {
            return Err(format!("`{text}` is no host; write `example.com` or `*.example.com`"));
        }
        Ok(Self { host: host.trim_end_matches('.').to_owned(), port: port.map(str::to_owned) })
    }

    pub(super) fn matches(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let (host, port) = split_port(&host);
        let host = host.trim_end_matches('.');
        let fits = match self.host.strip_prefix("*.") {
            Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
            None => self.host == "*" || self.host == host,
        };
        fits && self.port.as_deref().is_none_or(|wanted| port == Some(wanted))
    }

    /// The port, where the host is this machine's loopback and a port is named.
    pub(super) fn loopback_port(&self) -> Option<u16> {
        let port = self.port.as_deref()?.parse().ok().filter(|port| *port != 0);
        port.filter(|_| LOOPBACK_NAMES.contains(&self.host.as_str()))
    }

    pub(super) fn weight(&self) -> usize {
        self.host.replace('*', "").len() * 10
            + usize::from(self.port.is_some())
            + usize::from(!self.host.contains('*'))
    }
}

/// The port behind the last colon, where what is before it is no bare IPv6 address.
fn split_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, port))
            if !port.is_empty()
                && port.chars().all(|c| c.is_ascii_digit())
                && (!host.contains(':') || host.ends_with(']')) =>
        {
            (host, Some(port))
        }
        _ => (text, None),
    }
}
