//! Finds calls in text that arrives in pieces of any size.
//!
//! Three ways of writing a call are known: `<bash><command>ls</command></bash>`,
//! `<tool_call>{"name": "bash", "arguments": {...}}</tool_call>` and
//! `<function=bash><parameter=command>ls</parameter></function>`, which some models also put inside
//! `<tool_call>`. What stands in a code fence or after a backtick is text. A tag that may still become one is
//! held back until it is decided.

use std::sync::Arc;

use stepwell_protocol::ToolDefinition;

use super::values::{self, Parsed};

const JSON_OPEN: &str = "<tool_call>";
const JSON_CLOSE: &str = "</tool_call>";
const FUNCTION_OPEN: &str = "<function=";
const FUNCTION_CLOSE: &str = "</function>";

/// A function's tag longer than this is none.
const MAX_FUNCTION_TAG: usize = 160;

/// What was found. A call's start comes as soon as it is certain, its arguments when it is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    CallStart { name: String },
    Arguments(String),
}

/// Why the text is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextEnd {
    /// The model had no more to say; a missing end tag was forgotten.
    Meant,
    /// A limit was reached: more would have followed.
    CutOff,
}

#[derive(Debug)]
pub(super) struct Parser {
    tools: Arc<[ToolDefinition]>,
    /// Not yet decided: a possible tag, or the inside of a call.
    pending: String,
    mode: Mode,
    line: Line,
    in_fence: bool,
    after_backtick: bool,
    /// White space that is only text if text follows.
    blank: String,
    any_call: bool,
    /// A `<tool_call>` around a call of another form is open: its end is no text.
    wrapped: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Mode {
    Text,
    Named { tool: usize, alias: Option<usize>, searched: usize, started: bool },
    Json { searched: usize },
    Function { tool: usize, searched: usize },
}

/// Where in a line the text is, as far as code fences care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Indent(u8),
    Ticks(u8),
    Rest,
}

enum Tag {
    Open {
        mode: Mode,
        length: usize,
    },
    /// The end of a wrapper; says nothing.
    Ignored {
        length: usize,
    },
    Partial,
    No,
}

impl Parser {
    pub(super) fn new(tools: Arc<[ToolDefinition]>) -> Self {
        Self {
            tools,
            pending: String::new(),
            mode: Mode::Text,
            line: Line::Indent(0),
            in_fence: false,
            after_backtick: false,
            blank: String::new(),
            any_call: false,
            wrapped: false,
        }
    }

    pub(super) fn restart(&mut self) {
        *self = Self::new(Arc::clone(&self.tools));
    }

    pub(super) fn feed(&mut self, text: &str) -> Vec<Piece> {
        let mut out = Vec::new();
        self.pending.push_str(text);
        while self.step(&mut out) {}
        out
    }

    /// The text is over: what is still undecided is decided now.
    pub(super) fn finish(&mut self, end: TextEnd) -> Vec<Piece> {
        let mut out = Vec::new();
        loop {
            while self.step(&mut out) {}
            if !self.force(end, &mut out) {
                break;
            }
        }
        let rest = std::mem::take(&mut self.pending);
        self.text(&rest, &mut out);
        let blank = std::mem::take(&mut self.blank);
        if !blank.is_empty() && !self.any_call {
            push_text(&blank, &mut out);
        }
        out
    }

    /// Goes on until more text is needed; says whether there may be more to do.
    fn step(&mut self, out: &mut Vec<Piece>) -> bool {
        match self.mode.clone() {
            Mode::Text => self.step_text(out),
            Mode::Named { tool, alias, searched, started } => {
                let (name, close) = self.tags(tool, alias);
                let searched = self.step_named(tool, (&name, &close), (searched, started), out);
                if let Some((searched, started)) = searched {
                    self.mode = Mode::Named { tool, alias, searched, started };
                }
                searched.is_none()
            }
            Mode::Json { searched } => self.step_json(searched, out),
            Mode::Function { tool, searched } => {
                let Some(at) = self.find(FUNCTION_CLOSE, searched) else {
                    self.mode = Mode::Function { tool, searched: self.safe_end(FUNCTION_CLOSE) };
                    return false;
                };
                let body = self.take(at, FUNCTION_CLOSE.len());
                self.call(tool, &values::function(&self.tools[tool], &body), false, out);
                true
            }
        }
    }

