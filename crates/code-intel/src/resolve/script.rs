//! What TypeScript and JavaScript mean that other languages do not: the type that is expected of what is written
//! out, types that stand in the text without a name, overloads, and members that are the same by inheritance.

mod expected;
mod generics;
mod modules;
mod packages;
mod same;
mod text;
mod written;

use super::Resolver;
use crate::index::FileId;
use crate::languages::Language;

/// A type that a type parameter stands for, as it is understood at a place of a file.
pub(super) type Bound = (FileId, u32, String);

impl Resolver<'_> {
    pub(super) fn is_script(&self, file: FileId) -> bool {
        matches!(self.language(file), Some(Language::TypeScript | Language::Tsx | Language::JavaScript))
    }
}
