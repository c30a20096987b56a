//! What `module`, `exports` and `this` are in JavaScript.

use super::{LanguageRules, Script};
use crate::facts::{Definition, Kind, Occurrence, Receiver, Span};
use crate::index::FileId;
use crate::resolve::names::is_plain_name;
use crate::resolve::types::Value;
use crate::resolve::{DefinitionSite, Resolution};

impl Script<'_, '_> {
    /// What a name means in a script by rules that other languages do not have.
    pub(super) fn script_meaning(
        &self,
        file: FileId,
        occurrence: &Occurrence,
        own: &[DefinitionSite],
    ) -> Option<Resolution> {
        if let Receiver::Made(object) = occurrence.receiver {
            return Some(self.object_key(file, object, occurrence, own.to_vec()));
        }
        if let Some(meaning) = self.own_meaning(file, occurrence, own) {
            return Some(meaning);
        }
        if own.is_empty()
            && let Some(import) = self.imported_here(file, occurrence)
        {
            return Some(Resolution::of(vec![import]));
        }
        if !self.is_javascript(file) {
            return None;
        }
        if let Some(given) = own.iter().find_map(|one| self.given(one)) {
            return Some(Resolution::of(given));
        }
        let whole = self.index.whole(file);
        let name = occurrence.span.of(&whole.0);
        // `module.exports` is the module, unless it is given something that has a name, or a type.
        let is_plain = |one: &Definition| {
            one.declared.is_empty()
                && !one.is_callable()
                && !one.kind.is_type()
                && (one.value.is_empty() || one.value.starts_with('{'))
        };
        if let Receiver::Value(of) = occurrence.receiver
            && name == "exports"
            && of.of(&whole.0) == "module"
            && own.iter().all(|one| is_plain(&one.definition))
            && self.local(file, "module", occurrence.span.start).is_empty()
        {
            return Some(self.module_begin(file));
        }
        let is_free = own.is_empty() && occurrence.receiver == Receiver::None;
        if !is_free || !matches!(name, "module" | "exports") {
            return None;
        }
        if !self.local(file, name, occurrence.span.start).is_empty() {
            return None;
        }
        // `exports.name = value`: what is given to others here.
        let begins = |one: &&Definition| one.owner.is_some() && one.span.start == occurrence.span.start;
        let assigned = whole.1.definitions.iter().find(begins);
        let given = assigned.and_then(|one| self.given(&DefinitionSite::new(file, one)));
        Some(given.map_or_else(|| self.module_begin(file), Resolution::of))
    }

    /// What the name of a definition means besides itself.
    fn own_meaning(
        &self,
        file: FileId,
        occurrence: &Occurrence,
        own: &[DefinitionSite],
    ) -> Option<Resolution> {
        let [one] = own else { return None };
        let definition = &one.definition;
        // A signature in a class stands for the method.
        if definition.is_member && definition.is_declaration && definition.is_callable() {
            let mut real = self.declared_together(one);
            real.retain(|one| !one.definition.is_declaration);
            return if real.is_empty() { None } else { Some(Resolution::of(real)) };
        }
        if definition.is_member || definition.is_callable() {
            return None;
        }
        // `const { name } = value` takes the member of that name; `{ name: name }` has a key for it.
        let path = format!(".{}", definition.name);
        let whole = self.index.whole(file);
        let has_key = whole
            .0
            .get(..occurrence.span.start as usize)
            .is_some_and(|before| before.trim_end().ends_with(':'));
        let before = definition.value.strip_suffix(&path).filter(|before| !before.is_empty() && !has_key);
        if let Some(before) = before.filter(|before| before.ends_with([')', ']']) && before.starts_with('('))
        {
            let value = self.value(file, before, definition.span.start);
            let member = self.member_of(&value, &definition.name);
            return if member.found().is_empty() { None } else { Some(member) };
        }
        // A type and a value of one name are declared together.
        let all = self.local(file, &definition.name, occurrence.span.start);
        let is_merged = all.len() > 1
            && all.iter().any(|one| one.definition.kind.is_type() || one.definition.kind == Kind::Module)
            && all.iter().all(|one| one.definition.kind != Kind::TypeParameter)
            && all.iter().any(|other| other.key() == one.key());
        is_merged.then(|| Resolution::of(all))
    }