    fn step_text(&mut self, out: &mut Vec<Piece>) -> bool {
        let mut position = 0;
        let found = loop {
            let Some(byte) = self.pending.as_bytes().get(position).copied() else { break None };
            if byte == b'<' && !self.in_fence && !self.after_backtick {
                match self.tag(&self.pending[position..]) {
                    Tag::No => {}
                    tag => break Some(tag),
                }
            }
            self.pass(byte);
            position += 1;
        };
        let said: String = self.pending.drain(..position).collect();
        self.text(&said, out);
        match found {
            None | Some(Tag::Partial | Tag::No) => false,
            Some(Tag::Ignored { length }) => {
                self.pending.drain(..length);
                self.wrapped = false;
                true
            }
            Some(Tag::Open { mode, length }) => {
                self.pending.drain(..length);
                self.mode = mode;
                true
            }
        }
    }

    /// Keeps track of fences and backticks.
    fn pass(&mut self, byte: u8) {
        self.after_backtick = byte == b'`';
        self.line = match (self.line, byte) {
            (_, b'\n') => Line::Indent(0),
            (Line::Indent(count), b' ') if count < 3 => Line::Indent(count + 1),
            (Line::Indent(_), b'`') => Line::Ticks(1),
            (Line::Ticks(2), b'`') => {
                self.in_fence = !self.in_fence;
                Line::Rest
            }
            (Line::Ticks(count), b'`') => Line::Ticks(count + 1),
            _ => Line::Rest,
        };
    }

    /// What the text, which begins with `<`, begins with.
    fn tag(&self, text: &str) -> Tag {
        let mut partial = false;
        for (tool, alias, name) in self.names() {
            if let Some(rest) = text.strip_prefix('<').and_then(|rest| rest.strip_prefix(name)) {
                if rest.starts_with('>') {
                    let mode = Mode::Named { tool, alias, searched: 0, started: false };
                    return Tag::Open { mode, length: name.len() + 2 };
                }
                partial |= rest.is_empty();
            } else {
                partial |= name.starts_with(&text[1..]);
            }
        }
        if text.starts_with(JSON_OPEN) {
            return Tag::Open { mode: Mode::Json { searched: 0 }, length: JSON_OPEN.len() };
        }
        if self.wrapped && text.starts_with(JSON_CLOSE) {
            return Tag::Ignored { length: JSON_CLOSE.len() };
        }
        partial |= JSON_OPEN.starts_with(text) || (self.wrapped && JSON_CLOSE.starts_with(text));
        partial |= FUNCTION_OPEN.starts_with(text);
        if let Some(rest) = text.strip_prefix(FUNCTION_OPEN) {
            match rest.find(['>', '\n', '<']) {
                Some(end) if rest.as_bytes()[end] == b'>' => {
                    let name = rest[..end].trim_matches(['"', '\'', ' ']);
                    if let Some((tool, ..)) = self.names().find(|(.., known)| *known == name) {
                        let length = FUNCTION_OPEN.len() + end + 1;
                        return Tag::Open { mode: Mode::Function { tool, searched: 0 }, length };
                    }
                }
                Some(_) => {}
                None => partial |= rest.len() < MAX_FUNCTION_TAG,
            }
        }
        if partial { Tag::Partial } else { Tag::No }
    }

    /// Every name of a tool, with the tool and the number of the alias.
    fn names(&self) -> impl Iterator<Item = (usize, Option<usize>, &str)> {
        self.tools.iter().enumerate().flat_map(|(tool, definition)| {
            let aliases = definition.forms.aliases.iter().enumerate();
            let own = std::iter::once((tool, None, definition.name.as_str()));
            own.chain(aliases.map(move |(alias, name)| (tool, Some(alias), name.as_str())))
        })
    }

    /// The tags of a call by the name it was opened with.
    fn tags(&self, tool: usize, alias: Option<usize>) -> (String, String) {
        let definition = &self.tools[tool];
        let name = alias.and_then(|alias| definition.forms.aliases.get(alias)).unwrap_or(&definition.name);
        (format!("<{name}>"), format!("</{name}>"))
    }

    /// Looks for the end of a call; without one, gives how far it was searched and whether the call has begun.
    fn step_named(
        &mut self,
        tool: usize,
        (open, close): (&str, &str),
        (searched, mut started): (usize, bool),
        out: &mut Vec<Piece>,
    ) -> Option<(usize, bool)> {
        if !started {
            let end = self.find(close, 0).unwrap_or(self.pending.len());
            if values::has_parameter(&self.tools[tool], &self.pending[..end]) {
                started = true;
                self.start(tool, out);
            }
        }
        let mut from = searched;
        while let Some(at) = self.find(close, from) {
            if values::is_complete(&self.tools[tool], &self.pending[..at]) {
                let body = self.take(at, close.len());
                let parsed = values::named(&self.tools[tool], &body);
                if parsed == Parsed::NoCall && !started {
                    // Words about a tool, not a call of it.
                    self.text(&format!("{open}{body}{close}"), out);
                    return None;
                }
                self.call(tool, &parsed, started, out);
                return None;
            }
            // The tool's end within a value that is not closed yet is part of the value.
            from = at + close.len();
        }
        Some((from.max(self.safe_end(close)), started))
    }

