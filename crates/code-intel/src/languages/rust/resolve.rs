//! The rules of Rust.

mod alternatives;
mod library;
mod modules;
mod names;
mod outside;

use std::collections::HashSet;

use crate::facts::{Definition, Facts, Import, ImportedName, Kind, Occurrence, Receiver, Span};
use crate::index::FileId;
use crate::languages::Language;
use crate::resolve::languages::{Key, LanguageRules, language_view};
use crate::resolve::names::Seen;
use crate::resolve::overloads::{behind_angles, listed};
use crate::resolve::type_ref::{Borrow, TypeRef, has_word};
use crate::resolve::types::Value;
use crate::resolve::{Certainty, DefinitionSite, Reference, Resolution, Resolver, Want};
pub(crate) use alternatives::is_alike;
use library::tuple_element;
use names::seen_in_modules;

language_view! {
    /// Rust.
    Rust
}

impl LanguageRules for Rust<'_, '_> {
    fn resolver(&self) -> &Resolver<'_> {
        self.0
    }

    fn name_beyond_file(&self, file: FileId, name: &str, offset: u32) -> Resolution {
        self.rust_name(file, name, offset)
    }

    fn visible_at_top_level<'d>(
        &self,
        facts: &'d Facts,
        found: Vec<&'d Definition>,
        offset: u32,
    ) -> Vec<&'d Definition> {
        seen_in_modules(facts, found, offset)
    }

    /// A name that is bound again hides the one before; of what stands for others the first is meant.
    fn choose<'d>(&self, _: FileId, found: Vec<&'d Definition>, _: u32) -> Vec<&'d Definition> {
        let first = found.iter().find(|one| one.scope.is_none());
        first.or(found.last()).copied().into_iter().collect()
    }

    /// `use name`.
    fn bare_import(&self, file: FileId, name: &str, offset: u32) -> Option<Resolution> {
        let outline = self.index.outline(file);
        let holds = |import: &&Import| {
            import.module.is_empty() && import.scope.is_none_or(|scope| scope.contains(offset))
        };
        let bare = outline.imports.iter().filter(holds).flat_map(|import| &import.names);
        let imported = { bare }.find(|imported| imported.alias == name)?;
        let module = self.rust_module(file, &imported.name).map(|found| self.module_meaning(found));
        module.or(Some(Resolution::External))
    }

    fn resolve_import(
        &self,
        file: FileId,
        import: &Import,
        imported: &ImportedName,
        seen: &mut Seen,
    ) -> Option<Resolution> {
        Some(self.rust_path(file, &format!("{}::{}", import.module, imported.name), seen))
    }

    /// What stands in no module in braces comes first.
    fn order_exports(&self, own: &mut [&Definition]) {
        own.sort_by_key(|one| one.container.is_some());
    }

    fn declared_module(&self, found: &DefinitionSite) -> Option<FileId> {
        self.rust_module(found.file, &format!("self::{}", found.definition.name))
    }

    fn find_module_files(&self, file: FileId, module: &str) -> Vec<FileId> {
        self.rust_module(file, module).into_iter().collect()
    }

    fn imported_files(&self, file: FileId, import: &Import) -> Vec<FileId> {
        let of_name = |name: &ImportedName| {
            let joined = format!("{}::{}", import.module, name.name);
            let below = self.rust_module(file, joined.trim_start_matches("::"));
            below.or_else(|| self.rust_module(file, &import.module))
        };
        import.names.iter().filter_map(of_name).collect()
    }

    fn special_reference(&self, file: FileId, text: &str, occurrence: &Occurrence) -> Option<Resolution> {
        let before = text.get(..occurrence.span.start as usize).unwrap_or_default();
        let name = occurrence.span.of(text);
        if before.ends_with('\'') {
            return Some(Resolution::of(self.innermost_defined(
                file,
                name,
                occurrence.span.start,
                Definition::is_lifetime,
            )));
        }
        if let Some(path) = path_in_use(before) {
            let start = occurrence.span.start;
            if !path.is_empty() {
                return Some(self.in_rust_path(file, &path, name, start));
            }
            return Some(match self.by_import(file, name, start) {
                Some(found @ Resolution::Found(..)) => found,
                _ => self.name(file, name, start),
            });
        }
        // What stands before `::` is no variable.
        let after = text.get(occurrence.span.end as usize..).unwrap_or_default();
        if occurrence.receiver == Receiver::None && after.starts_with("::") {
            let start = occurrence.span.start;
            let local = self.local(file, name, start);
            let is_variable =
                |one: &DefinitionSite| matches!(one.definition.kind, Kind::Variable | Kind::Parameter);
            if !local.is_empty() && local.iter().all(is_variable) {
                let meaning = self.by_import(file, name, start);
                return Some(match meaning.unwrap_or_else(|| self.rust_name(file, name, start)) {
                    Resolution::Found(found, _) => self.completed(found),
                    other => other,
                });
            }
        }
        // `Type { name }` is the variable and the field.
        if let Receiver::Made(span) = occurrence.receiver
            && span != occurrence.span
            && is_shorthand(text, occurrence)
        {
            let mut found = self.made(file, span, occurrence, text).found().to_vec();
            found.extend(self.name(file, name, occurrence.span.start).found().iter().cloned());
            return Some(Resolution::of(found));
        }
        None
    }

    fn resolve_path(&self, file: FileId, path: &str, name: &str, offset: u32) -> Resolution {
        self.in_rust_path(file, path, name, offset)
    }

    /// Of several impls that define a name for one type, or of a trait's impls, the one that the arguments of a
    /// call ask for.
    fn overloads(
        &self,
        file: FileId,
        text: &str,
        occurrence: &Occurrence,
        found: Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        let [one] = found.as_slice() else { return found };
        if one.definition.kind != Kind::Method {
            return found;
        }
        let after = text.get(occurrence.span.end as usize..).unwrap_or_default();
        let is_path = matches!(occurrence.receiver, Receiver::Path(_));
        let trait_text = one.definition.bases.first().map(String::as_str).unwrap_or_default();
        let of_trait = if trait_text.is_empty() { self.owner_types(one) } else { Vec::new() };
        let is_traits = of_trait.iter().any(|of| of.definition.kind == Kind::Trait);
        if !is_path && is_traits || !is_traits && trait_text.is_empty() {
            return found;
        }
        let name = &one.definition.name;
        if is_traits {
            // `Trait::method(value)`.
            let given = match self.first_argument(file, after, occurrence.span.start) {
                Some(Value::Instance { text, file, offset }) => match self.types_of(file, offset, &text) {
                    types if types.is_empty() => self.member_of_foreign(&text, name),
                    types => self.member_of_types(&types, name).found().to_vec(),
                },
                Some(Value::Of(types)) => self.member_of_types(&types, name).found().to_vec(),
                _ => return found,
            };
            let trait_name = of_trait.first().map(|of| of.definition.name.clone()).unwrap_or_default();
            let is_of = |one: &DefinitionSite| {
                one.definition.bases.first().is_some_and(|of| TypeRef::parse(of).name() == trait_name)
            };
            return if given.first().is_some_and(is_of) { given } else { found };
        }
        let trait_path = TypeRef::parse(trait_text).path();
        let siblings = self.everywhere(name, |_, other, _| {
            other.owner == one.definition.owner
                && other.bases.first().is_some_and(|of| TypeRef::parse(of).path() == trait_path)
        });
        if siblings.len() < 2 {
            return found;
        }
        if !is_path {
            // Of impls for `&Type`, `&mut Type` and `Type` the one for what the value is.
            let borrow = |text: &str| -> Borrow { TypeRef::parse(text).borrow };
            let wanted = borrow(&self.receiver_text(file, text, occurrence));
            let fits = |one: &&DefinitionSite| {
                borrow(one.definition.bases.get(1).map_or("", String::as_str)) == wanted
            };
            return siblings.iter().find(fits).map_or(found.clone(), |one| vec![one.clone()]);
        }
        let wanted = match self.first_argument(file, after, occurrence.span.start) {
            Some(Value::Instance { text, .. }) => normal_type(&text),
            Some(Value::Of(types)) => {
                types.first().map(|one| one.definition.name.clone()).unwrap_or_default()
            }
            _ => return found,
        };
        let fits = |one: &&DefinitionSite| {
            let of = one.definition.bases.first().map(String::as_str).unwrap_or_default();
            TypeRef::parse(of).arguments().first().is_some_and(|of| normal_type(of) == wanted)
        };
        siblings.iter().find(fits).map_or(found.clone(), |one| vec![one.clone()])
    }

    /// The file that `mod name;` stands for.
    fn definition_of(&self, declared: &DefinitionSite) -> Vec<DefinitionSite> {
        let definition = &declared.definition;
        let is_declared = definition.kind == Kind::Module && definition.is_declaration;
        let file = is_declared.then(|| self.declared_module(declared)).flatten();
        file.map_or_else(Vec::new, |file| self.module_meaning(file).found().to_vec())
    }

    /// The name of a type in the impl of a trait means the one that the trait asks for.
    fn asked_definition(&self, file: FileId, occurrence: &Occurrence, meaning: Resolution) -> Resolution {
        let [found] = meaning.found() else { return meaning };
        let (definition, start) = (&found.definition, occurrence.span.start);
        let is_own = found.file == file && definition.name_span == occurrence.span;
        if !is_own || definition.kind != Kind::Type || !definition.is_member {
            return meaning;
        }
        let whole = self.index.whole(file);
        let is_impl = |one: &Definition| one.kind == Kind::Type && one.name == "Self";
        let Some(around) = whole.1.innermost(start, is_impl) else { return meaning };
        let head = around.span.of(&whole.0).split('{').next().unwrap_or_default();
        let Some((before, _)) = head.split_once(" for ") else { return meaning };
        let mut of = before.trim_start_matches("unsafe ").trim_start_matches("impl").trim_start();
        if of.starts_with('<') {
            of = of.get(behind_angles(of).unwrap_or(0)..).unwrap_or_default();
        }
        let traits = self.types_of(file, around.span.start, of);
        if traits.is_empty() {
            return Resolution::External;
        }
        let members: Vec<DefinitionSite> =
            traits.iter().flat_map(|one| self.own_members(one, &definition.name)).take(1).collect();
        if members.is_empty() { meaning } else { Resolution::of(members) }
    }

    /// A member that the workspace gives to a type that is not in it: `impl Trait for str`.
    fn member_of_foreign(&self, text: &str, name: &str) -> Vec<DefinitionSite> {
        let of = TypeRef::parse(text);
        let mut owners = vec![if of.bare.starts_with('[') { of.bare.to_owned() } else { of.name() }];
        match (owners[0].as_str(), of.arguments().first()) {
            ("Vec", Some(inner)) => owners.push(format!("[{inner}]")),
            ("String", _) => owners.push("str".to_owned()),
            _ => {}
        }
        for owner in owners {
            let found = self.everywhere(name, |other, one, _| {
                self.language(other) == Some(Language::Rust)
                    && one.is_member
                    && one.owner.as_deref() == Some(&owner)
            });
            if !found.is_empty() {
                return found.into_iter().take(1).collect();
            }
        }
        Vec::new()
    }

    fn member_of_traits(&self, types: &[DefinitionSite], name: &str) -> Vec<DefinitionSite> {
        let is_bounded = |one: &DefinitionSite| {
            one.definition.kind == Kind::TypeParameter && !one.definition.bases.is_empty()
        };
        if types.iter().all(is_bounded) {
            return Vec::new();
        }
        let traits = self.everywhere(name, |_, definition, facts| {
            definition
                .container
                .and_then(|index| facts.definitions.get(index as usize))
                .is_some_and(|of| of.kind == Kind::Trait)
        });
        self.implemented(types, traits).into_iter().take(1).collect()
    }

    fn preferred(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        found.into_iter().take(1).collect()
    }

    fn spreads_members(&self) -> bool {
        true
    }

    fn special_value(&self, file: FileId, text: &str, offset: u32) -> Option<Value> {
        self.rust_wrapped(file, text, offset)
    }

    /// The value of a literal.
    fn literal_value(&self, file: FileId, text: &str, offset: u32) -> Option<Value> {
        let text = text.trim();
        let is_closed =
            text.len() >= 2 && text.ends_with('"') && text[1..text.len() - 1].matches('"').count() == 0;
        let of = match text.as_bytes().first()? {
            b'"' if is_closed => "&str",
            b'b' if text.starts_with("b\"") && is_closed => "&[u8]",
            b'r' if text.starts_with("r\"") || text.starts_with("r#\"") => "&str",
            _ => return None,
        };
        Some(Value::Instance { file, offset, text: of.to_owned() })
    }

    fn tuple_element(&self, value: &Value, place: usize) -> Option<Value> {
        tuple_element(value, place)
    }

    fn tuple_field(&self, value: &Value, name: &str) -> Option<Value> {
        self.rust_tuple_field(value, name)
    }

    fn is_wrapper(&self, text: &str) -> bool {
        matches!(
            TypeRef::parse(text).path().as_str(),
            "Option" | "Result" | "Vec" | "VecDeque" | "Box" | "Rc" | "Arc" | "RefCell" | "Mutex" | "RwLock"
        )
    }

    fn library_member(&self, value: &Value, name: &str) -> Option<Value> {
        self.rust_library_member(value, name)
    }

    fn item(&self, value: &Value) -> Option<Value> {
        self.iterator_item(value)
    }

    /// A variant of an enum has fields too.
    fn made_variants(&self, file: FileId, offset: u32, text: &str) -> Vec<DefinitionSite> {
        let variant = self.named_type(file, offset, &TypeRef::parse(text).path());
        variant.found().iter().filter(|one| one.definition.kind == Kind::EnumMember).cloned().collect()
    }

    /// Whether a name in `let Type { name } = value` is that of a field that is asked about.
    fn also_refers(
        &self,
        file: FileId,
        text: &str,
        occurrence: &Occurrence,
        _: &[DefinitionSite],
        target: &DefinitionSite,
    ) -> bool {
        match occurrence.receiver {
            Receiver::Made(span) if target.definition.kind == Kind::Field => {
                let fields = self.made(file, span, occurrence, text);
                fields.found().iter().any(|one| one.key() == target.key())
            }
            _ => false,
        }
    }

    /// A type is also called `Self` where its members stand.
    fn each_self(&self, target: &DefinitionSite, targets: &HashSet<Key>, then: &mut dyn FnMut(Reference)) {
        if !target.definition.kind.is_type() {
            return;
        }
        for file in self.index.using(&target.definition.name) {
            if !self.has_time() {
                continue;
            }
            let whole = self.index.whole(file);
            for occurrence in whole.1.uses(&whole.0, "Self") {
                self.steps.set(0);
                let types = self.enclosing_type(file, occurrence.span.start);
                if types.iter().any(|found| targets.contains(&found.key())) {
                    then(Reference { file, occurrence: *occurrence, certainty: Certainty::Resolved });
                }
            }
        }
    }

    /// The standard library has methods, and next to no fields.
    fn is_library_member(&self, name: &str, want: Want) -> bool {
        want == Want::Call && has_word(library::MEMBERS, name)
    }

    fn has_import_aliases(&self) -> bool {
        true
    }

    fn shares_private_imports(&self) -> bool {
        true
    }

    /// What an impl defines is called as the trait calls it, and what `#[cfg]` chooses between is one thing.
    fn renamed_with(&self, one: &DefinitionSite) -> HashSet<Key> {
        let mut keys = self.defined_alike(one);
        keys.extend(self.cfg_alternatives(one));
        if let Some(of) = one.definition.bases.first().filter(|_| one.definition.is_member) {
            let traits = self.types_of(one.file, one.definition.span.start, of);
            let members = traits.iter().flat_map(|of| self.own_members(of, &one.definition.name));
            keys.extend(members.map(|member| member.key()));
        }
        keys
    }

    fn asked_for_by(&self, target: &DefinitionSite) -> Option<String> {
        if self.is_bound_by_cfg(target) || self.is_in_cfg_if(target) || self.is_in_twin_module(target) {
            return Some("What another `#[cfg]` compiles".to_owned());
        }
        let by_name = self.asked_for_by_attribute(target).or_else(|| self.asked_for_by_linker(target));
        if by_name.is_some() {
            return by_name;
        }
        let of = target.definition.bases.first().filter(|_| target.definition.is_member)?;
        let of_trait = target.definition.kind.is_callable()
            || matches!(target.definition.kind, Kind::Type | Kind::Constant);
        let traits = self.types_of(target.file, target.definition.span.start, of);
        (of_trait && traits.is_empty()).then(|| of.clone())
    }
}

