//! A command of words: assignments, words, redirections.

use super::Problem;
use super::bindings::{COMPOUND, DECLARATIONS};
use super::parse::{HereDocument, MOST_COMMANDS, Parsed, Parser, Redirect, RedirectKind, Simple};
use super::word::{Word, is_name};

/// What words turned out to be.
#[derive(PartialEq, Eq)]
enum Read {
    Command,
    /// The definition of a function.
    Function,
}

const OPENING: &[&str] = &[
    "if", "while", "until", "for", "select", "case", "[[", "{", "function", "coproc", "time", "!", "then",
    "else", "elif", "fi", "do", "done", "esac", "}",
];

impl Parser<'_, '_> {
    /// A command of words.
    pub(super) fn simple(&mut self) -> Parsed<()> {
        let start = self.at;
        let mut simple = Simple { within: self.within.clone(), ..Simple::default() };
        // Its place is taken first, so that commands come in the order in which they are read.
        let place = self.found.commands.len();
        if place >= MOST_COMMANDS {
            return Err(Problem::TooMany);
        }
        self.found.commands.push(Simple::default());
        let read = self.words_of(&mut simple, place);
        if read == Ok(Read::Function) {
            return Ok(());
        }
        self.text[start..self.at].trim_end().clone_into(&mut simple.source);
        // What was read before a problem counts too. A here-document may have been noted under this place.
        if let Some(slot) = self.found.commands.get_mut(place) {
            simple.input = slot.input.take().or(simple.input);
            *slot = simple;
        }
        read.map(|_| ())
    }

    fn words_of(&mut self, simple: &mut Simple, place: usize) -> Parsed<Read> {
        loop {
            self.skip_blanks();
            if self.redirect(simple, Some(place))? {
                continue;
            }
            if self.is_at_end() || self.starts_any(&[";", "&", "|", ")", "\n"]) {
                break;
            }
            if self.starts("(") {
                let [name] = simple.words.as_slice() else { return Err(self.unexpected()) };
                if !simple.assignments.is_empty() || !simple.redirects.is_empty() {
                    return Err(self.unexpected());
                }
                let name = name.clone();
                self.at += 1;
                self.skip_blanks();
                self.eat(")").then_some(()).ok_or_else(|| self.unexpected())?;
                self.found.commands.remove(place);
                self.function(&name)?;
                return Ok(Read::Function);
            }
            let declares =
                simple.words.first().is_some_and(|word| DECLARATIONS.contains(&word.text.as_str()));
            if (simple.words.is_empty() || declares)
                && let Some((name, value)) = self.assignment()?
            {
                let known = value.literal.then_some(value.text.as_str());
                self.found.set_variable(&name, known);
                if declares {
                    simple.words.push(Word { text: format!("{name}={}", value.text), ..value.clone() });
                }
                simple.assignments.push((name, value));
                continue;
            }
            let word = self.some_word()?;
            if simple.words.is_empty() && !word.quoted && OPENING.contains(&word.text.as_str()) {
                // Only a continued line gets here; bash sees the reserved word.
                return Err(self.unexpected());
            }
            simple.words.push(word);
        }
        let empty = simple.words.is_empty() && simple.assignments.is_empty();
        // A here-document or a here-string alone is a command too.
        let fed =
            simple.input.is_some() || self.documents.iter().any(|document| document.command == Some(place));
        if empty && simple.redirects.is_empty() && !fed { Err(self.unexpected()) } else { Ok(Read::Command) }
    }