    /// A name that means its own import: one for a whole module, `import * as name`, and one from a module that is
    /// neither here nor installed, of which nothing else is known.
    fn imported_here(&self, file: FileId, occurrence: &Occurrence) -> Option<DefinitionSite> {
        let whole = self.index.whole(file);
        let name = occurrence.span.of(&whole.0);
        if occurrence.receiver != Receiver::None {
            return None;
        }
        let imports = whole.1.imports.iter().filter(|import| !import.is_reexport);
        let mut imported = imports.flat_map(|import| import.names.iter().map(move |one| (import, one)));
        let (import, imported) = imported.find(|(_, one)| one.alias == name)?;
        if imported.at == occurrence.at || !self.local(file, name, occurrence.span.start).is_empty() {
            return None;
        }
        let is_known = || !self.name(file, name, occurrence.span.start).found().is_empty();
        let is_whole = imported.name.is_empty() && is_known();
        if !is_whole && !self.leads_nowhere(file, &import.module, &imported.name) {
            return None;
        }
        let mut found = self.module_meaning(file).found().first()?.clone();
        let at = whole.1.occurrences.iter().find(|one| one.at == imported.at)?;
        found.definition.at = imported.at;
        found.definition.name_span = at.span;
        found.definition.span = at.span;
        found.definition.scope = Some(Span { start: 0, end: whole.0.len() as u32 });
        name.clone_into(&mut found.definition.name);
        Some(found)
    }

    /// Whether a name comes, perhaps through files that only hand it on, from a module that is nowhere.
    fn leads_nowhere(&self, file: FileId, module: &str, name: &str) -> bool {
        let Some(_deeper) = self.enter() else { return false };
        let hands_on = |from: &FileId| {
            let outline = self.index.outline(*from);
            outline.imports.iter().filter(|import| import.is_reexport && !import.module.is_empty()).any(
                |import| {
                    let mut names = import.names.iter().filter(|one| one.alias == name);
                    names.any(|one| self.leads_nowhere(*from, &import.module, &one.name))
                },
            )
        };
        let files = self.module_files(file, module);
        if files.is_empty() { self.is_nowhere(file, module) } else { files.iter().any(hands_on) }
    }

    /// `require("module")` with what is taken of it.
    pub(super) fn required_value(&self, file: FileId, text: &str, offset: u32) -> Option<Value> {
        let rest = text.strip_prefix("require(")?;
        let (module, rest) = rest.split_once(')')?;
        let module = module.trim().strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
        let Some(found) = self.module_files(file, module).first().copied() else {
            return Some(Value::External);
        };
        let value = match self.module_value(found) {
            Some(given) => self.value_of_found(&given),
            None => Value::Module(found),
        };
        Some(self.value_after(value, file, rest, offset))
    }

    /// What `exports.name = value` and `module.exports = value` give to others, where the value is a name.
    fn given(&self, assigned: &DefinitionSite) -> Option<Vec<DefinitionSite>> {
        let definition = &assigned.definition;
        let is_given = match definition.owner.as_deref()? {
            "exports" => true,
            "module" => definition.name == "exports",
            _ => false,
        };
        if !is_given || !is_plain_name(&definition.value) {
            return None;
        }
        match self.name(assigned.file, &definition.value, definition.span.start) {
            Resolution::Found(found, _) => {
                let moved = |one: DefinitionSite| {
                    let is_file = one.definition.name_span.is_empty();
                    if is_file { self.module_begin(one.file).found().to_vec() } else { vec![one] }
                };
                Some(found.into_iter().flat_map(moved).collect())
            }
            _ => None,
        }
    }

