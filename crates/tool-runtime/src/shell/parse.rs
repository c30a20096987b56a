//! The grammar of bash, as far as commands can hide in it.
//!
//! Written for judging, not for running: it finds every simple command wherever it stands, and fails closed. What
//! it does not understand to the last character is a [`Problem`], never a guess. The functions follow bash's own
//! grammar from lists down to commands; words are in `scan.rs`.

use std::collections::HashMap;

use super::word::{Word, is_name};
use super::{Problem, bindings};

/// Nesting of lists, substitutions and words that is followed.
const DEEPEST: usize = 40;
/// Simple commands that are looked at.
pub(super) const MOST_COMMANDS: usize = 1000;

/// A command as it is written: assignments, words, redirections.
#[derive(Clone, Debug, Default)]
pub(super) struct Simple {
    pub assignments: Vec<(String, Word)>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    /// What leads to it from outside: `$(…)`, `function f`.
    pub within: Vec<String>,
    /// How it stands in the text.
    pub source: String,
    /// Text that is given to it on standard input, where it is known.
    pub input: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Redirect {
    pub kind: RedirectKind,
    pub target: Word,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectKind {
    Read,
    Write,
    /// Opened for both.
    ReadWrite,
}

/// Everything found in a text.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub commands: Vec<Simple>,
    /// Why something cannot be known that belongs to no single command.
    pub oddities: Vec<String>,
    /// Functions the text defines.
    pub functions: Vec<String>,
    /// Variables the text makes arrays.
    pub arrays: Vec<String>,
    /// Variables the text sets; `None` when it sets one more than once or not to a fixed text.
    pub variables: HashMap<String, Option<String>>,
}

impl Found {
    pub(super) fn odd(&mut self, reason: &str) {
        if !self.oddities.iter().any(|known| known == reason) {
            self.oddities.push(reason.to_owned());
        }
    }

    /// Notes a name that gets a value which is not written down: that of a loop, of a coprocess, of `{fd}>file`.
    pub(super) fn bind(&mut self, name: &str) {
        if bindings::decides_what_runs(name) {
            self.odd(&bindings::binds(name));
        }
        self.variables.insert(name.to_owned(), None);
    }

    pub(super) fn set_variable(&mut self, name: &str, value: Option<&str>) {
        self.variables
            .entry(name.to_owned())
            .and_modify(|known| *known = None)
            .or_insert_with(|| value.map(str::to_owned));
    }
}

pub(super) struct Parser<'t, 'f> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) found: &'f mut Found,
    pub(super) within: Vec<String>,
    pub(super) documents: Vec<HereDocument>,
}

/// A here-document whose body begins at the next newline.
pub(super) struct HereDocument {
    pub delimiter: String,
    /// Whether the body is taken as it is.
    pub verbatim: bool,
    pub strip_tabs: bool,
    pub command: Option<usize>,
}

/// Where a list ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Parenthesis,
    /// `;;`, `;&`, `;;&` or `esac`.
    CaseItem,
    /// The `}` of `${ …; }`.
    Brace,
    /// One of these reserved words.
    Words(&'static [&'static str]),
}

const RESERVED: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];
pub(super) type Parsed<T> = Result<T, Problem>;

impl<'t, 'f> Parser<'t, 'f> {
    pub(super) fn new(text: &'t str, found: &'f mut Found, within: Vec<String>, depth: usize) -> Self {
        Self { text, at: 0, depth, found, within, documents: Vec::new() }
    }

    /// Reads the whole text.
    pub(super) fn program(&mut self) -> Parsed<()> {
        self.list(Until::End)?;
        if self.documents.is_empty() { Ok(()) } else { Err(Problem::syntax("a here-document has no end")) }
    }

    /// Reads commands up to the `)` of a substitution or subshell.
    pub(super) fn list_in_parentheses(&mut self) -> Parsed<()> {
        let outer = std::mem::take(&mut self.documents);
        self.list(Until::Parenthesis)?;
        if !self.documents.is_empty() {
            return Err(Problem::syntax("a here-document has no end"));
        }
        self.documents = outer;
        self.eat(")").then_some(()).ok_or_else(|| Problem::syntax("`)` is missing"))
    }

