//! What differs between languages. The rest of `resolve` asks [`LanguageRules`] wherever languages differ; each
//! language answers in a file of its own in `languages/` and leaves the default where it has no rule.

use std::collections::HashSet;
use std::rc::Rc;

use super::expression::Step;
use super::names::Seen;
use super::types::Value;
use super::{DefinitionSite, Reference, Resolution, Resolver, Want};
use crate::facts::{Definition, Facts, Import, ImportedName, Occurrence, Span};
use crate::index::FileId;

/// A definition, by its file and where its name starts.
pub(crate) type Key = (FileId, u32);

/// How a value's type arguments replace the parameters of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeArguments {
    /// Where the text names a type parameter that is known there.
    WhereNamed,
    /// Everywhere: parameters have other names in each method.
    Everywhere,
    /// The language substitutes them itself.
    Own,
}

/// The rules of one language. The defaults are those of a language without scopes, imports or types of its own.
pub(crate) trait LanguageRules {
    fn resolver(&self) -> &Resolver<'_>;

    // Names and scopes.

    /// A name that every file has without defining it.
    fn predefined_name(&self, _file: FileId, _name: &str) -> Option<Resolution> {
        None
    }

    /// Members of the type around a place that hide definitions outside of it.
    fn nearer_member(
        &self,
        _file: FileId,
        _name: &str,
        _offset: u32,
        _outside: &[DefinitionSite],
    ) -> Vec<DefinitionSite> {
        Vec::new()
    }

    /// A name that neither the file defines nor an import brings.
    fn name_beyond_file(&self, _file: FileId, _name: &str, _offset: u32) -> Resolution {
        Resolution::External
    }

    /// A scope around a place whose names are not known there.
    fn hidden_scope(&self, _file: FileId, _offset: u32) -> Option<Span> {
        None
    }