    fn step_json(&mut self, searched: usize, out: &mut Vec<Piece>) -> bool {
        if self.pending.trim_start().starts_with('<') {
            // Another form inside the wrapper, or nothing at all.
            let start = self.pending.len() - self.pending.trim_start().len();
            self.pending.drain(..start);
            self.mode = Mode::Text;
            self.wrapped = true;
            return true;
        }
        let mut from = searched;
        while let Some(at) = self.find(JSON_CLOSE, from) {
            if let Some((name, arguments)) = values::json_call(&self.pending[..at]) {
                self.take(at, JSON_CLOSE.len());
                self.emit_call(name, arguments, out);
                return true;
            }
            from = at + JSON_CLOSE.len();
        }
        self.mode = Mode::Json { searched: from.max(self.safe_end(JSON_CLOSE)) };
        false
    }

    /// The end has come inside a call: makes of it what can be made. Says whether text may remain.
    fn force(&mut self, text_end: TextEnd, out: &mut Vec<Piece>) -> bool {
        match std::mem::replace(&mut self.mode, Mode::Text) {
            Mode::Text => false,
            Mode::Named { tool, alias, started, .. } => {
                let (open, close) = self.tags(tool, alias);
                let (end, length) = match self.find(&close, 0) {
                    Some(at) => (at, close.len()),
                    None => (self.pending.len(), 0),
                };
                let body = self.take(end, length);
                if started || length > 0 {
                    let mut parsed = values::named(&self.tools[tool], &body);
                    if text_end == TextEnd::CutOff && length == 0 {
                        parsed = parsed.cut_off();
                    }
                    self.call(tool, &parsed, started, out);
                } else {
                    self.text(&format!("{open}{body}"), out);
                }
                true
            }
            Mode::Json { .. } => {
                let body = std::mem::take(&mut self.pending);
                match values::json_call(&body) {
                    Some((name, arguments)) => self.emit_call(name, arguments, out),
                    None => self.text(&format!("{JSON_OPEN}{body}"), out),
                }
                true
            }
            Mode::Function { tool, .. } => {
                let body = std::mem::take(&mut self.pending);
                let mut parsed = values::function(&self.tools[tool], &body);
                if text_end == TextEnd::CutOff {
                    parsed = parsed.cut_off();
                }
                self.call(tool, &parsed, false, out);
                true
            }
        }
    }

    fn find(&self, close: &str, from: usize) -> Option<usize> {
        let from = self.pending.floor_char_boundary(from);
        memchr::memmem::find(&self.pending.as_bytes()[from..], close.as_bytes()).map(|at| from + at)
    }

    /// From here on an end tag may begin that is not whole yet.
    fn safe_end(&self, close: &str) -> usize {
        self.pending.len().saturating_sub(close.len() - 1)
    }

    /// Takes the body and its end tag off; text follows.
    fn take(&mut self, end: usize, close: usize) -> String {
        let body = self.pending[..end].to_owned();
        self.pending.drain(..end + close);
        self.mode = Mode::Text;
        body
    }

    fn start(&mut self, tool: usize, out: &mut Vec<Piece>) {
        self.blank.clear();
        self.any_call = true;
        out.push(Piece::CallStart { name: self.tools[tool].name.clone() });
    }

    fn call(&mut self, tool: usize, parsed: &Parsed, started: bool, out: &mut Vec<Piece>) {
        if !started {
            self.start(tool, out);
        }
        out.push(Piece::Arguments(match parsed {
            Parsed::Arguments(json) | Parsed::CutOff(json) => json.clone(),
            Parsed::NoCall => "{}".to_owned(),
        }));
        self.after_call();
    }

    fn emit_call(&mut self, name: String, arguments: String, out: &mut Vec<Piece>) {
        self.blank.clear();
        self.any_call = true;
        out.push(Piece::CallStart { name });
        out.push(Piece::Arguments(arguments));
        self.after_call();
    }

    fn after_call(&mut self) {
        self.line = Line::Rest;
        self.after_backtick = false;
    }

    /// Text, whose white space at the end waits for what follows.
    fn text(&mut self, text: &str, out: &mut Vec<Piece>) {
        let end = text.trim_end().len();
        if end == 0 {
            self.blank.push_str(text);
            return;
        }
        let blank = std::mem::take(&mut self.blank);
        push_text(&blank, out);
        push_text(&text[..end], out);
        self.blank.push_str(&text[end..]);
    }
}

fn push_text(text: &str, out: &mut Vec<Piece>) {
    if text.is_empty() {
        return;
    }
    if let Some(Piece::Text(last)) = out.last_mut() {
        last.push_str(text);
    } else {
        out.push(Piece::Text(text.to_owned()));
    }
}
