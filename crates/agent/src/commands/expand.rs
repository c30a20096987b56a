//! Puts arguments into the text of a command, and finds the shell commands that it names.

use crate::prose::outside_fences;

/// Shell commands of one command that are run.
const MOST_SHELL_PARTS: usize = 10;

/// The name and the arguments of a message that is a command: `/name the rest`.
pub fn invocation(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim().strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let name = &rest[..end];
    let is_name = |c: char| c.is_alphanumeric() || "-_:.".contains(c);
    // `/usr/bin` is a path and `//` a comment.
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name, rest[end..].trim()))
}

/// Replaces `$ARGUMENTS` and `$1` to `$9`. Arguments that no placeholder takes stand at the end.
pub(super) fn expand(body: &str, arguments: &str) -> String {
    let words = words(arguments);
    let mut out = String::with_capacity(body.len() + arguments.len());
    let mut rest = body;
    let mut used = false;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(tail) = after.strip_prefix("ARGUMENTS") {
            let (value, tail) = indexed(tail, arguments, &words);
            out.push_str(&value);
            rest = tail;
            used = true;
        } else if let Some(digit) = single_digit(after) {
            out.push_str(words.get(digit - 1).map_or("", String::as_str));
            rest = &after[1..];
            used = true;
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    if !used && !arguments.is_empty() {
        out.push_str("\n\nArguments: ");
        out.push_str(arguments);
    }
    out
}

/// `$ARGUMENTS`, or one of them: `$ARGUMENTS[0]`.
fn indexed<'t>(tail: &'t str, arguments: &str, words: &[String]) -> (String, &'t str) {
    let index = tail.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match index.and_then(|(number, rest)| Some((number.parse::<usize>().ok()?, rest))) {
        Some((number, rest)) => (words.get(number).cloned().unwrap_or_default(), rest),
        None => (arguments.to_owned(), tail),
    }
}

/// `1` to `9`, unless more digits follow: `$100` is a price.
fn single_digit(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let digit = chars.next()?.to_digit(10).filter(|digit| *digit > 0)?;
    chars.next().is_none_or(|c| !c.is_ascii_digit()).then_some(digit as usize)
}

/// The words of the arguments; quotes keep several together.
fn words(arguments: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in arguments.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The shell commands in a text: ``!`git status` `` as other agents write them, outside of fenced code.
pub fn shell_parts(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    outside_fences(text, |stretch| {
        let mut rest = stretch;
        while let Some(at) = rest.find("!`") {
            let before = rest[..at].chars().next_back();
            let inside = &rest[at + 2..];
            let Some(end) = inside.find(['`', '\n']).filter(|end| inside[*end..].starts_with('`')) else {
                rest = inside;
                continue;
            };
            let command = inside[..end].trim();
            let begins = before.is_none_or(|c| c.is_whitespace() || c == ':' || c == '(');
            if begins && !command.is_empty() && !found.iter().any(|known| known == command) {
                found.push(command.to_owned());
            }
            rest = &inside[end + 1..];
        }
    });
    found.truncate(MOST_SHELL_PARTS);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_a_command_is_taken_apart() {
        for (text, expected) in [
            ("/review 12  high", Some(("review", "12  high"))),
            (" /a:b\nmore", Some(("a:b", "more"))),
            ("/usr/bin/env", None),
            ("// no", None),
            ("/", None),
            ("say /review", None),
        ] {
            assert_eq!(invocation(text), expected, "{text}");
        }
    }

    #[test]
    fn arguments_take_their_places() {
        for (body, arguments, expected) in [
            ("Fix $ARGUMENTS now", "a b", "Fix a b now"),
            ("$1 and $2, not $3.", "'x y' z", "x y and z, not ."),
            ("$ARGUMENTS[1] of $ARGUMENTS", "p q", "q of p q"),
            ("costs $100 or $HOME", "", "costs $100 or $HOME"),
            ("Do it", "fast", "Do it\n\nArguments: fast"),
            ("$1", "$2 $1", "$2"),
        ] {
            assert_eq!(expand(body, arguments), expected, "{body}");
        }
    }

    #[test]
    fn shell_commands_stand_outside_of_fences() {
        let text = "Now: !`git status`\n(!`ls`)\n```\n!`no`\n```\nwow!`no` !`git status` !`open\n`";
        assert_eq!(shell_parts(text), ["git status", "ls"]);
    }
}