    /// Of the definitions of a name at the top level of a file those that a place sees.
    fn visible_at_top_level<'d>(
        &self,
        _facts: &'d Facts,
        found: Vec<&'d Definition>,
        _offset: u32,
    ) -> Vec<&'d Definition> {
        found
    }

    /// Whether of several definitions in one scope the parameter is meant.
    fn prefers_parameter(&self) -> bool {
        true
    }

    /// Of several definitions of a name in one scope those that are meant at a place.
    fn choose<'d>(&self, _file: FileId, found: Vec<&'d Definition>, _offset: u32) -> Vec<&'d Definition> {
        found.last().copied().into_iter().collect()
    }

    // Imports and modules.

    /// An import without a module that brings a name.
    fn bare_import(&self, _file: FileId, _name: &str, _offset: u32) -> Option<Resolution> {
        None
    }

    /// Whether `import *` brings the names of a module.
    fn has_wildcard_imports(&self) -> bool {
        true
    }

    /// What an import brings under one of its names, where that is not what the module exports by it.
    fn resolve_import(
        &self,
        _file: FileId,
        _import: &Import,
        _imported: &ImportedName,
        _seen: &mut Seen,
    ) -> Option<Resolution> {
        None
    }

    /// The module that an import of a whole module makes known.
    fn imported_module<'m>(&self, import: &'m Import, _imported: &'m ImportedName) -> &'m str {
        &import.module
    }

    /// The name of a module within another.
    fn submodule(&self, _module: &str, _name: &str) -> Option<String> {
        None
    }

    /// The definitions that a whole module stands for.
    fn module_value(&self, _file: FileId) -> Option<Vec<DefinitionSite>> {
        None
    }

    /// A member of what a whole module stands for.
    fn exported_member(&self, _file: FileId, _name: &str) -> Option<Vec<DefinitionSite>> {
        None
    }

    fn is_exported(&self, definition: &Definition) -> bool {
        !definition.is_member && definition.scope.is_none()
    }

    /// Puts the definitions that a file exports by one name in order, the best first.
    fn order_exports(&self, _own: &mut [&Definition]) {}

    /// What is meant by the definition that a file exports.
    fn export_target(&self, own: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        own
    }

    /// Whether a file also exports the names it imports.
    fn exports_imports(&self) -> bool {
        false
    }

    /// Whether the modules within a file see what it imports for itself.
    fn shares_private_imports(&self) -> bool {
        false
    }

    /// The file of a module that is only declared in another.
    fn declared_module(&self, _found: &DefinitionSite) -> Option<FileId> {
        None
    }

    /// The files of a module, seen from a file; empty for one outside of the workspace.
    fn find_module_files(&self, _file: FileId, _module: &str) -> Vec<FileId> {
        Vec::new()
    }

    /// The files that an import refers to.
    fn imported_files(&self, file: FileId, import: &Import) -> Vec<FileId> {
        self.resolver().module_files(file, &import.module)
    }

    // Occurrences of names.

    /// Resolves an occurrence that the general rules get wrong; `own` is what it defines.
    fn special_occurrence(
        &self,
        _file: FileId,
        _occurrence: &Occurrence,
        _own: &[DefinitionSite],
    ) -> Option<Resolution> {
        None
    }

    /// The same for one that defines nothing.
    fn special_reference(&self, _file: FileId, _text: &str, _occurrence: &Occurrence) -> Option<Resolution> {
        None
    }

    /// Whether an assignment defines a name, so that a name is defined more than once.
    fn assignments_define(&self) -> bool {
        false
    }

    /// `path::name`, or a name in an import.
    fn resolve_path(&self, file: FileId, path: &str, name: &str, offset: u32) -> Resolution {
        self.resolver().member(file, path, name, offset, Want::Any)
    }

    /// A name in the path of a module that is imported.
    fn in_module_path(&self, _file: FileId, _path: &str) -> Option<Resolution> {
        None
    }

    /// A parameter or an attribute by its name in a call.
    fn named_argument(
        &self,
        _file: FileId,
        _function: &str,
        _name: &str,
        _offset: u32,
    ) -> Option<Resolution> {
        None
    }

    /// What the text before a name says about it, such as `new` or `struct`.
    fn after_keyword(&self, _file: FileId, found: Vec<DefinitionSite>, _before: &str) -> Vec<DefinitionSite> {
        found
    }

    /// Of several definitions those that the arguments behind a name select.
    fn overloads(
        &self,
        _file: FileId,
        _text: &str,
        _occurrence: &Occurrence,
        found: Vec<DefinitionSite>,
    ) -> Vec<DefinitionSite> {
        found
    }

    /// The definition of what is only declared.
    fn definition_of(&self, _declared: &DefinitionSite) -> Vec<DefinitionSite> {
        Vec::new()
    }

    /// What a person means who asks where an occurrence is defined.
    fn asked_definition(
        &self,
        _file: FileId,
        _occurrence: &Occurrence,
        resolution: Resolution,
    ) -> Resolution {
        resolution
    }

    // Members.

    /// The value of an expression that the general rules do not know.
    fn value_otherwise(&self, _file: FileId, _text: &str, _offset: u32, _value: &Value) -> Option<Value> {
        None
    }

    /// A member that the workspace adds to a type outside of it.
    fn member_of_foreign(&self, _text: &str, _name: &str) -> Vec<DefinitionSite> {
        Vec::new()
    }

    fn member_of_module(&self, file: FileId, name: &str) -> Resolution {
        Resolution::of(self.resolver().exported(file, name, &mut Seen::new()))
    }

    /// Of the members of several bases those that count.
    fn of_first_base(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        found
    }

    /// Whether members are only assigned, so that a base may still declare them.
    fn is_only_assigned(&self, _found: &[DefinitionSite]) -> bool {
        false
    }

    /// A member that types have from a trait of the workspace.
    fn member_of_traits(&self, _types: &[DefinitionSite], _name: &str) -> Vec<DefinitionSite> {
        Vec::new()
    }

    /// Of several members of one name those that are meant.
    fn preferred(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        // Which signature of an overloaded method is meant, the call says.
        let is_overloaded = found.iter().all(|one| one.definition.kind.is_callable());
        if is_overloaded { found } else { with_body(found) }
    }

    /// Whether members are assigned to a variable.
    fn has_members(&self, _of: &DefinitionSite) -> bool {
        false
    }

    /// What a namespace has by a name; `None` where the definition is none.
    fn in_namespace(&self, _of: &DefinitionSite, _name: &str) -> Option<Vec<DefinitionSite>> {
        None
    }

    /// Whether a definition is a namespace in a file, and not the file.
    fn is_namespace(&self, _found: &DefinitionSite) -> bool {
        false
    }

    /// Whether the members of a type may stand outside of it.
    fn spreads_members(&self) -> bool {
        false
    }

    /// Whether a file may define members of a type in another one.
    fn may_hold_members(&self, of: FileId, other: FileId) -> bool {
        self.resolver().can_use(other, of)
    }

    // Types and values.

    /// Whether the meaning of a type depends on what type parameters stand for, so that it cannot be cached.
    fn binds_type_parameters(&self) -> bool {
        false
    }

    /// The value of an expression by rules of the language.
    fn special_value(&self, _file: FileId, _text: &str, _offset: u32) -> Option<Value> {
        None
    }

    fn literal_value(&self, _file: FileId, _text: &str, _offset: u32) -> Option<Value> {
        None
    }

    /// The value of the path that steps begin with, and the steps behind it.
    fn path_value<'s>(&self, _file: FileId, _steps: &'s [Step], _offset: u32) -> Option<(Value, &'s [Step])> {
        None
    }

    /// The value of a name by rules of the language.
    fn special_name(&self, _file: FileId, _name: &str, _offset: u32) -> Option<Value> {
        None
    }

    /// What `this` is declared to be at a place.
    fn declared_this(&self, _file: FileId, _offset: u32) -> Option<Value> {
        None
    }

    /// The value of a parameter without a type.
    fn parameter_value(&self, _parameter: &DefinitionSite) -> Option<Value> {
        None
    }

    fn tuple_element(&self, _value: &Value, _place: usize) -> Option<Value> {
        None
    }

    /// `value.0`.
    fn tuple_field(&self, _value: &Value, _name: &str) -> Option<Value> {
        None
    }

    /// Whether the type is a wrapper of the standard library.
    fn is_wrapper(&self, _text: &str) -> bool {
        false
    }

    /// What a member of a type of the standard library gives.
    fn library_member(&self, _value: &Value, _name: &str) -> Option<Value> {
        None
    }

    /// What a member that is not in the workspace gives.
    fn external_member(&self, value: Value, name: &str) -> Value {
        match self.library_member(&value, name) {
            Some(given) => given,
            None => self.resolver().common_member(value, name).unwrap_or(Value::External),
        }
    }

    /// Members with the type parameters of their owner replaced by what they stand for in a value.
    fn members_with_arguments(&self, _value: &Value, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        found
    }

    /// A value whose type is a type parameter, as what that stands for.
    fn expanded(&self, value: Value) -> Value {
        value
    }

    /// What a value of a function type gives when it is called.
    fn called_type(&self, _value: &Value) -> Option<Value> {
        None
    }

    /// What an iterator of the workspace gives.
    fn item(&self, _value: &Value) -> Option<Value> {
        None
    }

    /// The types that a text names, where the language has rules of its own.
    fn special_types(&self, _file: FileId, _offset: u32, _text: &str) -> Option<Vec<DefinitionSite>> {
        None
    }

    /// What is not a type and has fields all the same.
    fn made_variants(&self, _file: FileId, _offset: u32, _text: &str) -> Vec<DefinitionSite> {
        Vec::new()
    }

    /// A type that is written with its package.
    fn qualified_type(&self, _path: &str) -> Vec<DefinitionSite> {
        Vec::new()
    }

    /// Whether a name for a type may have members of its own.
    fn aliases_have_members(&self) -> bool {
        false
    }

    fn type_arguments(&self) -> TypeArguments {
        TypeArguments::WhereNamed
    }

    // References and calls.

    /// The methods that a method overrides: a call of those may call it.
    fn overridden(&self, _target: &DefinitionSite) -> HashSet<Key> {
        HashSet::new()
    }

    /// Whether a method names the one it overrides, so that the name is a reference to that.
    fn overriding_refers(&self) -> bool {
        true
    }

    /// Whether a key of an object describes a property for the language.
    fn describes_property(&self, _file: FileId, _key: Span) -> bool {
        false
    }

    /// Whether another definition of a thing is a reference to the one that is asked about.
    fn redefinition_refers(&self) -> bool {
        false
    }

    /// Whether an occurrence refers to a target beside what it was resolved to.
    fn also_refers(
        &self,
        _file: FileId,
        _text: &str,
        _occurrence: &Occurrence,
        _found: &[DefinitionSite],
        _target: &DefinitionSite,
    ) -> bool {
        false
    }

    /// References to a target by another name, such as `Self`.
    fn each_self(&self, _target: &DefinitionSite, _targets: &HashSet<Key>, _then: &mut dyn FnMut(Reference)) {
    }

    /// The declarations of a definition in other places.
    fn declarations_of(&self, _target: &DefinitionSite) -> Vec<DefinitionSite> {
        Vec::new()
    }

    /// Whether a function is one with its signatures of the same name.
    fn joins_signatures(&self, _has_signature: bool) -> bool {
        false
    }

    /// Whether what was found makes values of a type that is asked about.
    fn constructs(&self, _found: &DefinitionSite, _target: &DefinitionSite) -> bool {
        false
    }

    /// The name by which a target is used.
    fn searched_name(&self, target: &DefinitionSite) -> String {
        target.definition.name.clone()
    }

    /// The members that a member stands for in the types above.
    fn inherited_family(&self, _found: &DefinitionSite) -> HashSet<Key> {
        HashSet::new()
    }

    /// The definitions that must be called like a member: those it overrides or implements.
    fn renamed_with(&self, one: &DefinitionSite) -> HashSet<Key> {
        self.resolver().inherited(one)
    }

    /// What outside of the workspace may ask for a definition by its name.
    fn asked_for_by(&self, target: &DefinitionSite) -> Option<String> {
        self.resolver().external_base(target)
    }

    /// What in the workspace may reach one of some definitions of a name by a text, where a program can.
    fn reached_by_text(&self, _sites: &[DefinitionSite]) -> Option<String> {
        None
    }

    /// Whether the types of two members may be compared by their members, so that both must have the same.
    fn may_be_one_type(&self, _one: &DefinitionSite, _other: &DefinitionSite) -> bool {
        false
    }

    /// Whether a type outside of the workspace asks for no members.
    fn asks_for_nothing(&self, _base: &str) -> bool {
        false
    }

    /// Whether types of the language's library have a member of that name. Where the types of values are written down
    /// that need not be known: what is not of the workspace is known to be of none of its types.
    fn is_library_member(&self, _name: &str, _want: Want) -> bool {
        true
    }

    /// Whether imports give names another name.
    fn has_import_aliases(&self) -> bool {
        false
    }

    /// The names under which other files import what a module stands for, with those files.
    fn names_of_module(&self, _target: &DefinitionSite) -> Vec<(FileId, String)> {
        Vec::new()
    }

    /// The function that calls, where a reference is a call.
    fn caller(&self, _target: &DefinitionSite, used: &Reference) -> Option<DefinitionSite> {
        self.resolver().function_around(used.file, used.occurrence.span.start)
    }

    /// Whether functions compute properties, so that reading one is a call.
    fn properties_are_functions(&self) -> bool {
        false
    }

    /// What makes a function without a name.
    fn maker(&self, _function: &DefinitionSite) -> Option<DefinitionSite> {
        None
    }

    /// Whether a definition stands for the functions it lists.
    fn is_function_table(&self, _definition: &Definition) -> bool {
        false
    }

    /// The bytes of a file that are not compiled.
    fn inactive_spans(&self, _file: FileId) -> Rc<[Span]> {
        Rc::default()
    }
}

