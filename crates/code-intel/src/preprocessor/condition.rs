//! Conditions of `#if`.

use std::cell::Cell;

use super::{Macro, Macros, first_word};

/// What conditions ask the compiler, and what it answers more often than not.
pub(super) const QUESTIONS: &[(&str, i64)] = &[
    ("__has_include", 1),
    ("__has_include_next", 1),
    ("__has_builtin", 1),
    ("__has_attribute", 1),
    ("__has_cpp_attribute", 201_907),
    ("__has_c_attribute", 201_907),
    ("__has_declspec_attribute", 0),
    ("__has_extension", 1),
    ("__has_feature", 0),
];

/// Macros that are looked into for one condition: each may name others twice.
const MOST_MACROS: usize = 1000;

/// A macro that is called does not grow beyond this.
const LONGEST: usize = 10_000;

/// How deep brackets and macros within macros are followed.
const DEEPEST: usize = 64;

/// Whether a condition holds. What is not known or cannot be read is 0, as the preprocessor has it for names.
pub(super) fn is_true(text: &str, macros: &Macros) -> bool {
    value(text, macros, DEEPEST, &Cell::new(MOST_MACROS)) != 0
}

fn value(text: &str, macros: &Macros, depth: usize, left: &Cell<usize>) -> i64 {
    if depth == 0 || left.get() == 0 {
        return 0;
    }
    left.set(left.get() - 1);
    let mut reader = Reader { rest: text.trim(), macros, depth, left };
    reader.choice()
}

struct Reader<'c> {
    rest: &'c str,
    macros: &'c Macros,
    depth: usize,
    /// Macros that may still be looked into.
    left: &'c Cell<usize>,
}

/// Operators between two values by how tightly they bind; a longer one stands before one it begins with.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'c> Reader<'c> {
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n', '\\']);
            if self.rest.starts_with("//") {
                self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                self.rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            } else {
                return;
            }
        }
    }

    fn take(&mut self, sign: &str) -> bool {
        self.skip();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// `a ? b : c`.
    fn choice(&mut self) -> i64 {
        let condition = self.level(0);
        if !self.take("?") {
            return condition;
        }
        let first = self.nested();
        self.take(":");
        let second = self.nested();
        if condition != 0 { first } else { second }
    }

    fn nested(&mut self) -> i64 {
        if self.depth == 0 {
            self.rest = "";
            return 0;
        }
        self.depth -= 1;
        let value = self.choice();
        self.depth += 1;
        value
    }

    fn level(&mut self, level: usize) -> i64 {
        let Some(signs) = LEVELS.get(level) else { return self.single() };
        let mut left = self.level(level + 1);
        while let Some(sign) = self.sign(signs) {
            let right = self.level(level + 1);
            let is = i64::from;
            left = match sign {
                "||" => is(left != 0 || right != 0),
                "&&" => is(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => is(left == right),
                "!=" => is(left != right),
                "<=" => is(left <= right),
                ">=" => is(left >= right),
                "<" => is(left < right),
                ">" => is(left > right),
                "<<" => left.wrapping_shl(u32::try_from(right).unwrap_or(0)),
                ">>" => left.wrapping_shr(u32::try_from(right).unwrap_or(0)),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.checked_div(right).unwrap_or(0),
                _ => left.checked_rem(right).unwrap_or(0),
            };
        }
        left
    }

    fn sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        self.skip();
        let rest = self.rest;
        let fits = |sign: &&&'static str| {
            // `&` is not the first half of `&&`, nor `<` of `<<`.
            let after = rest.strip_prefix(**sign);
            let is_half =
                |after: &str| sign.len() == 1 && "|&<>".contains(**sign) && after.starts_with(**sign);
            after.is_some_and(|after| !is_half(after))
        };
        let sign = *signs.iter().find(fits)?;
        self.rest = &rest[sign.len()..];
        Some(sign)
    }

    fn single(&mut self) -> i64 {
        self.skip();
        if self.depth == 0 {
            self.rest = "";
            return 0;
        }
        if let Some(sign) = self.sign(&["!", "-", "+", "~"]) {
            self.depth -= 1;
            let value = self.single();
            self.depth += 1;
            return match sign {
                "!" => i64::from(value == 0),
                "-" => value.wrapping_neg(),
                "~" => !value,
                _ => value,
            };
        }
        if self.take("(") {
            let value = self.nested();
            self.take(")");
            return value;
        }
        let word = first_word(self.rest);
        if word.is_empty() {
            // A text, or what no condition has: nothing behind it can be trusted.
            self.rest = "";
            return 0;
        }
        self.rest = &self.rest[word.len()..];
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            return number(word);
        }
        match word {
            "defined" => {
                let is_bracketed = self.take("(");
                self.skip();
                let name = first_word(self.rest);
                self.rest = &self.rest[name.len()..];
                if is_bracketed {
                    self.take(")");
                }
                i64::from(self.macros.has(name))
            }
            "true" => 1,
            name => {
                let arguments = self.arguments();
                if let Some((_, answer)) = QUESTIONS.iter().find(|(known, _)| *known == name) {
                    // Of features those of the language are there, those of a sanitizer are not.
                    let is_of_language = arguments.is_some_and(|asked| asked.trim().starts_with("cxx_"));
                    return if is_of_language { 1 } else { *answer };
                }
                match (self.macros.0.get(name), arguments) {
                    (Some(Macro { parameters: None, text }), None) => {
                        value(text, self.macros, self.depth - 1, self.left)
                    }
                    (Some(Macro { parameters: Some(parameters), text }), Some(arguments)) => {
                        let text = filled(text, parameters, arguments);
                        value(&text, self.macros, self.depth - 1, self.left)
                    }
                    _ => 0,
                }
            }
        }
    }

    /// Goes past what stands in brackets.
    fn arguments(&mut self) -> Option<&'c str> {
        self.skip();
        let inside = self.rest.strip_prefix('(')?;
        let mut depth = 1_usize;
        for (at, character) in inside.char_indices() {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = &inside[at + 1..];
                return Some(&inside[..at]);
            }
        }
        self.rest = "";
        Some("")
    }
}

/// The text of a macro with arguments in place of its parameters.
fn filled(text: &str, parameters: &[String], arguments: &str) -> String {
    let mut given = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, character) in arguments.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                given.push(&arguments[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    given.push(&arguments[start..]);
    let mut made = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = first_word(rest);
        let taken = if word.is_empty() { &rest[..first.len_utf8()] } else { word };
        let place = parameters.iter().position(|parameter| parameter == taken);
        made.push_str(place.and_then(|place| given.get(place)).unwrap_or(&taken));
        rest = &rest[taken.len()..];
        if made.len() > LONGEST {
            return String::new();
        }
    }
    made
}

fn number(word: &str) -> i64 {
    let word = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let (digits, radix) = match word.get(..2) {
        Some("0x" | "0X") => (&word[2..], 16),
        Some("0b" | "0B") => (&word[2..], 2),
        _ if word.len() > 1 && word.starts_with('0') => (&word[1..], 8),
        _ => (word, 10),
    };
    i64::from_str_radix(digits, radix).unwrap_or(0)
}
