//! Other names of a definition: import aliases, re-exports and default exports.

use std::collections::HashSet;

use super::{DefinitionSite, Resolver};
use crate::facts::{ImportedName, Position};
use crate::index::FileId;

/// Names under which one thing is looked for, at most.
const MOST_NAMES: usize = 20;

impl Resolver<'_> {
    /// The files that may have another name for something, with the name.
    pub(crate) fn other_names(&self, target: &DefinitionSite) -> Vec<(FileId, String)> {
        if target.definition.is_member || target.definition.scope.is_some() {
            return Vec::new();
        }
        let rules = self.rules(target.file);
        let mut found = rules.names_of_module(target);
        if rules.has_import_aliases() {
            found.extend(self.aliases(target));
        }
        found
    }

    /// Names that imports give it, also those of names that imports have given it before.
    fn aliases(&self, target: &DefinitionSite) -> Vec<(FileId, String)> {
        let mut names = vec![target.definition.name.clone()];
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut next = 0;
        while let Some(name) = names.get(next).cloned() {
            next += 1;
            for file in self.index.using(&name) {
                if !self.can_use(file, target.file) {
                    continue;
                }
                let outline = self.index.outline(file);
                let brought = outline.imports.iter().flat_map(|import| {
                    let is_other = |one: &&ImportedName| one.name == name && one.alias != name;
                    import.names.iter().filter(is_other).map(|one| (one.alias.as_str(), import.is_reexport))
                });
                // The default of a module is called by other names yet.
                for (alias, is_handed_on) in
                    brought.filter(|(alias, _)| !matches!(*alias, "" | "_" | "default"))
                {
                    if seen.insert((file, alias.to_owned())) {
                        found.push((file, alias.to_owned()));
                    }
                    if is_handed_on && names.len() < MOST_NAMES && !names.iter().any(|known| known == alias) {
                        names.push(alias.to_owned());
                    }
                }
            }
        }
        for name in names.iter().skip(1) {
            let users = self.index.using(name).into_iter().filter(|file| self.can_use(*file, target.file));
            found.extend(
                users.filter(|file| seen.insert((*file, name.clone()))).map(|file| (file, name.clone())),
            );
        }
        found
    }

    /// Whether a name stands where an import gives it, behind the one it is called by there.
    pub(crate) fn is_given_by_import(&self, file: FileId, at: Position) -> bool {
        let outline = self.index.outline(file);
        let mut names = outline.imports.iter().flat_map(|import| &import.names);
        names.any(|one| one.at == at && one.name != one.alias && !matches!(one.name.as_str(), "" | "default"))
    }
}
