//! Types of expressions.

use super::expression::{Step, steps};
use super::type_ref::{TypeRef, has_word};
use super::{DefinitionSite, Resolution, Resolver, Want};
use crate::facts::Kind;
use crate::index::FileId;

/// What an expression stands for.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A value of the type of this text, as it is understood at a place of a file.
    Instance {
        file: FileId,
        offset: u32,
        text: String,
    },
    /// A value of one of these types.
    Of(Vec<DefinitionSite>),
    /// The type itself.
    Type(Vec<DefinitionSite>),
    Function(Vec<DefinitionSite>),
    /// A value of the type around a place, which is not looked for until it is needed.
    Around(FileId, u32),
    Module(FileId),
    External,
    Unknown,
}

/// Types that stand for what is in them.
pub(crate) const TRANSPARENT: &str = "Box Rc Arc Ref RefMut Cow Pin MutexGuard Optional Promise Awaitable Coroutine Readonly Partial \
    Required NonNullable ClassVar Final Annotated Type type unique_ptr shared_ptr weak_ptr optional \
    reference_wrapper atomic InstanceType Self";

/// Methods of the standard libraries that give what they are called on, or what is in it.
const SAME: &str = "clone as_ref as_mut borrow borrow_mut to_owned iter iter_mut into_iter by_ref as_deref as_deref_mut \
    cloned copied lock read write get_mut into rev take peekable enumerate_values get";
const INSIDE: &str =
    "unwrap expect unwrap_or_default unwrap_or unwrap_or_else next last first pop ok_or ok_or_else";

