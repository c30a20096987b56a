//! The annotations of one declaration.

use super::Scan;
use super::tokens::Token;
use super::words::{BEHIND, LAYOUTS, SPECIFIERS, TYPES, is_keyword, is_macro};

/// Annotations in a row before a type that are looked past.
const MOST_IN_A_ROW: usize = 6;

impl Scan<'_> {
    /// One declaration, up to its end or its body.
    pub(super) fn declaration(&mut self, first: usize, end: usize) {
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

    pub(super) fn is_annotation(
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
            // `struct __packed {`: one without a name, for no name is given in brackets.
            let is_nameless = behind == end && self.is_sign(end, b'{');
            if is_nameless && (behind > at + 1 || LAYOUTS.contains(&self.word(at))) {
                return true;
            }
            let names = self.type_end(behind);
            let is_head = names.is_some_and(|names| {
                names == end && self.is_sign(end, b'{')
                    || self.is_sign(names, b':')
                    || self.word(names) == "final"
            });
            // `struct UPPER name;` is a variable more often than not.
            return is_head || before == "class" && names == Some(end) && self.is_sign(end, b';');
        }
        // `API operator bool();`: nothing else is named so without a type before it.
        let is_cast = self.word(behind) == "operator"
            && !matches!(self.word(behind + 1), "" | "new" | "delete" | "co_await");
        if !is_begun && (is_cast || self.is_maker(behind) || self.is_only_macros(at, end)) {
            return true;
        }
        if !is_begun {
            // `API int f();`: a type stands behind it, or `API class A`, `BEGIN namespace a {`, or another of its kind.
            let mut behind = behind;
            for _ in 0..MOST_IN_A_ROW {
                let next = self.word(behind);
                let is_before_type = behind < end
                    && (is_keyword(next) && next != "operator"
                        || self.type_end(behind).is_some_and(|names| names < end && self.is_declared(names)));
                if is_before_type {
                    return true;
                }
                if behind >= end || !is_macro(next) {
                    return false;
                }
                behind = self.behind_macro(behind);
            }
            return false;
        }
        let Some(previous) = previous else { return false };
        // `enum name UNDERLYING(char) {`.
        if self.word(first) == "enum" && self.is_name(previous) && self.is_sign(behind, b'{') {
            return true;
        }
        // `int API f(void)`: between a type and a name.
        let is_before_name = self.is_name(behind) && self.is_sign(behind + 1, b'(') && behind == at + 1;
        if is_before_name && (TYPES.contains(&before) || self.is_sign(previous, b'*')) {
            return true;
        }
        let is_last = behind == end
            || matches!(self.token(behind), Some(Token::Sign(b'=' | b':' | b',')))
            || BEHIND.contains(&self.word(behind))
            || is_macro(self.word(behind));
        if !is_last {
            return is_before_name && self.is_name(previous);
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

    pub(super) fn has_bracket(&self, first: usize, end: usize) -> bool {
        (first..end).any(|at| self.is_sign(at, b')'))
    }

    /// Whether a type may end here, so that what follows is a name.
    pub(super) fn ends_type(&self, at: usize) -> bool {
        let word = self.word(at);
        matches!(self.token(at), Some(Token::Sign(b'>' | b'*' | b'&' | b'[' | b',')))
            || self.token(at) == Some(Token::Literal)
            || TYPES.contains(&word)
            || !word.is_empty() && !is_keyword(word)
    }

    /// Whether the name of something stands here, behind a type.
    pub(super) fn is_declared(&self, at: usize) -> bool {
        let mut at = at;
        while matches!(self.token(at), Some(Token::Sign(b'*' | b'&'))) || self.word(at) == "const" {
            at += 1;
        }
        !self.word(at).is_empty()
    }

    /// Behind the path of a type: `a::b<c>::d`.
    pub(super) fn type_end(&self, from: usize) -> Option<usize> {
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
    pub(super) fn template(&mut self, open: usize) -> usize {
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
