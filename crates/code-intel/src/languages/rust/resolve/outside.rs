//! Who asks for a definition of Rust by its name where no reference says so: attributes and linkers.

use super::Rust;
use crate::facts::{self, Kind};
use crate::index::FileId;
use crate::languages::Language;
use crate::resolve::DefinitionSite;
use crate::syntax;

impl Rust<'_, '_> {
    /// `#[serde(default = "name")]` and `#[arg(value_parser = "module::name")]`.
    pub(super) fn asked_for_by_attribute(&self, target: &DefinitionSite) -> Option<String> {
        let name = &target.definition.name;
        if target.definition.scope.is_some() || target.definition.kind == Kind::Field {
            return None;
        }
        let quoted = format!("{name}\"");
        let asks = |file: &FileId| {
            let source = self.index.source(*file);
            source.match_indices(&quoted).any(|(at, _)| {
                let before = &source[..at];
                let is_path = before.ends_with('"') || before.ends_with("::");
                let attribute = before.rfind("#[").map(|open| &before[open..]);
                is_path && attribute.is_some_and(|attribute| !attribute.contains([']', '\n']))
            })
        };
        let file = self.index.using(name).into_iter().chain([target.file]).find(asks)?;
        Some(format!("An attribute in {}", self.index.path(file)))
    }

    /// What a linker knows by its name: `#[no_mangle]`, and what stands in `extern "C" { ... }`.
    pub(super) fn asked_for_by_linker(&self, target: &DefinitionSite) -> Option<String> {
        let definition = &target.definition;
        let may_be_linked = definition.kind == Kind::Function || definition.kind == Kind::Constant;
        if !may_be_linked || definition.scope.is_some() {
            return None;
        }
        let source = self.index.source(target.file);
        let above = source.get(..definition.span.start as usize)?.trim_end();
        let attributes = above.lines().rev().take_while(|line| line.trim_start().starts_with("#["));
        let is_exported = { attributes }.any(|line| line.contains("no_mangle"));
        let is_foreign = || {
            let tree = syntax::parse(Language::Rust, &source, facts::LIMITS).ok()?;
            let (start, end) = (definition.name_span.start as usize, definition.name_span.end as usize);
            let mut node = tree.root_node().descendant_for_byte_range(start, end);
            while let Some(around) = node.filter(|node| node.kind() != "foreign_mod_item") {
                node = around.parent();
            }
            node.map(|_| ())
        };
        let is_linked = is_exported || source.contains("extern") && is_foreign().is_some();
        is_linked.then(|| "The linker".to_owned())
    }
}
