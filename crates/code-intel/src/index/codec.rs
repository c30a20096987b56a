//! The outline of a file as bytes, and back. What cannot be read back is read from the source again.

use crate::facts::{Definition, Facts, Import, ImportedName, Kind, Position, Span};

/// Writes numbers in as few bytes as they need.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn optional(&mut self, value: Option<u32>) {
        self.number(value.map_or(0, |value| value + 1));
    }
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u32> {
        let mut value = 0_u32;
        for shift in (0..35).step_by(7) {
            let (first, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u32::from(first & 0x7F).checked_shl(shift)?;
            if first & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    /// A count that the bytes that are left can hold.
    fn count(&mut self) -> Option<usize> {
        let count = self.number()? as usize;
        (count <= self.0.len()).then_some(count)
    }
}

/// Without local names and occurrences, which are found by reading the file again.
pub(super) fn outline(facts: Facts) -> Facts {
    let mut places = vec![None; facts.definitions.len()];
    let mut local: Vec<Option<Definition>> = Vec::with_capacity(facts.definitions.len());
    let mut definitions: Vec<Definition> = Vec::new();
    for (index, mut definition) in facts.definitions.into_iter().enumerate() {
        if definition.scope.is_some() {
            local.push(Some(definition));
            continue;
        }
        local.push(None);
        if let Some(container) = definition.container.take() {
            definition.container = places.get(container as usize).copied().flatten();
            // A member of a type that is itself local.
            if definition.container.is_none() && definition.owner.is_none() {
                let outer = local.get(container as usize).and_then(Option::as_ref);
                definition.owner = outer.map(|outer| outer.name.clone());
            }
        }
        if let Some(place) = places.get_mut(index) {
            *place = Some(definitions.len() as u32);
        }
        definitions.push(definition);
    }
    Facts { definitions, imports: facts.imports, package: facts.package, ..Facts::default() }
}

pub(super) fn encode(facts: &Facts) -> Vec<u8> {
    let mut out = Writer::default();
    out.text(&facts.package);
    out.number(facts.definitions.len() as u32);
    for definition in &facts.definitions {
        out.text(&definition.name);
        let kind = Kind::ALL.iter().position(|kind| *kind == definition.kind).unwrap_or_default();
        out.number(kind as u32);
        out.number(definition.at.line);
        out.number(definition.at.column);
        out.number(definition.name_span.start);
        out.number(definition.name_span.len());
        out.number(definition.span.start);
        out.number(definition.span.len());
        out.number(definition.last_line);
        out.optional(definition.container);
        out.text(definition.owner.as_deref().unwrap_or("\0"));
        let flags = u32::from(definition.is_member)
            | u32::from(definition.is_declaration) << 1
            | u32::from(definition.is_private) << 2
            | u32::from(definition.is_function) << 3;
        out.number(flags);
        out.text(&definition.declared);
        out.text(&definition.value);
        out.number(definition.bases.len() as u32);
        for base in &definition.bases {
            out.text(base);
        }
    }
    out.number(facts.imports.len() as u32);
    for import in &facts.imports {
        out.text(&import.module);
        out.number(import.line);
        out.number(u32::from(import.is_reexport));
        out.optional(import.scope.map(|scope| scope.start));
        out.number(import.scope.map_or(0, Span::len));
        out.number(import.names.len() as u32);
        for name in &import.names {
            out.text(&name.name);
            out.text(&name.alias);
            out.number(name.at.line);
            out.number(name.at.column);
        }
    }
    out.0
}

pub(super) fn decode(bytes: &[u8]) -> Option<Facts> {
    let mut reader = Reader(bytes);
    let package = reader.text()?;
    let mut facts = Facts { package, ..Facts::default() };
    for _ in 0..reader.count()? {
        facts.definitions.push(definition(&mut reader)?);
    }
    for _ in 0..reader.count()? {
        let module = reader.text()?;
        let line = reader.number()?;
        let is_reexport = reader.number()? != 0;
        let (start, length) = (reader.number()?.checked_sub(1), reader.number()?);
        let scope = start.map(|start| Span { start, end: start.saturating_add(length) });
        let mut names = Vec::new();
        for _ in 0..reader.count()? {
            let (name, alias) = (reader.text()?, reader.text()?);
            names.push(ImportedName {
                name,
                alias,
                at: Position { line: reader.number()?, column: reader.number()? },
            });
        }
        facts.imports.push(Import { module, line, names, is_reexport, scope });
    }
    Some(facts)
}

fn definition(reader: &mut Reader<'_>) -> Option<Definition> {
    let name = reader.text()?;
    let kind = *Kind::ALL.get(reader.number()? as usize)?;
    let at = Position { line: reader.number()?, column: reader.number()? };
    let mut span = || {
        let (start, length) = (reader.number()?, reader.number()?);
        Some(Span { start, end: start.checked_add(length)? })
    };
    let (name_span, span) = (span()?, span()?);
    let last_line = reader.number()?;
    let container = reader.number()?.checked_sub(1);
    let owner = reader.text().map(|owner| if owner == "\0" { None } else { Some(owner) })?;
    let flags = reader.number()?;
    let (declared, value) = (reader.text()?, reader.text()?);
    let mut bases = Vec::new();
    for _ in 0..reader.count()? {
        bases.push(reader.text()?);
    }
    Some(Definition {
        name,
        kind,
        at,
        name_span,
        span,
        last_line,
        container,
        owner,
        scope: None,
        is_member: flags & 1 != 0,
        is_declaration: flags & 2 != 0,
        is_private: flags & 4 != 0,
        is_function: flags & 8 != 0,
        declared,
        value,
        bases,
    })
}
