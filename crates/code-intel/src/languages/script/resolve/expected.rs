//! The type that is expected of objects, lists and functions that are written out.

use super::text::{self, arguments_of, function_type, is_vague, parts, unwrapped};
use super::{LanguageRules, Script};
use crate::facts::{Context, Definition, Expected, Facts, Kind, Occurrence, Receiver, Span};
use crate::index::FileId;
use crate::resolve::overloads::listed;
use crate::resolve::type_ref::{TypeRef, has_word};
use crate::resolve::types::Value;
use crate::resolve::{DefinitionSite, Resolution};

/// Methods of lists that call a function with what the list holds, and at which place.
const ON_EACH: &str =
    "map forEach filter find findIndex findLast findLastIndex some every flatMap sort toSorted";

impl Script<'_, '_> {
    /// Whether a key of an object says how a property is read, set or shown: such keys belong to a type of the language
    /// itself, so they are the same wherever they stand.
    pub(super) fn is_property_description(&self, file: FileId, key: Span) -> bool {
        let whole = self.index.whole(file);
        let (text, facts) = (&whole.0, &whole.1);
        let from = facts.occurrences.partition_point(|one| one.span.start < key.start);
        let Some(Occurrence { span, receiver: Receiver::Made(object), .. }) = facts.occurrences.get(from)
        else {
            return false;
        };
        let is_given_to = |object: Span, functions: &[&str], at: u32| match context_of(facts, object) {
            Some(Context { expected: Expected::Argument { function, place, .. }, .. }) => {
                *place == at && functions.contains(&function.of(text))
            }
            _ => false,
        };
        let is_one_of_many = || match context_of(facts, *object) {
            Some(Context { expected: Expected::Member { object, .. }, .. }) => {
                is_given_to(*object, &["Object.defineProperties", "Object.create"], 1)
            }
            _ => false,
        };
        *span == key
            && (is_given_to(*object, &["Object.defineProperty", "Reflect.defineProperty"], 2)
                || is_one_of_many())
    }

    /// The key of an object that is written out: the member of the type that is expected, else the key itself.
    pub(super) fn object_key(
        &self,
        file: FileId,
        object: Span,
        occurrence: &Occurrence,
        own: Vec<DefinitionSite>,
    ) -> Resolution {
        let whole = self.index.whole(file);
        let name = occurrence.span.of(&whole.0);
        let rest = whole.0.get(occurrence.span.end as usize..).unwrap_or_default();
        let expected = with_value(self.expected_key(file, object, name), rest);
        let is_shorthand = own.iter().all(|one| one.definition.span == one.definition.name_span);
        if !is_shorthand {
            return match expected {
                Resolution::Unknown => Resolution::of(own),
                other => other,
            };
        }
        // `{ name }` is both the variable and the member.
        let mut found = self.name(file, name, occurrence.span.start).found().to_vec();
        found.extend(expected.found().iter().cloned());
        if found.is_empty() { Resolution::External } else { Resolution::of(found) }
    }

    /// The members that the key of an object stands for, by the type that is expected of the object.
    pub(super) fn expected_of_key(&self, key: &DefinitionSite) -> Vec<DefinitionSite> {
        match object_of_key(&self.index.whole(key.file).1, key) {
            Some(object) => self.expected_key(key.file, object, &key.definition.name).found().to_vec(),
            None => Vec::new(),
        }
    }

    /// Whether the object that a key stands in is given to something whose type is not known, or has no such member.
    pub(super) fn is_key_of_unknown_type(&self, key: &DefinitionSite) -> bool {
        let whole = self.index.whole(key.file);
        let Some(object) = object_of_key(&whole.1, key).filter(|object| is_given(&whole.1, *object)) else {
            return false;
        };
        self.begin();
        match self.expected(key.file, object) {
            Value::External => true,
            Value::Instance { text, .. } if is_vague(&text) => false,
            expected => self.key_of(&expected, &key.definition.name).found().is_empty(),
        }
    }

    fn expected_key(&self, file: FileId, object: Span, name: &str) -> Resolution {
        let Some(_deeper) = self.enter() else { return Resolution::Unknown };
        self.key_of(&self.expected(file, object), name)
    }