impl Resolver<'_> {
    /// The value of an expression at a place.
    pub(crate) fn value(&self, file: FileId, text: &str, offset: u32) -> Value {
        let rules = self.rules(file);
        if let Some(value) = rules.special_value(file, text, offset) {
            return value;
        }
        match steps(text) {
            Some(steps) => self.value_of_steps(file, &steps, offset),
            None => rules.literal_value(file, text, offset).unwrap_or(Value::Unknown),
        }
    }

    fn value_of_steps(&self, file: FileId, steps: &[Step], offset: u32) -> Value {
        let Some(_deeper) = self.enter() else { return Value::Unknown };
        if let Some((value, rest)) = self.rules(file).path_value(file, steps, offset) {
            return self.value_behind(file, value, rest, offset);
        }
        let first = match steps.first() {
            Some(Step::Name(name)) => self.value_of_name(file, name, offset),
            Some(Step::Made(text)) => Value::Instance { file, offset, text: text.clone() },
            _ => Value::Unknown,
        };
        self.value_behind(file, first, steps.get(1..).unwrap_or_default(), offset)
    }

    /// What the members and calls of a text that begins with a dot or a bracket lead to.
    pub(crate) fn value_after(&self, value: Value, file: FileId, path: &str, offset: u32) -> Value {
        match steps(&format!("_{path}")) {
            Some(steps) => self.value_behind(file, value, steps.get(1..).unwrap_or_default(), offset),
            None => Value::Unknown,
        }
    }

    /// The value that further steps lead to.
    pub(crate) fn value_behind(&self, file: FileId, first: Value, steps: &[Step], offset: u32) -> Value {
        let mut steps = steps.iter().peekable();
        let mut value = first;
        // A member that stands alone is one of the type around.
        let mut receiver = Value::Around(file, offset);
        value = self.with_arguments(&receiver, value);
        while let Some(step) = steps.next() {
            let want = if steps.peek() == Some(&&Step::Call) { Want::Call } else { Want::Any };
            value = match step {
                Step::Member(name) | Step::Path(name) => {
                    receiver = value.clone();
                    let member = self.value_of_member(value, name, want);
                    self.with_arguments(&receiver, member)
                }
                Step::Call => {
                    let given = self.value_of_call(value);
                    self.with_arguments(&receiver, given)
                }
                Step::Element => self.element(value),
                Step::Made(text) => Value::Instance { file, offset, text: text.clone() },
                Step::Place(place) => {
                    let element = self.rules_of_value(&value).tuple_element(&value, *place);
                    element.unwrap_or_else(|| nth_returned(value, *place))
                }
                Step::Name(_) => Value::Unknown,
            };
        }
        value
    }

    fn value_of_name(&self, file: FileId, name: &str, offset: u32) -> Value {
        match name {
            "self" | "cls" | "this" | "Self" => {
                if let Some(value) = self.rules(file).declared_this(file, offset) {
                    return value;
                }
                let types = self.enclosing_type(file, offset);
                let is_type = matches!(name, "cls" | "Self");
                if !types.is_empty() {
                    return if is_type { Value::Type(types) } else { Value::Of(types) };
                }
            }
            "super" => {
                let types = self.enclosing_type(file, offset);
                let bases: Vec<DefinitionSite> = types.iter().flat_map(|one| self.bases_of(one)).collect();
                return if bases.is_empty() { Value::External } else { Value::Of(bases) };
            }
            _ => {}
        }
        let rules = self.rules(file);
        if let Some(value) = rules.special_name(file, name, offset) {
            return value;
        }
        let value = match self.name(file, name, offset) {
            Resolution::Found(found, _) => self.value_of_found(&found),
            Resolution::External => Value::External,
            Resolution::Unknown => Value::Unknown,
        };
        rules.value_otherwise(file, name, offset, &value).unwrap_or(value)
    }

    pub(crate) fn value_of_found(&self, found: &[DefinitionSite]) -> Value {
        let Some(_deeper) = self.enter() else { return Value::Unknown };
        let Some(first) = found.first() else { return Value::Unknown };
        let definition = &first.definition;
        match definition.kind {
            Kind::Module if self.rules(first.file).is_namespace(first) => Value::Of(found.to_vec()),
            Kind::Module => {
                if definition.name_span.is_empty() || !definition.is_declaration {
                    return Value::Module(first.file);
                }
                self.rules(first.file).declared_module(first).map_or(Value::Unknown, Value::Module)
            }
            kind if kind.is_type() => Value::Type(found.to_vec()),
            Kind::Function | Kind::Method | Kind::Constructor => Value::Function(found.to_vec()),
            // `Enum::Member` is a value of the enum.
            Kind::EnumMember => {
                let types = self.owner_types(first);
                if types.is_empty() { Value::Unknown } else { Value::Of(types) }
            }
            Kind::Macro => Value::Unknown,
            kind if definition.is_function && kind != Kind::Property => Value::Function(found.to_vec()),
            kind => {
                for one in found {
                    let definition = &one.definition;
                    let (file, offset) = (one.file, definition.span.start);
                    if !definition.declared.is_empty() {
                        return Value::Instance { file, offset, text: definition.declared.clone() };
                    }
                    if kind == Kind::Parameter
                        && (definition.value.is_empty() || definition.value.starts_with(['.', '[']))
                        && let Some(value) = self.rules(file).parameter_value(one)
                    {
                        return value;
                    }
                    if kind == Kind::Property {
                        return self.value_of_call(Value::Function(vec![one.clone()]));
                    }
                    let value = self.value(file, &definition.value, offset);
                    if !matches!(value, Value::Unknown) {
                        return value;
                    }
                }
                if self.rules(first.file).has_members(first) {
                    Value::Of(vec![first.clone()])
                } else {
                    Value::Unknown
                }
            }
        }
    }

    fn value_of_member(&self, value: Value, name: &str, want: Want) -> Value {
        let rules = self.rules_of_value(&value);
        if let Some(value) = rules.tuple_field(&value, name) {
            return value;
        }
        if let Value::Instance { text, .. } = &value
            && rules.is_wrapper(text)
        {
            if let Some(value) = rules.library_member(&value, name) {
                return value;
            }
            if let Some(value) = self.common_member(value.clone(), name) {
                return value;
            }
        }
        match self.member_wanted(&value, name, want) {
            Resolution::Found(found, _) => {
                let rules = self.rules_of(&found);
                rules.expanded(self.value_of_found(&rules.members_with_arguments(&value, found)))
            }
            Resolution::External => rules.external_member(value, name),
            Resolution::Unknown => Value::Unknown,
        }
    }

    /// What members give that many standard libraries have.
    pub(crate) fn common_member(&self, value: Value, name: &str) -> Option<Value> {
        if has_word(SAME, name) { Some(value) } else { has_word(INSIDE, name).then(|| self.element(value)) }
    }

    pub(crate) fn value_of_call(&self, value: Value) -> Value {
        match value {
            Value::Type(types) => Value::Of(types),
            Value::Function(found) => {
                for one in &found {
                    let definition = &one.definition;
                    if definition.kind == Kind::Constructor {
                        return Value::Of(self.owner_types(one));
                    }
                    let inside = definition.span.end.saturating_sub(1);
                    if !definition.declared.is_empty() {
                        let text = definition.declared.clone();
                        if matches!(TypeRef::parse(&text).path().as_str(), "Self" | "this") {
                            return Value::Of(self.owner_types(one));
                        }
                        return Value::Instance { file: one.file, offset: inside, text };
                    }
                    if let Some(returned) = definition.value.strip_prefix("() => ") {
                        let value = self.value(one.file, returned, inside);
                        if !matches!(value, Value::Unknown) {
                            return value;
                        }
                    }
                }
                Value::Unknown
            }
            // What a method of the standard library gave, or what is called by its type.
            value @ (Value::Instance { .. } | Value::Of(_)) => {
                self.rules_of_value(&value).called_type(&value).unwrap_or(value)
            }
            Value::External => Value::External,
            Value::Module(_) | Value::Around(..) | Value::Unknown => Value::Unknown,
        }
    }

    /// The types of a value, where it is one.
    pub(crate) fn types_of_value(&self, value: &Value) -> Option<Vec<DefinitionSite>> {
        match value {
            Value::Instance { file, offset, text } => Some(self.types_of(*file, *offset, text)),
            Value::Of(types) => Some(types.clone()),
            _ => None,
        }
    }

    /// One of the things a value holds.
    pub(crate) fn element(&self, value: Value) -> Value {
        if let Some(item) = self.rules_of_value(&value).item(&value) {
            return item;
        }
        match value {
            Value::Instance { file, offset, text } => match TypeRef::parse(&text).element() {
                Some(of) => Value::Instance { file, offset, text: of.to_owned() },
                None => self.element_of_alias(file, offset, &text),
            },
            Value::External => Value::External,
            _ => Value::Unknown,
        }
    }

    /// One of the things that a name for a collection holds: `type List []Item`.
    fn element_of_alias(&self, file: FileId, offset: u32, text: &str) -> Value {
        let Some(_deeper) = self.enter() else { return Value::Unknown };
        self.behind_alias(file, offset, text).map_or(Value::Unknown, |behind| self.element(behind))
    }

    /// A value of the type that a name for a type stands for.
    pub(crate) fn behind_alias(&self, file: FileId, offset: u32, text: &str) -> Option<Value> {
        let named = self.named_type(file, offset, &TypeRef::parse(text).path());
        named.found().iter().filter(|one| one.definition.kind == Kind::Type).find_map(|alias| {
            let definition = &alias.definition;
            let text = if definition.declared.is_empty() { &definition.value } else { &definition.declared };
            let (offset, text) = (definition.span.start, text.clone());
            (!text.is_empty()).then_some(Value::Instance { file: alias.file, offset, text })
        })
    }
}

/// What a function that returns several values returns at a place (Go), or what a tuple has there (Python).
fn nth_returned(value: Value, place: usize) -> Value {
    match value {
        Value::Instance { file, offset, text } => {
            let of = TypeRef::parse(&text);
            let part = match of.tuple() {
                // `(name Type, err error)`.
                Some(parts) => {
                    let part = parts.get(place).copied().unwrap_or_default();
                    part.rsplit_once(' ').map_or(part, |(_, of)| of)
                }
                None if matches!(of.path().as_str(), "tuple" | "Tuple" | "t.Tuple" | "typing.Tuple") => {
                    of.arguments().get(place).copied().unwrap_or_default()
                }
                None if place == 0 => text.trim(),
                None => return Value::External,
            };
            Value::Instance { file, offset, text: part.to_owned() }
        }
        Value::Of(_) if place > 0 => Value::External,
        other => other,
    }
}
