//! Words and expansions: quotes, variables, substitutions, arithmetic.

use super::Problem;
use super::parse::{Parsed, Parser};
use super::word::{Word, ansi_c};

/// Where an expansion stands; quotes and backslashes mean different things there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    /// Within double quotes, or in a here-document.
    Quoted,
}

const META: &[char] = &[' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>'];

impl<'t> Parser<'t, '_> {
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn starts(&self, text: &str) -> bool {
        self.text[self.at..].starts_with(text)
    }

    pub(super) fn starts_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.starts(text))
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.starts(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// A backslash before a newline joins two lines, everywhere but in single quotes.
    pub(super) fn skip_continuations(&mut self) {
        while self.starts("\\\n") {
            self.at += 2;
        }
    }

    /// Blanks and a comment; called only between words.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            self.skip_continuations();
            if !self.eat(" ") && !self.eat("\t") {
                break;
            }
        }
        let begins = self.text[..self.at].chars().next_back().is_none_or(|before| META.contains(&before));
        if begins && self.starts("#") {
            let rest = &self.text[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// The word that begins here, where it is nothing but plain characters.
    pub(super) fn plain_word(&self) -> Option<&'t str> {
        let rest = &self.text[self.at..];
        let word = &rest[..rest.find(META).unwrap_or(rest.len())];
        (!word.is_empty() && !word.contains(['\'', '"', '\\', '$', '`'])).then_some(word)
    }

    /// The word that begins here; empty where none does.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        self.deeper(Self::word_here)
    }

    fn word_here(&mut self) -> Parsed<Word> {
        let mut word = Building::default();
        loop {
            self.skip_continuations();
            let Some(character) = self.peek() else { break };
            match character {
                '<' | '>' if self.text[self.at + 1..].starts_with('(') => {
                    let start = self.at;
                    self.at += 2;
                    let what = if character == '<' { "<( … )" } else { ">( … )" };
                    self.inside(what, Self::list_in_parentheses)?;
                    word.expansion(&self.text[start..self.at], None);
                }
                character if META.contains(&character) => break,
                '\'' => {
                    let start = self.at + 1;
                    let length =
                        self.text[start..].find('\'').ok_or_else(|| Problem::syntax("`'` is missing"))?;
                    word.quoted(&self.text[start..start + length]);
                    self.at = start + length + 1;
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut word)?;
                }
                '\\' => {
                    self.at += 1;
                    let escaped = self.peek().ok_or_else(|| Problem::syntax("it ends with a backslash"))?;
                    self.at += escaped.len_utf8();
                    word.quoted(escaped.encode_utf8(&mut [0; 4]));
                }
                '$' => self.dollar(&mut word, Place::Plain)?,
                '`' => self.backquoted(&mut word, Place::Plain)?,
                character => {
                    self.at += character.len_utf8();
                    word.plain(character);
                }
            }
        }
        Ok(word.finish())
    }

    fn double_quoted(&mut self, word: &mut Building) -> Parsed<()> {
        word.quoted("");
        loop {
            self.skip_continuations();
            let character = self.peek().ok_or_else(|| Problem::syntax("`\"` is missing"))?;
            match character {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => {
                    self.at += 1;
                    let escaped = self.peek().ok_or_else(|| Problem::syntax("`\"` is missing"))?;
                    self.at += escaped.len_utf8();
                    if !matches!(escaped, '$' | '`' | '"' | '\\') {
                        word.quoted("\\");
                    }
                    word.quoted(escaped.encode_utf8(&mut [0; 4]));
                }
                '$' => self.dollar(word, Place::Quoted)?,
                '`' => self.backquoted(word, Place::Quoted)?,
                character => {
                    self.at += character.len_utf8();
                    word.quoted(character.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }

    /// Looks for expansions in a text that is not split into words: the body of a here-document.
    pub(super) fn expansions(&mut self) -> Parsed<()> {
        let mut word = Building::default();
        while let Some(character) = self.peek() {
            match character {
                '\\' => {
                    self.at += 1;
                    self.at += self.peek().map_or(0, char::len_utf8);
                }
                '$' => self.dollar(&mut word, Place::Quoted)?,
                '`' => self.backquoted(&mut word, Place::Quoted)?,
                character => self.at += character.len_utf8(),
            }
        }
        Ok(())
    }

    /// What a `$` begins.
    fn dollar(&mut self, word: &mut Building, place: Place) -> Parsed<()> {
        let start = self.at;
        self.at += 1;
        self.skip_continuations();
        match self.peek() {
            Some('(') => {
                if let Some(end) = self.arithmetic_end(self.at) {
                    self.at += 2;
                    self.deeper(|parser| parser.arithmetic(end))?;
                    self.at = end + 2;
                } else {
                    self.at += 1;
                    self.inside("$( … )", Self::list_in_parentheses)?;
                }
            }
            Some('{') if self.text[self.at + 1..].starts_with([' ', '\t', '\n', '|', '(']) => {
                self.at += 1;
                if self.eat("|") {
                    self.found.bind("REPLY");
                }
                self.inside("${ … }", Self::list_in_braces)?;
            }
            Some('{') => {
                self.at += 1;
                let name = self.deeper(|parser| parser.parameter(place))?;
                let value = name.and_then(|name| self.found.variables.get(&name)?.clone());
                word.expansion(&self.text[start..self.at], value.as_deref());
                return Ok(());
            }
            Some('[') => {
                let rest = &self.text[self.at..];
                let length = rest.find(']').ok_or_else(|| Problem::syntax("`]` is missing"))?;
                let end = self.at + length;
                self.at += 1;
                self.deeper(|parser| parser.arithmetic(end))?;
                self.at = end + 1;
            }
            Some('\'') if place == Place::Plain => {
                let body = self.at + 1;
                let end =
                    end_of_ansi_c(&self.text[body..]).ok_or_else(|| Problem::syntax("`'` is missing"))?;
                word.quoted(&ansi_c(&self.text[body..body + end]));
                self.at = body + end + 1;
                return Ok(());
            }
            Some('"') if place == Place::Plain => {
                self.at += 1;
                return self.double_quoted(word);
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let rest = &self.text[self.at..];
                let length =
                    rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
                if rest[length..].starts_with("\\\n") {
                    return Err(Problem::syntax("a line is continued within a name"));
                }
                let value = self.found.variables.get(&rest[..length]).cloned().flatten();
                self.at += length;
                word.expansion(&self.text[start..self.at], value.as_deref());
                return Ok(());
            }
            Some('@' | '*' | '#' | '?' | '-' | '$' | '!' | '0'..='9') => self.at += 1,
            _ => {
                word.quoted("$");
                return Ok(());
            }
        }
        word.expansion(&self.text[start..self.at], None);
        Ok(())
    }

    fn backquoted(&mut self, word: &mut Building, place: Place) -> Parsed<()> {
        let start = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            let character = self.peek().ok_or_else(|| Problem::syntax("a backquote is missing"))?;
            self.at += character.len_utf8();
            match character {
                '`' => break,
                '\\' => {
                    let escaped = self.peek().ok_or_else(|| Problem::syntax("a backquote is missing"))?;
                    self.at += escaped.len_utf8();
                    let unescaped =
                        matches!(escaped, '`' | '\\' | '$') || place == Place::Quoted && escaped == '"';
                    if !unescaped {
                        inner.push('\\');
                    }
                    inner.push(escaped);
                }
                character => inner.push(character),
            }
        }
        let mut within = self.within.clone();
        within.push("` … `".to_owned());
        let depth = self.depth;
        self.deeper(|parser| Parser::new(&inner, parser.found, within, depth + 1).program())?;
        word.expansion(&self.text[start..self.at], None);
        Ok(())
    }

    /// `${…}`, after its `{`. Gives the name where it is nothing but a name.
    fn parameter(&mut self, place: Place) -> Parsed<Option<String>> {
        let start = self.at;
        let rest = &self.text[start..];
        let indirect = rest.starts_with('!');
        let prefix = rest.len() - rest.trim_start_matches(['!', '#']).len();
        let special = rest[prefix..].starts_with(['@', '*', '?', '-', '$']);
        let name_end = rest[prefix..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .map_or(rest.len(), |end| end + prefix)
            + usize::from(special);
        let after = &rest[name_end..];
        if indirect {
            self.found.odd("`${!…}` takes the name of a variable from another one");
        }
        let name = &rest[prefix..name_end];
        let behind_index = match after.strip_prefix('[').and_then(|index| index.split_once(']')) {
            Some((_, behind)) => behind,
            None => after,
        };
        if super::word::is_name(name) && (behind_index.starts_with(":=") || behind_index.starts_with('=')) {
            self.found.bind(name);
        }
        let is_default = after.starts_with(":-")
            || after.starts_with(":=")
            || after.starts_with(":+")
            || after.starts_with(":?");
        if after.starts_with(':') && !is_default || after.starts_with('[') {
            let index = after[1..].split([']', '}', ':']).next().unwrap_or_default();
            if !matches!(index.trim(), "@" | "*")
                && !index.trim().chars().all(|c| c.is_ascii_digit() || c == '-')
            {
                self.found.odd("an index is evaluated, which may run a command that stands in a variable");
            }
            // The second number of a part, or what follows an index.
            if after[1..].split('}').next().unwrap_or_default().matches(':').count() > 0
                && after.split('}').next().unwrap_or_default().contains(|c: char| c.is_ascii_alphabetic())
            {
                self.found.odd("an index is evaluated, which may run a command that stands in a variable");
            }
        }
        let mut inside = Building::default();
        loop {
            self.skip_continuations();
            let character = self.peek().ok_or_else(|| Problem::syntax("`}` is missing"))?;
            match character {
                '}' => {
                    let name = &self.text[start..self.at];
                    self.at += 1;
                    if name.contains("@P") || name.contains("@E") {
                        self.found.odd("`${…@P}` runs commands that stand in a variable");
                    }
                    let plain = super::word::is_name(name);
                    return Ok(plain.then(|| name.to_owned()));
                }
                '\\' => {
                    self.at += 1;
                    self.at += self.peek().map_or(0, char::len_utf8);
                }
                '\'' if place == Place::Quoted => {
                    return Err(Problem::syntax(
                        "a quote within `${…}` within quotes is not understood here",
                    ));
                }
                '\'' => {
                    let length = self.text[self.at + 1..]
                        .find('\'')
                        .ok_or_else(|| Problem::syntax("`'` is missing"))?;
                    self.at += length + 2;
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut inside)?;
                }
                '$' => self.deeper(|parser| parser.dollar(&mut inside, place))?,
                '`' => self.backquoted(&mut inside, place)?,
                '<' | '>' if self.text[self.at + 1..].starts_with('(') => {
                    return Err(Problem::syntax(
                        "a process substitution within `${…}` is not understood here",
                    ));
                }
                character => self.at += character.len_utf8(),
            }
        }
    }

    /// Where the arithmetic that begins with `((` at `start` ends: the place of its `))`. `None` where the
    /// parentheses are those of commands.
    pub(super) fn arithmetic_end(&self, start: usize) -> Option<usize> {
        let inner = self.text[start..].strip_prefix("((")?;
        let mut open = 1_usize;
        let mut characters = inner.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => {
                    characters.next();
                }
                '\'' | '"' => while characters.next().is_some_and(|(_, other)| other != character) {},
                '(' => open += 1,
                ')' => {
                    open -= 1;
                    if open == 0 {
                        return inner[at + 1..].starts_with(')').then_some(start + 2 + at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Arithmetic from here to `end`.
    pub(super) fn arithmetic(&mut self, end: usize) -> Parsed<()> {
        if self.text[self.at..end].contains(';') {
            return Err(Problem::syntax("arithmetic with `;` is not understood here"));
        }
        self.arithmetic_parts(end)
    }

    /// The same for the head of `for ((…))`.
    pub(super) fn arithmetic_parts(&mut self, end: usize) -> Parsed<()> {
        let text = &self.text[self.at..end];
        if text.contains(['\\', '\'', '"', '#', '\n']) {
            return Err(Problem::syntax("arithmetic with quotes or comments is not understood here"));
        }
        let mut word = Building::default();
        while self.at < end {
            match self.peek() {
                Some('$') => {
                    self.dollar(&mut word, Place::Quoted)?;
                    self.found.odd("arithmetic evaluates a variable, which may hold a command");
                }
                Some('`') => self.backquoted(&mut word, Place::Quoted)?,
                Some(character) => {
                    if character.is_alphabetic() || character == '_' {
                        self.found.odd("arithmetic evaluates a variable, which may hold a command");
                    }
                    self.at += character.len_utf8();
                }
                None => break,
            }
        }
        if self.at == end { Ok(()) } else { Err(Problem::syntax("arithmetic is not understood here")) }
    }
}

/// The length of the text up to the `'` that ends `$'…'`.
fn end_of_ansi_c(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '\'' => return Some(at),
            _ => {}
        }
    }
    None
}

/// A word as it is put together.
#[derive(Default)]
struct Building {
    text: String,
    guess: String,
    is_quoted: bool,
    expands: bool,
    pattern: bool,
    tilde: bool,
    /// An open brace, and whether what makes it a list stood behind it.
    brace: Option<bool>,
}

impl Building {
    fn plain(&mut self, character: char) {
        match character {
            '~' if self.text.is_empty() && !self.is_quoted => self.tilde = true,
            '*' | '?' | '[' => self.pattern = true,
            '{' => self.brace = self.brace.or(Some(false)),
            ',' => self.brace = self.brace.map(|_| true),
            '.' if self.text.ends_with('.') => self.brace = self.brace.map(|_| true),
            '}' if self.brace == Some(true) => self.pattern = true,
            _ => {}
        }
        self.text.push(character);
        self.guess.push(character);
    }

    fn quoted(&mut self, text: &str) {
        self.is_quoted = true;
        self.text.push_str(text);
        self.guess.push_str(text);
    }

    fn expansion(&mut self, source: &str, value: Option<&str>) {
        self.expands = true;
        self.text.push_str(source);
        self.guess.push_str(value.unwrap_or(source));
    }

    fn finish(self) -> Word {
        // `[` by itself is a command, and a pattern that is never closed is none.
        let pattern = self.pattern && !matches!(self.text.as_str(), "[" | "[[");
        Word {
            literal: !self.expands && !pattern && !self.tilde,
            pattern: pattern && !self.expands,
            tilde: self.tilde,
            quoted: self.is_quoted,
            text: self.text,
            guess: self.guess,
        }
    }
}
