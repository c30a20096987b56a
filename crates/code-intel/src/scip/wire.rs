//! What is needed of an `index.scip`: protocol-buffer fields, documents, the names in their symbols.
//!
//! Only borrowed pieces are given out, and every length is checked against what is there: a damaged file is an error,
//! never a guess.

use crate::units::Units;

/// The bytes are no message of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// A field's value, as far as one is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
    /// A number of fixed width, which no field that is read here has.
    Fixed,
}

impl<'b> Value<'b> {
    pub(crate) fn bytes(self) -> Result<&'b [u8], Damaged> {
        if let Self::Bytes(bytes) = self { Ok(bytes) } else { Err(Damaged) }
    }

    pub(crate) fn text(self) -> Result<&'b str, Damaged> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Damaged)
    }

    /// What is no number of 32 bits, such as a negative one, stands for no place and no role.
    pub(crate) fn number(self) -> Result<u32, Damaged> {
        if let Self::Number(number) = self {
            u32::try_from(number).map_err(|_| Damaged)
        } else {
            Err(Damaged)
        }
    }
}

/// The fields of a message, in order; ends after the first that is damaged.
pub(crate) struct Fields<'b>(pub &'b [u8]);

impl<'b> Fields<'b> {
    fn read(&mut self) -> Result<(u64, Value<'b>), Damaged> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Damaged)?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(Damaged),
        };
        Ok((tag >> 3, value))
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], Damaged> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Damaged> {
        let mut number = 0;
        for place in 0..10 {
            let (first, rest) = self.0.split_first().ok_or(Damaged)?;
            self.0 = rest;
            number |= u64::from(first & 0x7F) << (7 * place);
            if first & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<(u64, Value<'b>), Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.0 = &[];
        }
        Some(read)
    }
}

pub(crate) const DEFINITION: u32 = 1;
pub(crate) const FORWARD_DEFINITION: u32 = 64;

/// A symbol at a place: lines from 0, columns in the document's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence<'b> {
    pub line: u32,
    pub start: u32,
    pub last_line: u32,
    pub end: u32,
    pub symbol: &'b str,
    pub roles: u32,
}

impl Occurrence<'_> {
    pub(crate) fn is_definition(&self) -> bool {
        self.roles & DEFINITION != 0
    }

    pub(crate) fn is_declaration(&self) -> bool {
        self.roles & FORWARD_DEFINITION != 0
    }
}

#[derive(Debug, Default)]
pub(crate) struct Document<'b> {
    pub path: &'b str,
    pub units: Units,
    pub occurrences: Vec<Occurrence<'b>>,
    /// Pairs of symbols whose uses belong together, such as a method and the one it overrides.
    pub together: Vec<(&'b str, &'b str)>,
}

impl<'b> Document<'b> {
    pub(crate) fn decode(bytes: &'b [u8]) -> Result<Self, Damaged> {
        let mut document = Self::default();
        for field in Fields(bytes) {
            match field? {
                (1, value) => document.path = value.text()?,
                (2, value) => document.occurrences.extend(occurrence(value.bytes()?)?),
                (3, value) => together(value.bytes()?, &mut document.together)?,
                (6, value) => {
                    document.units = match value.number()? {
                        1 => Units::Utf8,
                        3 => Units::Utf32,
                        _ => Units::Utf16,
                    };
                }
                _ => {}
            }
        }
        Ok(document)
    }
}