impl Rust<'_, '_> {
    /// Whether another module of the same name in the file has a member of the same type and name.
    fn is_in_twin_module(&self, target: &DefinitionSite) -> bool {
        let own = &target.definition;
        if !own.is_member {
            return false;
        }
        let whole = self.index.whole(target.file);
        // The names of what a definition stands in, and where the outermost of them does.
        let around = |one: &Definition| {
            let (mut names, mut place) = (Vec::new(), None);
            let mut next = one.container;
            while let Some(outer) = next.and_then(|at| whole.1.definitions.get(at as usize)) {
                names.push(outer.name.clone());
                place = Some(outer.name_span);
                next = outer.container;
            }
            (names, place)
        };
        let known = whole.1.defined_at(own.name_span).find(|(_, one)| one.is_member).map(|(_, one)| one);
        let own = known.unwrap_or(own);
        let (names, place) = around(own);
        whole.1.named(&own.name).filter(|other| other.is_member && other.owner == own.owner).any(|other| {
            let (other_names, other_place) = around(other);
            !names.is_empty() && other_names == names && other_place != place
        })
    }

    /// A member of the impl around a place: what `Self::name` means first of all.
    pub(crate) fn of_this_impl(&self, file: FileId, name: &str, offset: u32) -> Vec<DefinitionSite> {
        let whole = self.index.whole(file);
        let Some(around) = impl_around(&whole.1, offset) else { return Vec::new() };
        let fits = |one: &Definition| one.is_member && around.contains(one.span.start);
        self.defined_in(file, name, fits).into_iter().take(1).collect()
    }

