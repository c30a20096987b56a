//! Finds mentions in a message.

use crate::prose::outside_code;

/// Mentions of one message.
const MOST: usize = 20;
const LONGEST: usize = 512;

/// Something that a message names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mention {
    /// A file, a folder, a symbol or a commit: what it is, the workspace knows.
    Name {
        name: String,
        /// First and last line; an open end is `None`.
        lines: Option<(u32, Option<u32>)>,
    },
    Url(String),
    Problems,
    Terminal,
    /// The changes that are not committed.
    Git,
    Checkpoint(u64),
}

impl Mention {
    /// As it is written, without the `@`.
    pub fn label(&self) -> String {
        match self {
            Self::Name { name, lines: None } => name.clone(),
            Self::Name { name, lines: Some((first, Some(last))) } if first == last => {
                format!("{name}:{first}")
            }
            Self::Name { name, lines: Some((first, Some(last))) } => format!("{name}:{first}-{last}"),
            Self::Name { name, lines: Some((first, None)) } => format!("{name}:{first}-"),
            Self::Url(url) => url.clone(),
            Self::Problems => "problems".into(),
            Self::Terminal => "terminal".into(),
            Self::Git => "git".into(),
            Self::Checkpoint(number) => format!("checkpoint:{number}"),
        }
    }
}

/// The mentions of a message, each once. Code, e-mail addresses, decorators and `\@` are none.
pub fn find(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    outside_code(text, |prose| {
        for (at, _) in prose.match_indices('@') {
            let before = prose[..at].chars().next_back();
            if before.is_some_and(|c| !c.is_whitespace() && !"([{\"'<,;，。、（「：:".contains(c)) {
                continue;
            }
            if is_decorator(prose, at) {
                continue;
            }
            let mention = read(&prose[at + 1..]);
            if let Some(mention) = mention.filter(|mention| !found.contains(mention)) {
                found.push(mention);
            }
        }
    });
    found.truncate(MOST);
    found
}

/// Whether an `@` begins a line above a definition, as in pasted Python or Java.
fn is_decorator(text: &str, at: usize) -> bool {
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    if !text[line_start..at].trim().is_empty() {
        return false;
    }
    let mut below = text[at..].lines().skip(1).map(str::trim).filter(|line| !line.is_empty());
    let begins = [
        "def ",
        "async def ",
        "class ",
        "fn ",
        "pub ",
        "function ",
        "export ",
        "public ",
        "private ",
        "protected ",
        "static ",
        "final ",
        "abstract ",
        "interface ",
        "@",
    ];
    below.next().is_some_and(|line| begins.iter().any(|word| line.starts_with(word)))
}

fn read(rest: &str) -> Option<Mention> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let (name, tail) = quoted.split_once('"')?;
        let lines = tail.strip_prefix(':').and_then(|tail| lines(&tail[..word_end(tail)]));
        return named(name, lines);
    }
    let word = &rest[..word_end(rest)];
    if word.starts_with("http://") || word.starts_with("https://") {
        return Some(Mention::Url(word.trim_end_matches(['.', ',', ';', '!', '?', ')']).to_owned()));
    }
    let word =
        word.trim_end_matches(['.', ',', ';', ':', '!', '?', '。', '，', '、', '；', '：', '！', '？']);
    let word = word.replace("\\ ", " ");
    match word.as_str() {
        "problems" => return Some(Mention::Problems),
        "terminal" => return Some(Mention::Terminal),
        "git" | "git-changes" => return Some(Mention::Git),
        _ => {}
    }
    if let Some(number) = word.strip_prefix("checkpoint:").and_then(|number| number.parse().ok()) {
        return Some(Mention::Checkpoint(number));
    }
    match word.rsplit_once(':').and_then(|(name, tail)| Some((name, lines(tail)?))) {
        Some((name, range)) => named(name, Some(range)),
        None => named(&word, None),
    }
}

fn named(name: &str, lines: Option<(u32, Option<u32>)>) -> Option<Mention> {
    let first = name.chars().next()?;
    let begins = first.is_alphanumeric() || "_./~".contains(first);
    let is_name = begins && name.len() <= LONGEST && !name.chars().any(char::is_control);
    is_name.then(|| Mention::Name { name: name.to_owned(), lines })
}

/// Where a word ends. A backslash keeps a space in it.
fn word_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if (c.is_whitespace() && !escaped) || "\"'<>`|()[]{}，。、；！？）」".contains(c) {
            return at;
        }
        escaped = c == '\\';
    }
    text.len()
}

/// `10`, `10-20`, `10-`, `L10-L20`.
fn lines(text: &str) -> Option<(u32, Option<u32>)> {
    let number = |text: &str| text.trim_start_matches('L').parse::<u32>().ok().filter(|line| *line > 0);
    match text.split_once('-') {
        None => number(text).map(|line| (line, Some(line))),
        Some((first, "")) => Some((number(first)?, None)),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            Some((first.min(last), Some(first.max(last))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = find(text).iter().map(Mention::label).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn mentions_name_files_lines_and_more() {
        check(
            "look at @src/main.rs:10-20, @src/ and @README.md.",
            &["src/main.rs:10-20", "src/", "README.md"],
        );
        check("(@a.rs:7) \"@b.rs:9-\" @c.rs:L3-L1", &["a.rs:7", "b.rs:9-", "c.rs:1-3"]);
        check(
            "@problems @terminal @git @checkpoint:12 @1a2b3c4d",
            &["problems", "terminal", "git", "checkpoint:12", "1a2b3c4d"],
        );
        check("see @https://example.org/a?b=c&d=(e). ok", &["https://example.org/a?b=c&d="]);
        check("@\"my file.md\":3 and @my\\ other.md", &["my file.md:3", "my other.md"]);
        check("请看 @src/主.rs，然后 @git。", &["src/主.rs", "git"]);
        check("@a.rs @a.rs", &["a.rs"]);
    }

    #[test]
    fn what_is_meant_literally_is_no_mention() {
        check("mail me@example.org, \\@file, a@b", &[]);
        check("`@file` and\n```\n@file\n```\n", &[]);
        check("@property\ndef a(self): ...\n\n@Override\n@Deprecated\npublic void b() {}", &[]);
        check("@ @@x @- user@host:~/a", &[]);
    }

    #[test]
    fn at_most_so_many_are_read() {
        let text: Vec<String> = (0..100).map(|n| format!("@f{n}.rs ")).collect();
        assert_eq!(find(&text.concat()).len(), MOST);
    }
}