/// An occurrence; none where it has no symbol or no place, as those that only colour the text have none.
fn occurrence(bytes: &[u8]) -> Result<Option<Occurrence<'_>>, Damaged> {
    let (mut range, mut symbol, mut roles) = (Vec::new(), "", 0);
    for field in Fields(bytes) {
        match field? {
            // Numbers of one field stand packed or each on its own.
            (1, Value::Bytes(packed)) => {
                let mut packed = Fields(packed);
                while !packed.0.is_empty() {
                    range.push(Value::Number(packed.varint()?).number()?);
                }
            }
            (1, value) => range.push(value.number()?),
            (2, value) => symbol = value.text()?,
            (3, value) => roles = value.number()?,
            // Newer indexers write the place as a message, on one line (8) or over several (9).
            (field @ (8 | 9), value) => {
                let mut parts = [0; 4];
                for part in Fields(value.bytes()?) {
                    let (number, value) = part?;
                    if let Some(slot) = (number as usize).checked_sub(1).and_then(|at| parts.get_mut(at)) {
                        *slot = value.number()?;
                    }
                }
                range = if field == 8 { parts[..3].to_vec() } else { parts.to_vec() };
            }
            _ => {}
        }
    }
    let (line, start, last_line, end) = match range[..] {
        [line, start, end] => (line, start, line, end),
        [line, start, last_line, end] => (line, start, last_line, end),
        [] => return Ok(None),
        _ => return Err(Damaged),
    };
    let occurrence = Occurrence { line, start, last_line, end, symbol, roles };
    Ok(Some(occurrence).filter(|one| !one.symbol.is_empty()))
}

fn together<'b>(bytes: &'b [u8], pairs: &mut Vec<(&'b str, &'b str)>) -> Result<(), Damaged> {
    let (mut symbol, mut others) = ("", Vec::new());
    for field in Fields(bytes) {
        match field? {
            (1, value) => symbol = value.text()?,
            (4, value) => {
                let (mut other, mut is_reference) = ("", false);
                for field in Fields(value.bytes()?) {
                    match field? {
                        (1, value) => other = value.text()?,
                        (2, value) => is_reference = value.number()? != 0,
                        _ => {}
                    }
                }
                others.extend(Some(other).filter(|other| is_reference && !other.is_empty()));
            }
            _ => {}
        }
    }
    pairs.extend(others.into_iter().map(|other| (symbol, other)));
    Ok(())
}

/// What the last part of a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Type,
    Method,
    Term,
    Other,
    /// Known only inside of what declares it.
    Inner,
}

pub(crate) fn is_local(symbol: &str) -> bool {
    symbol.starts_with("local ")
}

/// The names a symbol is made of, outermost first, each with what it is; empty for a local one.
pub(crate) fn names(symbol: &str) -> Vec<(String, Part)> {
    let mut names = Vec::new();
    if is_local(symbol) {
        return names;
    }
    let mut rest = descriptors(symbol).chars().peekable();
    while let Some(&first) = rest.peek() {
        let close = match first {
            '(' => Some(')'),
            '[' => Some(']'),
            _ => None,
        };
        if close.is_some() {
            rest.next();
        }
        let mut name = String::new();
        if rest.peek() == Some(&'`') {
            rest.next();
            while let Some(character) = rest.next() {
                // A doubled backtick is one of the name.
                if character == '`' && rest.next_if_eq(&'`').is_none() {
                    break;
                }
                name.push(character);
            }
        } else {
            while let Some(character) = rest.next_if(|one| one.is_alphanumeric() || "_+-$".contains(*one)) {
                name.push(character);
            }
        }
        let part = match rest.next() {
            Some(end) if Some(end) == close => Part::Inner,
            Some('#') => Part::Type,
            Some('.') => Part::Term,
            Some('(') => {
                // What tells overloads apart, and the end of the method.
                while rest.next().is_some_and(|one| one != ')') {}
                rest.next_if_eq(&'.');
                Part::Method
            }
            Some('/' | ':' | '!') => Part::Other,
            _ => return names,
        };
        names.push((name, part));
    }
    names
}

/// The part of a symbol behind scheme, manager, package and version. A space in one of them is doubled.
fn descriptors(symbol: &str) -> &str {
    let mut fields = 0;
    let mut rest = symbol.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        if character == ' ' && rest.next_if(|(_, next)| *next == ' ').is_none() {
            fields += 1;
            if fields == 4 {
                return &symbol[at + 1..];
            }
        }
    }
    ""
}