    /// Of the traits that have a member of a name those that a type implements, and the rest behind them.
    fn implemented(&self, types: &[DefinitionSite], members: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        let (mut own, mut rest) = (Vec::new(), Vec::new());
        for member in members {
            let of = self.owner_types(&member);
            let is_own = of.iter().any(|of| types.iter().any(|one| self.implements(one, of)));
            if is_own { own.push(member) } else { rest.push(member) }
        }
        own.extend(rest);
        own
    }

    /// Whether something is defined for a type by an impl of a trait.
    fn implements(&self, of: &DefinitionSite, implemented: &DefinitionSite) -> bool {
        const MOST: usize = 24;
        let outline = self.index.outline(implemented.file);
        let defined = outline.defined_at(implemented.definition.name_span).next();
        let Some((index, _)) = defined else { return false };
        let members = outline.definitions.iter().filter(|one| one.container == Some(index as u32));
        let (type_name, trait_name) = (&of.definition.name, &implemented.definition.name);
        members.take(MOST).any(|member| {
            let is_impl = |_: FileId, one: &Definition, _: &Facts| {
                one.owner.as_ref() == Some(type_name)
                    && one.bases.first().is_some_and(|of| TypeRef::parse(of).name() == *trait_name)
            };
            self.step() && !self.everywhere(&member.name, is_impl).is_empty()
        })
    }