    /// `name=value`, `name+=value`, `name[index]=value` or `name=(…)`.
    fn assignment(&mut self) -> Parsed<Option<(String, Word)>> {
        self.skip_continuations();
        let rest = &self.text[self.at..];
        let length = rest.find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
        let name = &rest[..length.unwrap_or(rest.len())];
        if !is_name(name) {
            return Ok(None);
        }
        let mut after = name.len();
        if rest[after..].starts_with("\\\n") {
            return Err(Problem::syntax("a line is continued within a name"));
        }
        if rest[after..].starts_with('[') {
            let end = rest[after..].find(']').ok_or_else(|| Problem::syntax("`]` is missing"))?;
            let index = &rest[after + 1..after + end];
            let is_assignment = rest[after + end + 1..].starts_with(['=', '+']);
            if !index.chars().all(|c| c.is_ascii_digit()) {
                if is_assignment
                    || index.contains([' ', '\t', '\n', '"', '\'', '\\', '$', '`', '(', '<', '>'])
                {
                    return Err(Problem::syntax("the index of an array is not understood here"));
                }
                return Ok(None);
            }
            if is_assignment {
                self.found.arrays.push(name.to_owned());
            }
            after += end + 1;
        }
        if rest[after..].starts_with("+=") {
            after += 2;
        } else if rest[after..].starts_with('=') {
            after += 1;
        } else {
            return Ok(None);
        }
        self.at += after;
        if !self.starts("(") {
            return Ok(Some((name.to_owned(), self.word()?)));
        }
        self.at += 1;
        self.found.arrays.push(name.to_owned());
        let mut all = Word { text: COMPOUND.into(), guess: COMPOUND.into(), ..Word::default() };
        loop {
            self.skip_newlines()?;
            if self.eat(")") {
                return Ok(Some((name.to_owned(), all)));
            }
            let element = self.some_word()?;
            if element.text.starts_with('[') {
                return Err(Problem::syntax("the index of an array is not understood here"));
            }
            all.quoted |= element.quoted;
        }
    }

    pub(super) fn redirects_after(&mut self) -> Parsed<()> {
        let mut simple = Simple { within: self.within.clone(), ..Simple::default() };
        let start = self.at;
        loop {
            self.skip_blanks();
            if !self.redirect(&mut simple, None)? {
                break;
            }
        }
        if !simple.redirects.is_empty() {
            self.text[start..self.at].trim().clone_into(&mut simple.source);
            self.found.commands.push(simple);
        }
        Ok(())
    }

    /// One redirection, where there is one.
    fn redirect(&mut self, simple: &mut Simple, place: Option<usize>) -> Parsed<bool> {
        self.skip_continuations();
        let rest = &self.text[self.at..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let variable = rest.strip_prefix('{').and_then(|rest| {
            let (name, after) = rest.split_once('}')?;
            let is_variable = is_name(name.split('[').next().unwrap_or(name));
            (is_variable && after.starts_with(['<', '>'])).then_some(name)
        });
        let skipped = variable.map_or(digits, |name| name.len() + 2);
        let operator = ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">"]
            .into_iter()
            .find(|operator| rest[skipped..].starts_with(operator));
        let Some(operator) = operator else { return Ok(false) };
        if operator.starts_with('&') && skipped > 0 {
            return Ok(false);
        }
        let substitution = rest[skipped + operator.len()..].starts_with('(') && matches!(operator, "<" | ">");
        if substitution {
            // `<(…)` is a word; after a number it would be a word behind that number.
            return if skipped == 0 { Ok(false) } else { Err(self.unexpected()) };
        }
        if let Some(name) = variable {
            if !is_name(name) {
                return Err(Problem::syntax("a descriptor in an array is not understood here"));
            }
            self.found.bind(name);
        }
        self.at += skipped + operator.len();
        self.skip_blanks();
        let start = self.at;
        let target = self.some_word()?;
        match operator {
            "<<" | "<<-" => {
                let raw = &self.text[start..self.at];
                if raw.contains(['$', '`', '\n']) {
                    return Err(Problem::syntax("the end mark of a here-document is not understood here"));
                }
                self.documents.push(HereDocument {
                    delimiter: target.text,
                    verbatim: raw.contains(['\'', '"', '\\']),
                    strip_tabs: operator == "<<-",
                    command: place,
                });
            }
            "<<<" => simple.input = Some(target.text),
            "<" => simple.redirects.push(Redirect { kind: RedirectKind::Read, target }),
            "<>" => simple.redirects.push(Redirect { kind: RedirectKind::ReadWrite, target }),
            ">&" | "<&" if is_descriptor(&target) => {}
            "<&" => return Err(Problem::syntax("`<&` with a file is not understood here")),
            _ => simple.redirects.push(Redirect { kind: RedirectKind::Write, target }),
        }
        Ok(true)
    }
}

/// Whether the target of `>&` or `<&` is a descriptor.
fn is_descriptor(target: &Word) -> bool {
    let digits = target.text.strip_suffix('-').unwrap_or(&target.text);
    target.literal && digits.chars().all(|digit| digit.is_ascii_digit())
}