    /// Reads the commands of `${ …; }` up to its `}`.
    pub(super) fn list_in_braces(&mut self) -> Parsed<()> {
        let outer = std::mem::take(&mut self.documents);
        self.list(Until::Brace)?;
        if !self.documents.is_empty() {
            return Err(Problem::syntax("a here-document has no end"));
        }
        self.documents = outer;
        self.eat("}").then_some(()).ok_or_else(|| Problem::syntax("`}` is missing"))
    }

    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return Err(Problem::TooDeep);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn list(&mut self, until: Until) -> Parsed<()> {
        self.deeper(|parser| {
            loop {
                parser.skip_newlines()?;
                if parser.ends(until) {
                    return Ok(());
                }
                if parser.is_at_end() {
                    return Err(Problem::syntax("it ends in the middle of a command"));
                }
                parser.and_or()?;
                parser.skip_blanks();
                if parser.ends(until) || parser.starts("\n") {
                    continue;
                }
                let separated =
                    !parser.starts(";;") && !parser.starts(";&") && (parser.eat(";") || parser.eat("&"));
                if !separated && !parser.is_at_end() {
                    return Err(parser.unexpected());
                }
            }
        })
    }

    fn ends(&mut self, until: Until) -> bool {
        self.skip_continuations();
        match until {
            Until::End => self.is_at_end(),
            Until::Parenthesis => self.starts(")"),
            Until::Brace => self.starts("}"),
            Until::CaseItem => self.starts(";;") || self.starts(";&") || self.plain_word() == Some("esac"),
            Until::Words(words) => self.plain_word().is_some_and(|word| words.contains(&word)),
        }
    }

    fn and_or(&mut self) -> Parsed<()> {
        loop {
            self.pipeline()?;
            self.skip_blanks();
            if !self.eat("&&") && !self.eat("||") {
                return Ok(());
            }
            self.skip_newlines()?;
        }
    }