    /// The text of the type of the value that a member is reached through.
    fn receiver_text(&self, file: FileId, text: &str, occurrence: &Occurrence) -> String {
        let Receiver::Value(span) = occurrence.receiver else { return String::new() };
        if span.of(text) == "self" {
            let around = self.function_around(file, occurrence.span.start);
            return around.and_then(|around| around.definition.bases.get(1).cloned()).unwrap_or_default();
        }
        match self.value(file, span.of(text), occurrence.span.start) {
            Value::Instance { text, .. } => text,
            _ => String::new(),
        }
    }

    /// The value of the first argument of a call.
    fn first_argument(&self, file: FileId, after: &str, offset: u32) -> Option<Value> {
        let argument = listed(after)?.into_iter().next()?;
        let taken = argument.trim_start_matches(['&', '*']).trim_start_matches("mut ");
        if taken.ends_with(".as_bytes()") {
            return Some(Value::Instance { file, offset, text: "&[u8]".to_owned() });
        }
        match self.value(file, taken, offset) {
            Value::Instance { text, file, offset } if argument.starts_with('*') => {
                Some(Value::Instance { text: TypeRef::parse(&text).target.to_owned(), file, offset })
            }
            value => Some(value),
        }
    }
}

/// The path that a name behind a text is reached by, where it stands in a group of a `use`: `use a::{b::` gives `a::b`.
fn path_in_use(before: &str) -> Option<String> {
    const FARTHEST: usize = 4000;
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut rest = &before[before.ceil_char_boundary(before.len().saturating_sub(FARTHEST))..];
    let mut parts: Vec<&str> = Vec::new();
    let mut is_grouped = false;
    loop {
        rest = rest.trim_end();
        if let Some(outer) = rest.strip_suffix("::") {
            let outer = outer.trim_end();
            let word = &outer[outer.trim_end_matches(is_word).len()..];
            if word.is_empty() {
                return None;
            }
            parts.push(word);
            rest = &outer[..outer.len() - word.len()];
            continue;
        }
        if rest.ends_with(['{', ',']) {
            is_grouped = true;
            rest = group_start(rest)?;
            continue;
        }
        let is_use = rest.strip_suffix("use").is_some_and(|rest| !rest.ends_with(is_word));
        parts.reverse();
        return (is_use && is_grouped).then(|| parts.join("::"));
    }
}