    /// A member of what `module.exports` is given: an object, or a variable that has members.
    pub(super) fn given_member(&self, file: FileId, name: &str) -> Option<Vec<DefinitionSite>> {
        if !self.is_javascript(file) {
            return None;
        }
        let outline = self.index.outline(file);
        let is_given = |one: &Definition| one.name == "exports" && one.owner.as_deref() == Some("module");
        let at = outline.definitions.iter().rposition(is_given)?;
        let is_member = |one: &&Definition| one.name == name && one.container == Some(at as u32);
        let members = outline.definitions.iter().filter(is_member);
        let members: Vec<DefinitionSite> = members.map(|one| DefinitionSite::new(file, one)).collect();
        if !members.is_empty() {
            return Some(members.into_iter().flat_map(|one| self.named_by_shorthand(one)).collect());
        }
        let given = outline.definitions.get(at).filter(|given| is_plain_name(&given.value))?;
        let variable = self.name(file, &given.value, given.span.start).found().first()?.clone();
        if variable.file != file || variable.definition.is_callable() || variable.definition.kind.is_type() {
            return None;
        }
        let members = self.own_members(&variable, name);
        if members.is_empty() { None } else { Some(members) }
    }

    /// `{ name }` gives a class, or a function and the key, or what else the key is given.
    fn named_by_shorthand(&self, key: DefinitionSite) -> Vec<DefinitionSite> {
        if key.definition.span != key.definition.name_span {
            return vec![key];
        }
        let named = self.name(key.file, &key.definition.name, key.definition.span.start).found().to_vec();
        let has = |is: fn(&Definition) -> bool| named.iter().any(|one| is(&one.definition));
        if has(|one| one.kind.is_type()) {
            named
        } else if has(Definition::is_callable) {
            named.into_iter().chain([key]).collect()
        } else {
            vec![key]
        }
    }

    /// What `module.exports` is given where that is no name: an instance, a function, or the members of the module.
    pub(super) fn given_value(&self, file: FileId, given: &Definition) -> Option<Vec<DefinitionSite>> {
        let is_whole = given.value.starts_with("new ") || given.is_callable();
        if is_whole {
            return Some(vec![DefinitionSite::new(file, given)]);
        }
        let mut module = self.module_meaning(file).found().first()?.clone();
        module.definition.at = given.at;
        Some(vec![module])
    }

    /// The first line of a file that is code.
    fn module_begin(&self, file: FileId) -> Resolution {
        let whole = self.index.whole(file);
        let mut rest = whole.0.as_str();
        loop {
            rest = rest.trim_start();
            let skipped = if rest.starts_with("//") || rest.starts_with("#!") {
                rest.find('\n')
            } else if rest.starts_with("/*") {
                rest.find("*/").map(|at| at + 2)
            } else {
                None
            };
            match skipped {
                Some(skipped) => rest = &rest[skipped..],
                None => break,
            }
        }
        let before = &whole.0[..whole.0.len() - rest.len()];
        let Some(mut found) = self.module_meaning(file).found().first().cloned() else {
            return Resolution::Unknown;
        };
        found.definition.at.line = before.matches('\n').count() as u32 + 1;
        Resolution::of(vec![found])
    }

    /// What a name is by itself: the module, or what `this` has its members from.
    pub(super) fn script_value(&self, file: FileId, name: &str, offset: u32) -> Option<Value> {
        if !self.is_javascript(file) {
            return None;
        }
        match name {
            "exports" | "module" if self.local(file, name, offset).is_empty() => Some(Value::Module(file)),
            "this" => self.this_of_function(file, offset).map(Value::Of),
            _ => None,
        }
    }

    /// `function A() { this.b = 1 }`, `A.prototype.c = function () { this.b }`, `{ d() { this.e } }`.
    fn this_of_function(&self, file: FileId, offset: u32) -> Option<Vec<DefinitionSite>> {
        let whole = self.index.whole(file);
        let definitions = &whole.1.definitions;
        let around = |one: &&Definition| one.is_callable() && one.span.contains(offset);
        let mut around: Vec<&Definition> = definitions.iter().filter(around).collect();
        around.sort_by_key(|one| one.span.len());
        for one in around {
            let holder = match (&one.owner, one.container) {
                (Some(owner), _) => self.name(file, owner, one.span.start).found().first().cloned(),
                (None, Some(container)) if one.is_member => {
                    let container = definitions.get(container as usize);
                    container.map(|container| DefinitionSite::new(file, container))
                }
                (None, _) => Some(DefinitionSite::new(file, one)),
            };
            if let Some(holder) = holder.filter(|holder| self.has_members(holder)) {
                return Some(vec![holder]);
            }
        }
        None
    }
}
