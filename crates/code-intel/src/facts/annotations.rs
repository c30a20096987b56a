//! Annotation macros of C and C++, taken out before the text is parsed.
//!
//! `class EXPORT Name {`, `int count GUARDED_BY(lock);`, `API int f(void) NOEXCEPT;`: to the preprocessor these words
//! are macros that give an attribute or nothing, to a grammar they are one word too many, and it makes something else
//! of the declaration. Where a word in upper case stands in a place of a declaration where no type and no name can
//! stand, it is overwritten with spaces; the names in it are still counted as used. Bodies of functions are not
//! looked at: there such a word is mostly a call or a constant.

mod tokens;

use super::{Facts, Occurrence, Position, Receiver, Span};
use tokens::{Piece, Token, pieces};

/// A text without its annotations, and the bytes where they stood.
pub(super) struct Cleaned {
    pub text: String,
    pub removed: Vec<Span>,
}

/// The text without annotations; `None` where there are none.
pub(super) fn without(text: &str) -> Option<Cleaned> {
    let pieces = pieces(text);
    let mut scan = Scan { text, pieces: &pieces, removed: Vec::new() };
    scan.whole();
    if scan.removed.is_empty() {
        return None;
    }
    let mut removed = scan.removed;
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
    Some(Cleaned { text, removed: removed.into_iter().map(|(span, _)| span).collect() })
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

/// Words that begin or go on with a declaration and are no name of anything.
const SPECIFIERS: &[&str] = &[
    "static",
    "inline",
    "extern",
    "virtual",
    "constexpr",
    "consteval",
    "explicit",
    "friend",
    "mutable",
    "typedef",
    "const",
    "volatile",
    "thread_local",
    "register",
];
const TYPES: &[&str] = &[
    "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto",
    "decltype", "typename", "size_t", "wchar_t",
];
const OTHERS: &[&str] = &[
    "class",
    "struct",
    "union",
    "enum",
    "namespace",
    "template",
    "using",
    "operator",
    "public",
    "private",
    "protected",
    "override",
    "final",
    "noexcept",
    "return",
    "requires",
    "concept",
    "default",
    "delete",
];
/// What stands behind the parameters of a function.
const BEHIND: &[&str] = &["const", "volatile", "override", "final", "noexcept"];

fn is_keyword(word: &str) -> bool {
    SPECIFIERS.contains(&word) || TYPES.contains(&word) || OTHERS.contains(&word)
}

/// Whether a word looks like a macro: upper case, or reserved for the implementation.
fn is_macro(word: &str) -> bool {
    const KNOWN: &[&str] = &[
        "__attribute__",
        "__attribute",
        "__declspec",
        "__extension__",
        "__asm__",
        "__asm",
        "__typeof__",
        "__inline",
        "__inline__",
        "__restrict",
        "__restrict__",
        "__const",
        "__volatile__",
        "__based",
        "__cdecl",
        "__stdcall",
        "__fastcall",
        "__thiscall",
        "__vectorcall",
        "__clrcall",
        "__unaligned",
        "__alignof__",
        "__except",
        "__finally",
        "__leave",
        "__try",
        "__thread",
        "__forceinline",
    ];
    let is_upper = word.len() >= 3
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let is_reserved = word.starts_with("__")
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !KNOWN.contains(&word)
        && !word.ends_with("_t")
        && !word.starts_with("__int")
        && !word.starts_with("__builtin");
    is_upper || is_reserved
}

struct Scan<'t> {
    text: &'t str,
    pieces: &'t [Piece],
    /// What is taken out, and what stands there instead.
    removed: Vec<(Span, &'static str)>,
}

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
        if let (Some(first), Some(last)) = (self.pieces.get(from), self.pieces.get(to.saturating_sub(1))) {
            self.removed.push((Span { start: first.start as u32, end: last.end as u32 }, stand_in));
        }
    }

    /// Goes through all declarations that stand in no function.
    fn whole(&mut self) {
        let mut first = 0;
        let mut at = 0;
        while let Some(token) = self.token(at) {
            match token {
                Token::Sign(b'{') if self.is_open(first, at) => {
                    self.declaration(first, at);
                    at += 1;
                    first = at;
                }
                Token::Sign(b'{') => {
                    let end = self.behind_body(at);
                    let is_done = !self.is_sign(end, b';') && !self.is_sign(end, b',');
                    if is_done {
                        self.declaration(first, at);
                        first = end;
                    }
                    at = end;
                }
                Token::Sign(b';' | b'}') | Token::If | Token::Else | Token::End => {
                    self.declaration(first, at);
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

    /// One declaration, up to its end or its body.
    fn declaration(&mut self, first: usize, end: usize) {
        let mut at = first;
        // What has stood before, without what was taken out.
        let mut previous: Option<usize> = None;
        let mut is_begun = false;
        while at < end {
            let word = self.word(at);
            if word == "template" && self.is_sign(at + 1, b'<') {
                at = self.template(at + 1);
                continue;
            }
            if self.is_sign(at, b'(') {
                at = self.behind_bracket(at, b'(', b')');
                previous = Some(at - 1);
                is_begun = true;
                continue;
            }
            if is_macro(word) {
                let behind = self.behind_macro(at).min(end);
                if self.is_annotation(first, at, behind, end, previous, is_begun) {
                    self.remove(at, behind, "");
                    at = behind;
                    continue;
                }
            }
            is_begun |= !word.is_empty() && !SPECIFIERS.contains(&word);
            previous = Some(at);
            at += 1;
        }
    }

    fn is_annotation(
        &self,
        first: usize,
        at: usize,
        behind: usize,
        end: usize,
        previous: Option<usize>,
        is_begun: bool,
    ) -> bool {
        let before = previous.map(|previous| self.word(previous)).unwrap_or_default();
        // `class EXPORT Name {`.
        if matches!(before, "class" | "struct" | "union") {
            let names = self.type_end(behind);
            let is_head = names.is_some_and(|names| {
                names == end && self.is_sign(end, b'{')
                    || self.is_sign(names, b':')
                    || self.word(names) == "final"
            });
            // `struct UPPER name;` is a variable more often than not.
            return is_head || before == "class" && names == Some(end) && self.is_sign(end, b';');
        }
        if !is_begun {
            // `API int f();`: a type stands behind it, or `API class A`, `BEGIN namespace a {`.
            let next = self.word(behind);
            return behind < end
                && (is_keyword(next) && next != "operator"
                    || self.type_end(behind).is_some_and(|names| names < end && self.is_declared(names)));
        }
        let Some(previous) = previous else { return false };
        let is_last = behind == end
            || matches!(self.token(behind), Some(Token::Sign(b'=' | b':' | b',')))
            || BEHIND.contains(&self.word(behind))
            || is_macro(self.word(behind));
        if !is_last {
            // `int API f(void)`: between a type and a name.
            return self.is_name(behind)
                && self.is_sign(behind + 1, b'(')
                && behind == at + 1
                && (TYPES.contains(&before) || self.is_sign(previous, b'*') || self.is_name(previous));
        }
        // Behind the parameters of a function, or behind the name of a variable.
        if self.is_sign(previous, b')') || BEHIND.contains(&before) && self.has_bracket(first, previous) {
            return true;
        }
        let is_named = self.is_name(previous) || self.is_sign(previous, b']');
        let mut of = previous.saturating_sub(1);
        while of > first && matches!(self.word(of), "const" | "volatile") {
            of -= 1;
        }
        is_named && previous > first && self.ends_type(of)
    }

    fn has_bracket(&self, first: usize, end: usize) -> bool {
        (first..end).any(|at| self.is_sign(at, b')'))
    }

    /// Whether a type may end here, so that what follows is a name.
    fn ends_type(&self, at: usize) -> bool {
        let word = self.word(at);
        matches!(self.token(at), Some(Token::Sign(b'>' | b'*' | b'&' | b'[' | b',')))
            || self.token(at) == Some(Token::Literal)
            || TYPES.contains(&word)
            || !word.is_empty() && !is_keyword(word)
    }

    /// Whether the name of something stands here, behind a type.
    fn is_declared(&self, at: usize) -> bool {
        let mut at = at;
        while matches!(self.token(at), Some(Token::Sign(b'*' | b'&'))) || self.word(at) == "const" {
            at += 1;
        }
        !self.word(at).is_empty()
    }

    /// Behind the path of a type: `a::b<c>::d`.
    fn type_end(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            if !self.is_name(at) {
                return None;
            }
            at += 1;
            if self.is_sign(at, b'<') {
                at = self.behind_bracket(at, b'<', b'>');
            }
            if self.token(at) != Some(Token::Path) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// The parameters of a template; one that a macro makes becomes a plain one. Returns what is behind.
    fn template(&mut self, open: usize) -> usize {
        let end = self.behind_bracket(open, b'<', b'>');
        for at in open + 1..end {
            let is_first = matches!(self.token(at - 1), Some(Token::Sign(b',' | b'<')));
            if is_first && is_macro(self.word(at)) && self.is_sign(at + 1, b'(') {
                let behind = self.behind_macro(at);
                if matches!(self.token(behind), Some(Token::Sign(b',' | b'>'))) {
                    self.remove(at, behind, "class");
                }
            }
        }
        end
    }
}