/// What stands before the brace of the group of a `use` that a text ends in.
fn group_start(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices().rev() {
        match character {
            '}' => depth += 1,
            '{' if depth == 0 => return Some(&text[..at]),
            '{' => depth -= 1,
            _ if character.is_alphanumeric() || character.is_whitespace() => {}
            '_' | ':' | ',' | '*' | '#' => {}
            _ => return None,
        }
    }
    None
}

/// Whether a field stands without a value.
fn is_shorthand(text: &str, occurrence: &Occurrence) -> bool {
    let after = text.get(occurrence.span.end as usize..).unwrap_or_default().trim_start();
    after.starts_with([',', '}'])
}

/// The bytes of the innermost impl around a place.
fn impl_around(facts: &Facts, offset: u32) -> Option<Span> {
    let is_impl =
        |one: &&Definition| one.kind == Kind::Type && one.scope.is_some_and(|scope| scope.contains(offset));
    let named = facts.named("Self");
    named.filter(is_impl).filter_map(|one| one.scope).min_by_key(|scope| scope.len())
}

/// A type without lifetimes and spaces, to be compared.
fn normal_type(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let end = rest[1..].find(|character: char| !character.is_alphanumeric() && character != '_');
            rest = &rest[end.map_or(rest.len(), |end| end + 1)..];
            continue;
        }
        if !first.is_whitespace() {
            plain.push(first);
        }
        rest = &rest[first.len_utf8()..];
    }
    plain
}
