//! What type parameters stand for: by the arguments a type is written with, and by those of its bases.

use super::Script;
use std::collections::HashSet;

use super::text;
use crate::facts::Kind;
use crate::index::FileId;
use crate::resolve::DefinitionSite;
use crate::resolve::types::Value;

/// A type as it is written somewhere, and what it means.
struct Written {
    of: DefinitionSite,
    file: FileId,
    offset: u32,
    text: String,
}

impl Script<'_, '_> {
    pub(super) fn with_arguments_of(&self, value: &Value, mut member: DefinitionSite) -> DefinitionSite {
        if member.definition.declared.is_empty() {
            return member;
        }
        let owners = self.owner_types(&member);
        let Some(owner) = owners.first().filter(|owner| owner.definition.kind.is_type()) else {
            return member;
        };
        let parameters = self.type_parameters(owner);
        let declared = &member.definition.declared;
        if parameters.is_empty() || !parameters.iter().any(|name| declared.contains(name.as_str())) {
            return member;
        }
        if let Some(written) = self.written_as(value, owner) {
            member.definition.declared =
                self.bind(declared, &parameters, &written.text, written.file, written.offset);
        }
        member
    }

    /// The names of the type parameters of a type.
    pub(super) fn type_parameters(&self, of: &DefinitionSite) -> Vec<String> {
        let whole = self.index.whole(of.file);
        let span = of.definition.span;
        let own = whole.1.of_kind(Kind::TypeParameter).filter(|(_, one)| one.scope == Some(span));
        own.map(|(_, one)| one.name.clone()).collect()
    }

    /// A text in which type parameters are replaced by the arguments of a type as it is written.
    pub(super) fn bind(
        &self,
        text: &str,
        parameters: &[String],
        written: &str,
        file: FileId,
        offset: u32,
    ) -> String {
        let mut made = text.to_owned();
        let mut bound = self.bound.borrow_mut();
        for (name, argument) in parameters.iter().zip(text::type_arguments(written)) {
            made = text::substituted(&made, name, bound.len());
            bound.push((file, offset, argument.to_owned()));
        }
        made
    }

    /// How a type is written on the way from a value up to it.
    fn written_as(&self, value: &Value, owner: &DefinitionSite) -> Option<Written> {
        const MOST: usize = 24;
        let mut open: Vec<Written> = Vec::new();
        match value {
            Value::Instance { file, offset, text } => {
                for part in text::parts(text) {
                    let types = self.named_types(*file, *offset, part);
                    open.extend(types.into_iter().map(|of| Written {
                        of,
                        file: *file,
                        offset: *offset,
                        text: part.to_owned(),
                    }));
                }
            }
            Value::Of(types) => open.extend(types.iter().map(|of| Written {
                of: of.clone(),
                file: of.file,
                offset: of.definition.span.start,
                text: String::new(),
            })),
            _ => return None,
        }
        let mut seen = HashSet::new();
        while let Some(one) = open.pop() {
            if one.of.key() == owner.key() {
                return Some(one);
            }
            if seen.len() > MOST || !seen.insert(one.of.key()) || !self.step() {
                continue;
            }
            let (file, offset) = (one.of.file, one.of.definition.span.start);
            let parameters = self.type_parameters(&one.of);
            for base in &one.of.definition.bases {
                let base = self.bind(base, &parameters, &one.text, one.file, one.offset);
                let types = self.named_types(file, offset, &base);
                open.extend(types.into_iter().map(|of| Written { of, file, offset, text: base.clone() }));
            }
        }
        None
    }
}