    /// The member that a key of an object of this type means.
    fn key_of(&self, value: &Value, name: &str) -> Resolution {
        match value {
            Value::External => return Resolution::External,
            Value::Instance { text, .. } if is_vague(text) => return Resolution::Unknown,
            _ => {}
        }
        let types = self.types_of_value(value);
        if types.is_empty() {
            let is_named = matches!(value, Value::Instance { text, .. } if !text.is_empty());
            return if is_named { Resolution::External } else { Resolution::Unknown };
        }
        match self.member_of_types(&types, name) {
            Resolution::Found(found, certainty) => Resolution::Found(found, certainty),
            _ => Resolution::Unknown,
        }
    }

    /// What is expected of the object, list or function that is written out at a place.
    pub(super) fn expected(&self, file: FileId, span: Span) -> Value {
        let Some(_deeper) = self.enter() else { return Value::Unknown };
        let whole = self.index.whole(file);
        let (text, facts) = (&whole.0, &whole.1);
        let Some(context) = context_of(facts, span) else { return Value::Unknown };
        match context.expected {
            Expected::Declared(of) => {
                Value::Instance { file, offset: of.start, text: of.of(text).to_owned() }
            }
            Expected::Argument { function, place, is_made } => {
                self.expected_argument(file, function, place, is_made)
            }
            Expected::Member { object, name } => {
                let outer = self.expected(file, object);
                if let Value::Instance { file, offset, text } = &outer
                    && let Some(held) = parts(text).into_iter().find_map(text::held_by_keys)
                {
                    return Value::Instance { file: *file, offset: *offset, text: held.to_owned() };
                }
                match self.key_of(&outer, name.of(text).trim_matches(['"', '\''])) {
                    Resolution::Found(found, _) => self.value_of_found(&found),
                    Resolution::External => Value::External,
                    Resolution::Unknown => Value::Unknown,
                }
            }
            Expected::Element(list) => self.element(self.expected(file, list)),
            Expected::Assigned(left) => self.value(file, left.of(text), left.start),
            Expected::Returned(function) => {
                let function = self.expected(file, function);
                self.returned_by(&function)
            }
        }
    }

    /// What the function of a call takes at a place.
    fn expected_argument(&self, file: FileId, function: Span, place: u32, is_made: bool) -> Value {
        let whole = self.index.whole(file);
        let text = function.of(&whole.0);
        let value = self.value(file, text, function.start);
        if is_made || text == "super" {
            return match &value {
                Value::Type(types) | Value::Of(types) => match self.member_of_types(types, "constructor") {
                    Resolution::Found(found, _) => self.parameter_of(&Value::Function(found), place as usize),
                    Resolution::External | Resolution::Unknown => Value::External,
                },
                Value::External if self.is_brought(file, text) => Value::Unknown,
                Value::External => Value::External,
                _ => Value::Unknown,
            };
        }
        if matches!(value, Value::External) && self.is_brought(file, text) {
            // What a package outside takes is not known: it may well take anything.
            return self.expected_by_list(file, text, function.start, place).unwrap_or(Value::Unknown);
        }
        if matches!(value, Value::External) {
            return self.expected_by_list(file, text, function.start, place).unwrap_or(Value::External);
        }
        self.parameter_of(&value, place as usize)
    }

    /// Whether what an expression begins with is imported.
    fn is_brought(&self, file: FileId, text: &str) -> bool {
        let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
        let end = text.find(|character| !is_part(character)).unwrap_or(text.len());
        let outline = self.index.outline(file);
        outline.imports.iter().flat_map(|import| &import.names).any(|one| one.alias == text[..end])
    }

    /// `list.map(...)`: a function that is given what the list holds.
    fn expected_by_list(&self, file: FileId, function: &str, offset: u32, place: u32) -> Option<Value> {
        let (list, method) = function.rsplit_once('.')?;
        let list = list.trim_end().trim_end_matches('?');
        let is_reduced = method == "reduce";
        if place != 0 || !(has_word(ON_EACH, method) || is_reduced || method == "then") {
            return None;
        }
        let Value::Instance { file, offset, text } = self.value(file, list, offset) else { return None };
        let is_promise = matches!(TypeRef::parse(&text).path().as_str(), "Promise" | "PromiseLike");
        if is_promise != (method == "then") {
            return None;
        }
        let Value::Instance { file, offset, text } =
            self.element(Value::Instance { file, offset, text: unwrapped(&text).to_owned() })
        else {
            return None;
        };
        let text = match method {
            "reduce" => format!("(result: any, one: {text}) => any"),
            "sort" | "toSorted" => format!("(one: {text}, other: {text}) => any"),
            _ => format!("(one: {text}) => any"),
        };
        Some(Value::Instance { file, offset, text })
    }