    fn pipeline(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            match self.plain_word() {
                Some("!") => self.at += 1,
                Some("time") => {
                    self.at += 4;
                    self.skip_blanks();
                    if self.plain_word() == Some("-p") {
                        self.at += 2;
                    }
                    self.skip_blanks();
                    if self.is_at_end() || self.starts(";") || self.starts("\n") {
                        return Ok(());
                    }
                }
                _ => break,
            }
        }
        let mut said = None;
        loop {
            let first = self.found.commands.len();
            self.command()?;
            let commands = &mut self.found.commands;
            if let (Some(said), Some(command)) = (said.take(), commands.get_mut(first)) {
                command.input.get_or_insert(said);
            }
            self.skip_blanks();
            if self.starts("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(());
            }
            // What `echo` writes is what the next command reads.
            said = match self.found.commands.get(first..) {
                Some([only]) => said_by(only),
                _ => None,
            };
            self.skip_newlines()?;
        }
    }

    fn command(&mut self) -> Parsed<()> {
        self.deeper(Self::command_here)
    }

    fn command_here(&mut self) -> Parsed<()> {
        self.skip_blanks();
        if self.starts("(") {
            if let Some(end) = self.arithmetic_end(self.at) {
                self.at += 2;
                self.arithmetic(end)?;
                self.at = end + 2;
            } else {
                self.at += 1;
                self.inside("( … )", Self::list_in_parentheses)?;
            }
            return self.redirects_after();
        }
        let Some(word) = self.plain_word() else { return self.simple() };
        match word {
            "{" => {
                self.at += 1;
                self.list(Until::Words(&["}"]))?;
                self.expect_word("}")?;
            }
            "if" => {
                self.at += 2;
                self.list(Until::Words(&["then"]))?;
                self.expect_word("then")?;
                loop {
                    self.list(Until::Words(&["elif", "else", "fi"]))?;
                    match self.plain_word() {
                        Some("elif") => {
                            self.at += 4;
                            self.list(Until::Words(&["then"]))?;
                            self.expect_word("then")?;
                        }
                        Some("else") => {
                            self.at += 4;
                            self.list(Until::Words(&["fi"]))?;
                            self.expect_word("fi")?;
                            break;
                        }
                        _ => {
                            self.expect_word("fi")?;
                            break;
                        }
                    }
                }
            }
            "while" | "until" => {
                self.at += 5;
                self.list(Until::Words(&["do"]))?;
                self.loop_body()?;
            }
            "for" | "select" => {
                self.at += word.len();
                self.for_loop()?;
            }
            "case" => {
                self.at += 4;
                self.case()?;
            }
            "[[" => {
                self.at += 2;
                self.condition()?;
            }
            "function" => {
                self.at += 8;
                self.skip_blanks();
                let name = self.word()?;
                self.skip_blanks();
                if self.eat("(") {
                    self.skip_blanks();
                    self.eat(")").then_some(()).ok_or_else(|| Problem::syntax("`)` is missing"))?;
                }
                return self.function(&name);
            }
            "coproc" => {
                self.at += 6;
                return self.coprocess();
            }
            word if RESERVED.contains(&word) => return Err(self.unexpected()),
            _ => return self.simple(),
        }
        self.redirects_after()
    }

    pub(super) fn function(&mut self, name: &Word) -> Parsed<()> {
        self.skip_newlines()?;
        self.skip_blanks();
        if !self.begins_compound() {
            return Err(Problem::syntax("a function has no body"));
        }
        self.found.functions.push(name.text.clone());
        self.inside(&format!("function {}", name.text), Self::command)
    }

    /// Whether a compound command begins here.
    fn begins_compound(&self) -> bool {
        let opening = ["{", "if", "while", "until", "for", "select", "case", "[["];
        self.starts("(") || self.plain_word().is_some_and(|word| opening.contains(&word))
    }

    /// `coproc [NAME] command`; a name stands only before a compound command.
    fn coprocess(&mut self) -> Parsed<()> {
        self.skip_blanks();
        let start = self.at;
        if let Some(name) = self.plain_word().filter(|word| is_name(word) && !self.begins_compound()) {
            self.at += name.len();
            self.skip_blanks();
            if self.begins_compound() {
                self.found.bind(name);
                self.found.bind(&format!("{name}_PID"));
                self.found.arrays.push(name.to_owned());
            } else {
                self.at = start;
            }
        }
        self.inside("coproc", Self::command)
    }

    fn loop_body(&mut self) -> Parsed<()> {
        if self.plain_word() == Some("{") {
            self.at += 1;
            self.list(Until::Words(&["}"]))?;
            return self.expect_word("}");
        }
        self.expect_word("do")?;
        self.list(Until::Words(&["done"]))?;
        self.expect_word("done")
    }

    fn for_loop(&mut self) -> Parsed<()> {
        self.skip_blanks();
        if self.starts("((") {
            let end = self.arithmetic_end(self.at).ok_or_else(|| Problem::syntax("`))` is missing"))?;
            self.at += 2;
            self.arithmetic_parts(end)?;
            self.at = end + 2;
        } else {
            let name = self.word()?;
            let known = name.known().filter(|name| is_name(name));
            let name = known.ok_or_else(|| Problem::syntax("a loop has no variable"))?.to_owned();
            self.found.bind(&name);
            self.skip_newlines()?;
            if self.plain_word() == Some("in") {
                self.at += 2;
                loop {
                    self.skip_blanks();
                    if self.is_at_end() || self.starts(";") || self.starts("\n") {
                        break;
                    }
                    self.some_word()?;
                }
            }
        }
        self.skip_blanks();
        if !self.starts(";;") {
            self.eat(";");
        }
        self.skip_newlines()?;
        self.loop_body()
    }

    fn case(&mut self) -> Parsed<()> {
        self.skip_blanks();
        self.some_word()?;
        self.skip_newlines()?;
        self.expect_word("in")?;
        loop {
            self.skip_newlines()?;
            if self.plain_word() == Some("esac") {
                return self.expect_word("esac");
            }
            self.eat("(");
            loop {
                self.skip_blanks();
                self.some_word()?;
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                return Err(Problem::syntax("a pattern of `case` has no `)`"));
            }
            self.list(Until::CaseItem)?;
            if !self.eat(";;&") && !self.eat(";;") && !self.eat(";&") && self.plain_word() != Some("esac") {
                return Err(self.unexpected());
            }
        }
    }

    /// The inside of `[[ … ]]`.
    fn condition(&mut self) -> Parsed<()> {
        let mut open = 0_usize;
        let mut previous = String::new();
        loop {
            self.skip_newlines()?;
            if self.is_at_end() {
                return Err(Problem::syntax("`]]` is missing"));
            }
            if self.plain_word() == Some("]]") {
                self.at += 2;
                return (open == 0).then_some(()).ok_or_else(|| Problem::syntax("`)` is missing"));
            }
            if self.eat("&&") || self.eat("||") {
                previous.clear();
                continue;
            }
            if self.eat("(") {
                open += 1;
                continue;
            }
            if self.starts(")") && open > 0 {
                self.at += 1;
                open -= 1;
                continue;
            }
            if !self.starts("<(") && !self.starts(">(") && (self.eat("<") || self.eat(">")) {
                continue;
            }
            let word = self.some_word()?;
            let evaluates = matches!(previous.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
            let is_number =
                word.literal && word.text.trim_start_matches('-').chars().all(|c| c.is_ascii_digit());
            if evaluates && !is_number || matches!(previous.as_str(), "-v" | "-R") {
                self.found.odd("`[[` evaluates a text that may hold a command");
            }
            if matches!(word.text.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
                && !previous.chars().all(|c| c.is_ascii_digit())
            {
                self.found.odd("`[[` evaluates a text that may hold a command");
            }
            previous = word.text;
        }
    }

    /// Blanks, newlines and comments. Bodies of here-documents follow a newline.
    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if !self.eat("\n") {
                return Ok(());
            }
            for document in std::mem::take(&mut self.documents) {
                self.here_document(document)?;
            }
        }
    }

    fn here_document(&mut self, document: HereDocument) -> Parsed<()> {
        let mut body = String::new();
        loop {
            if self.is_at_end() {
                return Err(Problem::syntax("a here-document has no end"));
            }
            let line = self.document_line(document.verbatim);
            let line = if document.strip_tabs { line.trim_start_matches('\t') } else { &line };
            if line == document.delimiter {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        if !document.verbatim {
            let (within, depth) = (self.within.clone(), self.depth);
            let mut inner = Parser::new(&body, self.found, within, depth);
            inner.expansions()?;
        }
        if let Some(command) = document.command.and_then(|place| self.found.commands.get_mut(place)) {
            command.input = Some(body);
        }
        Ok(())
    }

    /// A line of a here-document; where the document is expanded, a backslash joins two lines.
    fn document_line(&mut self, verbatim: bool) -> String {
        let mut line = String::new();
        let mut characters = self.text[self.at..].chars();
        while let Some(character) = characters.next() {
            self.at += character.len_utf8();
            match character {
                '\n' => break,
                '\\' if !verbatim => match characters.next() {
                    Some('\n') => self.at += 1,
                    Some(escaped) => {
                        self.at += escaped.len_utf8();
                        line.extend(['\\', escaped]);
                    }
                    None => line.push('\\'),
                },
                character => line.push(character),
            }
        }
        line
    }

    pub(super) fn inside<T>(&mut self, what: &str, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.within.push(what.to_owned());
        let result = inner(self);
        self.within.pop();
        result
    }

    fn expect_word(&mut self, word: &'static str) -> Parsed<()> {
        self.skip_blanks();
        if self.plain_word() != Some(word) {
            return Err(Problem::syntax(&format!("`{word}` is missing")));
        }
        self.at += word.len();
        Ok(())
    }

    /// A word where there must be one.
    pub(super) fn some_word(&mut self) -> Parsed<Word> {
        let start = self.at;
        let word = self.word()?;
        if self.at > start { Ok(word) } else { Err(self.unexpected()) }
    }

    pub(super) fn unexpected(&self) -> Problem {
        let near: String = self.text[self.at..].chars().take(12).collect();
        Problem::syntax(&format!("something is wrong at `{}`", near.escape_debug()))
    }
}

/// What a command writes, where that is plain: `echo`'s words.
fn said_by(command: &Simple) -> Option<String> {
    let (program, rest) = command.words.split_first()?;
    let says = matches!(program.text.as_str(), "echo" | "printf");
    (says && rest.iter().all(|word| word.literal))
        .then(|| rest.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
}
