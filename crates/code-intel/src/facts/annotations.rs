//! Annotation macros of C and C++, taken out before the text is parsed.
//!
//! `class EXPORT Name {`, `int count GUARDED_BY(lock);`, `API int f(void) NOEXCEPT;`: to the preprocessor these words
//! are macros that give an attribute or nothing, to a grammar they are one word too many, and it makes something else
//! of the declaration. Where a word in upper case stands in a place of a declaration where no type and no name can
//! stand, it is overwritten with spaces; the names in it are still counted as used. In bodies of functions such a word
//! is mostly a call or a constant and stays. Branches of `#if` within a declaration go the same way, but for the first,
//! and so does what the grammar cannot read in conditions and in what macros are given.

mod declaration;
pub(super) mod tokens;
mod words;

use std::collections::HashSet;

use super::{Facts, Occurrence, Position, Receiver, Span};
use tokens::{Piece, Token, pieces};
use words::{TYPES, is_keyword, is_macro};

/// A text without its annotations, and the bytes where they stood.
pub(super) struct Cleaned {
    pub text: String,
    pub removed: Vec<Span>,
}

/// The text without annotations; `None` where there are none.
pub(super) fn without(text: &str) -> Option<Cleaned> {
    let pieces = pieces(text);
    let (removed, blanked, open, kept) = (Vec::new(), Vec::new(), Vec::new(), HashSet::new());
    let mut scan = Scan { text, pieces: &pieces, removed, blanked, open, kept, depth: 0 };
    scan.declarations(0, pieces.len());
    scan.conditions();
    if scan.removed.is_empty() && scan.blanked.is_empty() {
        return None;
    }
    let mut names: Vec<Span> = scan.removed.iter().map(|(span, _)| *span).collect();
    names.sort();
    let mut removed = scan.removed;
    removed.extend(scan.blanked);
    removed.sort_by_key(|(span, _)| *span);
    let mut bytes = text.as_bytes().to_vec();
    for (span, stand_in) in &removed {
        let range = span.start as usize..span.end as usize;
        for byte in bytes.get_mut(range.clone()).into_iter().flatten() {
            // Lines stay where they are.
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        if let Some(place) = bytes.get_mut(range).filter(|place| place.len() >= stand_in.len()) {
            place[..stand_in.len()].copy_from_slice(stand_in.as_bytes());
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    Some(Cleaned { text, removed: names })
}

/// Adds the names that stand in what was taken out.
pub(super) fn add_names(facts: &mut Facts, text: &str, removed: &[Span]) {
    let bytes = text.as_bytes();
    let (mut line, mut line_start, mut counted) = (1, 0, 0);
    for span in removed {
        let inside = pieces(span.of(text));
        for piece in inside.iter().filter(|piece| piece.token == Token::Word) {
            let start = span.start as usize + piece.start;
            for (at, byte) in bytes.iter().enumerate().take(start).skip(counted) {
                if *byte == b'\n' {
                    line += 1;
                    line_start = at + 1;
                }
            }
            counted = start;
            let column = text.get(line_start..start).unwrap_or_default().chars().count() as u32 + 1;
            facts.occurrences.push(Occurrence {
                span: Span { start: start as u32, end: span.start + piece.end as u32 },
                at: Position { line, column },
                receiver: Receiver::None,
            });
        }
    }
    facts.occurrences.sort_by_key(|occurrence| occurrence.span.start);
}

struct Scan<'t> {
    text: &'t str,
    pieces: &'t [Piece],
    /// What is taken out, and what stands there instead.
    removed: Vec<(Span, &'static str)>,
    /// The same for what has no names in it.
    blanked: Vec<(Span, &'static str)>,
    /// The classes and namespaces that are open, by their names.
    open: Vec<&'t str>,
    /// The ends of branches that stand within a declaration.
    kept: HashSet<usize>,
    /// Classes in functions in classes.
    depth: usize,
}

/// How many pieces are gone over in search of an end, where a text may have very many that have none.
const FARTHEST: usize = 2000;
const DEEPEST: usize = 8;

impl<'t> Scan<'t> {
    fn token(&self, at: usize) -> Option<Token> {
        self.pieces.get(at).map(|piece| piece.token)
    }

    fn word(&self, at: usize) -> &'t str {
        match self.pieces.get(at) {
            Some(piece) if piece.token == Token::Word => {
                self.text.get(piece.start..piece.end).unwrap_or_default()
            }
            _ => "",
        }
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.token(at) == Some(Token::Sign(sign))
    }

    /// Whether a name stands here that is no word of the language.
    fn is_name(&self, at: usize) -> bool {
        let word = self.word(at);
        !word.is_empty() && !is_keyword(word)
    }

    /// Behind the bracket that is opened here.
    fn behind_bracket(&self, at: usize, open: u8, close: u8) -> usize {
        let mut depth = 0_usize;
        for (index, piece) in self.pieces.iter().enumerate().skip(at) {
            match piece.token {
                Token::Sign(sign) if sign == open => depth += 1,
                Token::Sign(sign) if sign == close => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return index + 1;
                    }
                }
                // No list of arguments or parameters reaches so far.
                Token::Sign(b';' | b'{' | b'}') if open == b'<' => return at + 1,
                _ => {}
            }
        }
        self.pieces.len()
    }

    /// Behind a word and what it is given in brackets.
    fn behind_macro(&self, at: usize) -> usize {
        if self.is_sign(at + 1, b'(') { self.behind_bracket(at + 1, b'(', b')') } else { at + 1 }
    }

    /// Behind a body in braces; branches of `#if` and `#else` may each open or close one.
    fn behind_body(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        let mut branches: Vec<usize> = Vec::new();
        for (index, piece) in self.pieces.iter().enumerate().skip(at) {
            match piece.token {
                Token::Sign(b'{') => depth += 1,
                Token::Sign(b'}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return index + 1;
                    }
                }
                Token::If => branches.push(depth),
                // Without an `#if` in the body, the branch began before it.
                Token::Else => depth = branches.last().copied().unwrap_or_default(),
                Token::End => {
                    branches.pop();
                }
                _ => {}
            }
        }
        self.pieces.len()
    }

    fn remove(&mut self, from: usize, to: usize, stand_in: &'static str) {
        self.removed.extend(self.span_of(from, to).map(|span| (span, stand_in)));
    }

    fn blank(&mut self, from: usize, to: usize, stand_in: &'static str) {
        self.blanked.extend(self.span_of(from, to).map(|span| (span, stand_in)));
    }

    fn span_of(&self, from: usize, to: usize) -> Option<Span> {
        let (first, last) = (self.pieces.get(from)?, self.pieces.get(to.saturating_sub(1))?);
        Some(Span { start: first.start as u32, end: last.end as u32 })
    }

    /// Goes through all declarations of a file or of a class.
    fn declarations(&mut self, from: usize, to: usize) {
        let mut first = from;
        let mut at = from;
        while let Some(token) = self.token(at).filter(|_| at < to) {
            match token {
                Token::Sign(b'{') if self.is_open(first, at) => {
                    self.declaration(first, at);
                    let name = self.opened_name(first, at);
                    self.open.push(name);
                    at += 1;
                    first = at;
                }
                Token::Sign(b'{') => {
                    let end = self.behind_body(at);
                    self.body(at, end);
                    let is_done = !self.is_sign(end, b';') && !self.is_sign(end, b',');
                    if is_done {
                        self.declaration(first, at);
                        first = end;
                    }
                    at = end;
                }
                Token::If if self.is_unfinished(first, at) => at = self.keep_first_branch(at),
                _ if self.kept.contains(&at) => at += 1,
                Token::Sign(b';' | b'}') | Token::If | Token::Else | Token::End => {
                    self.declaration(first, at);
                    if token == Token::Sign(b'}') {
                        self.open.pop();
                    }
                    at += 1;
                    first = at;
                }
                Token::Sign(b':')
                    if matches!(self.word(at.wrapping_sub(1)), "public" | "private" | "protected") =>
                {
                    at += 1;
                    first = at;
                }
                Token::Sign(b'(') => at = self.behind_bracket(at, b'(', b')'),
                _ => at += 1,
            }
        }
        self.declaration(first, at);
    }

    /// Whether a declaration goes on behind a directive: `class A`, and then `#if X`.
    fn is_unfinished(&self, first: usize, at: usize) -> bool {
        first < at && !self.is_only_macros(first, at)
    }

    /// Of branches within a declaration the first is kept, for the grammar knows none there. Returns where it begins.
    fn keep_first_branch(&mut self, at: usize) -> usize {
        let (mut depth, mut other, mut end) = (0_usize, None, None);
        for (index, piece) in self.pieces.iter().enumerate().skip(at).take(FARTHEST) {
            match piece.token {
                Token::If => depth += 1,
                Token::Else if depth == 1 => other = other.or(Some(index)),
                Token::End => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        end = Some(index);
                        break;
                    }
                }
                // So far reaches no declaration.
                Token::Sign(b'{' | b'}' | b';') if depth == 1 && other.is_none() => return at + 1,
                _ => {}
            }
        }
        let Some(end) = end else { return at + 1 };
        self.blank(at, at + 1, "");
        match other {
            Some(other) => self.remove(other, end + 1, ""),
            None => self.blank(end, end + 1, ""),
        }
        // What is left out is gone over as if it stood behind the first branch.
        self.kept.extend(other.unwrap_or(end)..=end);
        at + 1
    }

    /// What stands in the body of a function: classes, and types that a macro is given, where the grammar knows values
    /// only.
    fn body(&mut self, first: usize, end: usize) {
        if self.depth >= DEEPEST {
            return;
        }
        self.depth += 1;
        let mut at = first;
        while at < end {
            if matches!(self.word(at), "struct" | "class") && self.is_name(at + 1) {
                let brace = (at + 1..end).take(64).find(|one| {
                    matches!(self.token(*one), Some(Token::Sign(b'{' | b';' | b'(' | b')' | b'=')))
                });
                if let Some(brace) = brace.filter(|brace| self.is_sign(*brace, b'{')) {
                    let close = self.behind_body(brace).min(end);
                    self.open.push(self.word(at + 1));
                    self.declarations(brace + 1, close.saturating_sub(1));
                    self.open.pop();
                    at = close.max(at + 1);
                    continue;
                }
            }
            let is_given = is_macro(self.word(at)) && self.is_sign(at + 1, b'(');
            at += 1;
            if !is_given {
                continue;
            }
            let (mut depth, mut from) = (0_usize, at + 1);
            for index in (at..end).take(FARTHEST / 8) {
                match self.token(index) {
                    Some(Token::Sign(b'(')) => depth += 1,
                    Some(Token::Sign(b')')) => depth -= 1,
                    Some(Token::Sign(b',')) => {}
                    _ => continue,
                }
                let is_end = self.is_sign(index, b',') && depth == 1 || depth == 0;
                if is_end && self.is_plain_type(from, index) {
                    self.blank(from, index, "0");
                }
                from = index + 1;
                if depth == 0 {
                    break;
                }
            }
        }
        self.depth -= 1;
    }

    /// Whether nothing but a type of the language stands here, such as `const char*`.
    fn is_plain_type(&self, from: usize, to: usize) -> bool {
        let is_type = |at: usize| TYPES.contains(&self.word(at));
        let is_around =
            |at: usize| self.word(at) == "const" || matches!(self.token(at), Some(Token::Sign(b'*' | b'&')));
        (from..to).any(is_type) && (from..to).all(|at| is_type(at) || is_around(at))
    }

    /// The name of a class or a namespace whose brace stands here.
    fn opened_name(&self, first: usize, brace: usize) -> &'t str {
        let mut is_class = false;
        let mut at = first;
        while at < brace {
            match self.word(at) {
                "template" if self.is_sign(at + 1, b'<') => {
                    at = self.behind_bracket(at + 1, b'<', b'>');
                    continue;
                }
                "class" | "struct" | "union" => is_class = true,
                word if is_class && is_macro(word) && self.type_end(self.behind_macro(at)).is_some() => {
                    at = self.behind_macro(at);
                    continue;
                }
                // The last name of a path.
                word if is_class && !word.is_empty() && self.token(at + 1) != Some(Token::Path) => {
                    return word;
                }
                _ => {}
            }
            at += 1;
        }
        ""
    }

    /// Names of files in conditions, which the grammar does not read.
    fn conditions(&mut self) {
        for piece in self.pieces.iter().filter(|piece| matches!(piece.token, Token::If | Token::Else)) {
            let line = self.text.get(piece.start..piece.end).unwrap_or_default();
            for (at, _) in line.match_indices('(') {
                let inside = &line[at + 1..];
                let is_file = inside.starts_with(['<', '"']);
                if let Some(end) = inside.find(')').filter(|_| is_file) {
                    let start = (piece.start + at + 1) as u32;
                    self.blanked.push((Span { start, end: start + end as u32 }, "1"));
                }
            }
        }
    }

    /// Whether nothing but macros stand from a place to an end that ends no declaration.
    fn is_only_macros(&self, from: usize, end: usize) -> bool {
        const MOST: usize = 16;
        let is_end =
            matches!(self.token(end), None | Some(Token::If | Token::Else | Token::End | Token::Sign(b'}')));
        let mut at = from;
        for _ in 0..MOST {
            if at >= end || !is_macro(self.word(at)) {
                break;
            }
            at = self.behind_macro(at);
        }
        is_end && at == end
    }

    /// Whether the name of what makes or ends values of a class stands here: `Name(`, `~Name(`, `a::Name::Name(`.
    fn is_maker(&self, from: usize) -> bool {
        let mut at = from;
        let mut class = self.open.last().copied().unwrap_or_default();
        while self.token(at + 1) == Some(Token::Path) {
            class = self.word(at);
            at += 2;
        }
        if self.is_sign(at, b'~') {
            at += 1;
        }
        !class.is_empty() && self.word(at) == class && self.is_sign(at + 1, b'(')
    }

    /// Whether a brace opens a class or a namespace, in which declarations stand.
    fn is_open(&self, first: usize, brace: usize) -> bool {
        let mut is_class = false;
        let mut is_head = true;
        let mut at = first;
        while at < brace {
            match self.word(at) {
                "namespace" => return true,
                "extern" if self.token(at + 1) == Some(Token::Literal) && at + 2 == brace => return true,
                "enum" => return false,
                "template" if self.is_sign(at + 1, b'<') => {
                    at = self.behind_bracket(at + 1, b'<', b'>');
                    continue;
                }
                "class" | "struct" | "union" => is_class = true,
                word if is_class && is_macro(word) => {
                    at = self.behind_macro(at);
                    continue;
                }
                _ => {}
            }
            match self.token(at) {
                Some(Token::Sign(b'=')) => return false,
                Some(Token::Sign(b':')) => is_head = false,
                Some(Token::Sign(b'(')) if is_head => return false,
                _ => {}
            }
            at += 1;
        }
        is_class
    }
}