    /// What a function takes at a place.
    fn parameter_of(&self, function: &Value, place: usize) -> Value {
        let Some(_deeper) = self.enter() else { return Value::Unknown };
        match function {
            Value::Function(found) => {
                for one in found {
                    let parameter = self.nth_parameter(one, place);
                    let value = parameter.map_or(Value::Unknown, |one| self.value_of_found(&[one]));
                    if !matches!(value, Value::Unknown) {
                        return value;
                    }
                }
                Value::Unknown
            }
            Value::Instance { file, offset, text } => {
                for part in parts(text) {
                    if let Some((parameters, _)) = function_type(part) {
                        let text = arguments_of(parameters, place);
                        if text.is_empty() {
                            return Value::Unknown;
                        }
                        return self.expanded(Value::Instance { file: *file, offset: *offset, text });
                    }
                    let value = if let Some((file, offset, text)) = self.bound_to(part) {
                        self.parameter_of(&Value::Instance { file, offset, text }, place)
                    } else {
                        let types = self.named_types(*file, *offset, part);
                        self.parameter_of_named(&types, Some((*file, *offset, part)), place)
                    };
                    if !matches!(value, Value::Unknown) {
                        return value;
                    }
                }
                Value::Unknown
            }
            Value::Of(types) => self.parameter_of_named(types, None, place),
            Value::External => Value::External,
            Value::Type(_) | Value::Module(_) | Value::Around(..) | Value::Unknown => Value::Unknown,
        }
    }

    /// The same for names of function types and interfaces that can be called.
    fn parameter_of_named(
        &self,
        types: &[DefinitionSite],
        written: Option<(FileId, u32, &str)>,
        place: usize,
    ) -> Value {
        for one in types {
            let definition = &one.definition;
            let value = if definition.kind == Kind::Type && !definition.value.is_empty() {
                self.parameter_of(&self.behind(one, written), place)
            } else if definition.kind == Kind::Interface {
                let parameter = self.signature_parameter(one, place);
                parameter.map_or(Value::Unknown, |one| self.value_of_found(&[one]))
            } else {
                Value::Unknown
            };
            if !matches!(value, Value::Unknown) {
                return value;
            }
        }
        Value::Unknown
    }

    pub(super) fn returned_by(&self, function: &Value) -> Value {
        let Some(_deeper) = self.enter() else { return Value::Unknown };
        match function {
            Value::Function(_) => self.value_of_call(function.clone()),
            Value::Instance { file, offset, text } => {
                for part in parts(text) {
                    if let Some((_, returned)) = function_type(part) {
                        let text = returned.to_owned();
                        return self.expanded(Value::Instance { file: *file, offset: *offset, text });
                    }
                    if let Some((file, offset, text)) = self.bound_to(part) {
                        return self.returned_by(&Value::Instance { file, offset, text });
                    }
                    for one in self.named_types(*file, *offset, part) {
                        if one.definition.kind == Kind::Type && !one.definition.value.is_empty() {
                            return self.returned_by(&self.behind(&one, Some((*file, *offset, part))));
                        }
                    }
                }
                Value::Unknown
            }
            Value::External => Value::External,
            _ => Value::Unknown,
        }
    }

    /// What the name of a type stands for, with the arguments it is written with.
    fn behind(&self, alias: &DefinitionSite, written: Option<(FileId, u32, &str)>) -> Value {
        let definition = &alias.definition;
        let mut text = definition.value.clone();
        if let Some((file, offset, written)) = written.filter(|(.., written)| written.contains('<')) {
            text = self.bind(&text, &self.type_parameters(alias), written, file, offset);
        }
        Value::Instance { file: alias.file, offset: definition.span.start, text }
    }

    pub(super) fn named_types(&self, file: FileId, offset: u32, text: &str) -> Vec<DefinitionSite> {
        let path = TypeRef::parse(text).path();
        if path.is_empty() {
            return Vec::new();
        }
        let found = self.named_type(file, offset, &path).found().to_vec();
        found.into_iter().filter(|one| one.definition.kind.is_type()).collect()
    }