/// The rules of a file's language.
pub(crate) type Rules<'r> = Box<dyn LanguageRules + 'r>;

impl Resolver<'_> {
    pub(crate) fn rules(&self, file: FileId) -> Rules<'_> {
        match self.language(file) {
            Some(language) => (language.definition().rules)(self),
            None => Box::new(Plain(self)),
        }
    }

    /// The rules of the language that definitions are in.
    pub(crate) fn rules_of(&self, found: &[DefinitionSite]) -> Rules<'_> {
        match found.first() {
            Some(first) => self.rules(first.file),
            None => Box::new(Plain(self)),
        }
    }

    /// The rules of the language that the type of a value is in.
    pub(crate) fn rules_of_value(&self, value: &Value) -> Rules<'_> {
        match value {
            Value::Instance { file, .. } | Value::Around(file, _) | Value::Module(file) => self.rules(*file),
            Value::Of(found) | Value::Type(found) | Value::Function(found) => self.rules_of(found),
            Value::External | Value::Unknown => Box::new(Plain(self)),
        }
    }
}

/// A language of which only the outline is known.
pub(crate) struct Plain<'r, 'i>(pub &'r Resolver<'i>);

impl LanguageRules for Plain<'_, '_> {
    fn resolver(&self) -> &Resolver<'_> {
        self.0
    }
}

/// Declares the view of a language on a resolver: its own methods beside those of the resolver.
macro_rules! language_view {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub(crate) struct $name<'r, 'i>(
            pub(crate) &'r crate::resolve::Resolver<'i>,
        );

        impl<'i> std::ops::Deref for $name<'_, 'i> {
            type Target = crate::resolve::Resolver<'i>;

            fn deref(&self) -> &Self::Target {
                self.0
            }
        }
    };
}
pub(crate) use language_view;

/// Those with a body, where there are such.
pub(crate) fn with_body(found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
    let real: Vec<DefinitionSite> =
        found.iter().filter(|one| !one.definition.is_declaration).cloned().collect();
    if real.is_empty() { found } else { real }
}
