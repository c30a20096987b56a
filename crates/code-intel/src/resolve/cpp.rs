//! What C++ and Java have that the others have not: virtual methods and constructors.

use std::collections::HashSet;

use super::types::Value;
use super::{Found, Resolver};
use crate::facts::Kind;
use crate::index::FileId;
use crate::languages::Language;

/// How far up a type's bases are followed.
const DEEPEST: usize = 12;

impl Resolver<'_> {
    /// The places of the methods that a method overrides: who calls those may call it.
    pub(super) fn overridden(&self, target: &Found) -> HashSet<(FileId, u32)> {
        let definition = &target.definition;
        let mut found = HashSet::new();
        let has_virtual = matches!(self.language(target.file), Some(Language::Cpp | Language::Java));
        if !has_virtual || definition.kind != Kind::Method {
            return found;
        }
        let mut seen = HashSet::new();
        let mut level = self.owner_types(target);
        for _ in 0..DEEPEST {
            let mut next = Vec::new();
            for one in &level {
                if seen.insert(one.key()) && self.step() {
                    next.extend(self.bases_of(one));
                }
            }
            for base in &next {
                for member in self.own_members(base, &definition.name) {
                    if member.definition.kind == Kind::Method {
                        found.extend(self.same(&member));
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        found
    }

    /// What a member of a container or a pointer of the standard library of C++ gives.
    pub(super) fn cpp_library_member(&self, value: &Value, name: &str) -> Option<Value> {
        let Value::Instance { file, text, .. } = value else { return None };
        if self.language(*file) != Some(Language::Cpp) || !text.contains('<') {
            return None;
        }
        match name {
            // An iterator stands for what it points to.
            "front" | "back" | "at" | "top" | "value" | "value_or" | "begin" | "cbegin" | "rbegin"
            | "end" | "find" | "lower_bound" | "upper_bound" | "emplace_back" => {
                Some(self.element(value.clone()))
            }
            "get" | "lock" | "load" | "release" => Some(value.clone()),
            _ => None,
        }
    }

    /// Whether what was found makes values of a type that is asked about: its constructor is called like it.
    pub(super) fn makes(&self, found: &Found, target: &Found) -> bool {
        let is_cpp = self.language(target.file) == Some(Language::Cpp);
        if !is_cpp || found.definition.kind != Kind::Constructor || !target.definition.kind.is_type() {
            return false;
        }
        found.definition.name == target.definition.name
            && self.owner_types(found).iter().any(|one| one.key() == target.key())
    }
}