    /// The parameter at a place of a function, or of the function that a variable is given.
    fn nth_parameter(&self, function: &DefinitionSite, place: usize) -> Option<DefinitionSite> {
        let whole = self.index.whole(function.file);
        let of = &function.definition;
        let is_of =
            |scope: Span| scope == of.span || scope.end == of.span.end && scope.start >= of.name_span.end;
        let scopes = whole.1.of_kind(Kind::Parameter).map(|(_, one)| one);
        let scope =
            scopes.filter_map(|one| one.scope).filter(|scope| is_of(*scope)).max_by_key(|one| one.len())?;
        nth_of_scope(&whole.1, scope, place).map(|one| DefinitionSite::new(function.file, one))
    }

    /// The same for the call signature of an interface, which has no name.
    fn signature_parameter(&self, interface: &DefinitionSite, place: usize) -> Option<DefinitionSite> {
        let whole = self.index.whole(interface.file);
        let (definitions, span) = (&whole.1.definitions, interface.definition.span);
        let is_within = |one: &&Definition| span.contains(one.span.start) && one.span != span;
        let is_member = |scope: Span| {
            definitions
                .iter()
                .filter(is_within)
                .filter(|one| one.is_member)
                .any(|one| one.span.contains(scope.start))
        };
        let scope = definitions
            .iter()
            .filter(is_within)
            .filter(|one| one.kind == Kind::Parameter)
            .filter_map(|one| one.scope)
            .filter(|scope| span.contains(scope.start) && !is_member(*scope))
            .max_by_key(|scope| scope.len())?;
        let one = nth_of_scope(&whole.1, scope, place)?;
        Some(DefinitionSite::new(interface.file, one))
    }

    /// A parameter without a type: what is expected of its function at its place.
    pub(super) fn expected_parameter(&self, parameter: &DefinitionSite) -> Value {
        let Some(_deeper) = self.enter() else { return Value::Unknown };
        let (file, definition) = (parameter.file, &parameter.definition);
        let Some(scope) = definition.scope else { return Value::Unknown };
        let whole = self.index.whole(file);
        let Some(place) = place_in_scope(&whole.1, scope, definition.span) else { return Value::Unknown };
        let expected = self.expected(file, scope);
        let value = self.parameter_of(&expected, place);
        // `({ name }) => ...` takes the member of what is given.
        if definition.value.starts_with(['.', '[']) {
            self.value_after(value, file, &definition.value, definition.span.start)
        } else {
            value
        }
    }

    /// The type of the parameter `this` of the function around a place; arrow functions have that of what is around
    /// them.
    pub(super) fn this_parameter(&self, file: FileId, offset: u32) -> Option<Value> {
        let whole = self.index.whole(file);
        let is_around = |one: &&Definition| one.is_callable() && one.span.contains(offset);
        let mut around: Vec<&Definition> = whole.1.definitions.iter().filter(is_around).collect();
        around.sort_by_key(|one| one.span.len());
        for one in around {
            let head = Span { start: one.name_span.end, end: one.span.end }.of(&whole.0);
            let open = head.find('(')?;
            let first = listed(&head[open..]).and_then(|all| all.into_iter().next()).unwrap_or_default();
            let declared = first.strip_prefix("this").map(str::trim_start);
            if let Some(of) = declared.and_then(|rest| rest.strip_prefix(':')) {
                let text = of.trim().to_owned();
                return Some(Value::Instance { file, offset: one.span.start, text });
            }
            let is_arrow = head.split('{').next().is_some_and(|head| head.contains("=>"));
            if !is_arrow {
                return None;
            }
        }
        None
    }

    /// Whether a member of the enum that a member belongs to stands in an object of which a type outside of the
    /// workspace may be expected. Enums of one name are compared by their members.
    pub(super) fn is_enum_given_outside(&self, member: &DefinitionSite) -> bool {
        let Some(of) = self.owner_types(member).into_iter().next() else { return false };
        let files = self.index.using(&of.definition.name).into_iter();
        { files.filter(|file| self.can_use(*file, of.file)) }.any(|file| {
            let whole = self.index.whole(file);
            let (text, facts) = (&whole.0, &whole.1);
            let is_outside = |module: &str| self.module_files(file, module).is_empty();
            if !facts.imports.iter().any(|import| is_outside(&import.module)) {
                return false;
            }
            let objects: Vec<Span> = { facts.contexts.iter() }
                .map(|context| context.span)
                .filter(|span| span.of(text).starts_with('{'))
                .collect();
            facts.uses(text, &of.definition.name).any(|used| {
                let at = used.span;
                let is_value =
                    text.get(..at.start as usize).is_some_and(|text| text.trim_end().ends_with(':'))
                        && text.get(at.end as usize..).is_some_and(|rest| rest.starts_with('.'));
                let around = objects.iter().filter(|object| object.contains(at.start));
                let Some(object) = around.min_by_key(|object| object.len()).filter(|_| is_value) else {
                    return false;
                };
                self.begin();
                let expected = self.expected(file, *object);
                self.types_of_value(&expected).is_empty()
            })
        })
    }

    /// An attribute of an element is a member of what its component takes.
    pub(super) fn attribute(&self, file: FileId, component: &str, name: &str, offset: u32) -> Resolution {
        if component.starts_with(|first: char| first.is_lowercase()) && !component.contains('.') {
            return Resolution::External;
        }
        let value = self.value(file, component, offset);
        let taken = match &value {
            Value::Type(types) => {
                let constructor = self.member_of_types(types, "props");
                self.value_of_found(constructor.found())
            }
            other => self.parameter_of(other, 0),
        };
        match self.member_of(&taken, name) {
            Resolution::Unknown if matches!(value, Value::External) => Resolution::External,
            other => other,
        }
    }
}

/// Of the members of several types that a key may mean those that are declared to be the text it is given: the types
/// are told apart by it.
fn with_value(meaning: Resolution, rest: &str) -> Resolution {
    let value = rest.trim_start().strip_prefix(':').map(str::trim_start).unwrap_or_default();
    let quoted = |text: &str| {
        let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        text[1..].split(quote).next().map(ToOwned::to_owned)
    };
    let (Resolution::Found(found, certainty), Some(value)) = (&meaning, quoted(value)) else {
        return meaning;
    };
    let is_given =
        |one: &&DefinitionSite| quoted(&one.definition.declared).as_deref() == Some(value.as_str());
    let given: Vec<DefinitionSite> = found.iter().filter(is_given).cloned().collect();
    if given.is_empty() { meaning } else { Resolution::Found(given, *certainty) }
}

/// The object that a definition is a key of.
fn object_of_key(facts: &Facts, key: &DefinitionSite) -> Option<Span> {
    let name = key.definition.name_span;
    let from = facts.occurrences.partition_point(|one| one.span.start < name.start);
    match facts.occurrences.get(from) {
        Some(Occurrence { span, receiver: Receiver::Made(object), .. }) if *span == name => Some(*object),
        _ => None,
    }
}

/// Whether something takes what is written out at a place: a declared type, a function, a variable.
fn is_given(facts: &Facts, span: Span) -> bool {
    const DEEPEST: usize = 64;
    let mut place = span;
    for _ in 0..DEEPEST {
        match context_of(facts, place).map(|context| context.expected) {
            None => return false,
            Some(Expected::Member { object, .. } | Expected::Element(object)) => place = object,
            Some(Expected::Returned(function)) => place = function,
            Some(Expected::Declared(_) | Expected::Argument { .. } | Expected::Assigned(_)) => return true,
        }
    }
    true
}

fn context_of(facts: &Facts, span: Span) -> Option<&Context> {
    let from = facts.contexts.partition_point(|context| context.span.start < span.start);
    let mut here = facts.contexts[from..].iter().take_while(|context| context.span.start == span.start);
    here.find(|context| context.span == span)
}

/// The places of the parameters of a function, in order.
fn parameter_spans(facts: &Facts, scope: Span) -> Vec<Span> {
    let parameters = facts.of_kind(Kind::Parameter).map(|(_, one)| one);
    let mut spans: Vec<Span> =
        parameters.filter(|one| one.scope == Some(scope)).map(|one| one.span).collect();
    spans.sort_unstable();
    spans.dedup();
    spans
}

fn place_in_scope(facts: &Facts, scope: Span, parameter: Span) -> Option<usize> {
    parameter_spans(facts, scope).iter().position(|span| *span == parameter)
}

fn nth_of_scope(facts: &Facts, scope: Span, place: usize) -> Option<&Definition> {
    let spans = parameter_spans(facts, scope);
    let span = spans.get(place)?;
    let mut parameters = facts.of_kind(Kind::Parameter).map(|(_, one)| one);
    parameters.find(|one| one.scope == Some(scope) && one.span == *span)
}
