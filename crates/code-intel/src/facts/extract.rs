//! The walk over a syntax tree, and what the rules of a language may say about its nodes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Duration;

use stepwell_workspace::Effort;
use tree_sitter::{Node, Tree};

use super::nodes::{Fields, Kinds, field_id};
use super::{
    Context, Definition, Facts, Hole, Import, ImportedName, Kind, Occurrence, Position, Receiver, Span,
};

/// Text of types and values that is kept at most; what is longer is of no use to infer a type.
const LONGEST_TEXT: usize = 400;

/// What must be known of a language to read it.
pub(crate) struct Rules {
    /// Leaves that are names.
    pub names: &'static [&'static str],
    /// Nodes in which no name stands, and nothing that is visited: texts.
    pub closed: &'static [&'static str],
    /// The kinds of nodes that are visited; empty for all.
    pub visited: &'static [&'static str],
    /// Called for every such node, parents first.
    pub visit: for<'t> fn(&mut Extractor<'t>, Node<'t>),
}

/// Where a new name is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NameScope {
    /// In the innermost scope.
    Here,
    /// As a member of the innermost type.
    Member,
    /// In these bytes.
    In(Span),
}

struct Scope {
    span: Span,
    /// The definition whose body it is.
    definition: Option<u32>,
    /// Whether names in it are members and not local.
    is_type: bool,
    owner: Option<String>,
}

/// Spreads offsets of a text; nobody chooses them to collide who could not make the text longer instead.
#[derive(Default)]
struct OffsetHasher(u64);

impl Hasher for OffsetHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, offset: u32) {
        self.0 = (self.0 ^ u64::from(offset)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}

pub(crate) struct Extractor<'t> {
    pub text: &'t str,
    rules: &'static Rules,
    /// The node that is visited, and those it stands in from the outermost on.
    visited: Option<Node<'t>>,
    /// The kind of the node that is visited, where the rules say which kinds are.
    pub kind: &'static str,
    above: Vec<Node<'t>>,
    facts: Facts,
    scopes: Vec<Scope>,
    receivers: HashMap<u32, Receiver, BuildHasherDefault<OffsetHasher>>,
    /// The functions around, with the types they are declared to return (scripts).
    functions: Vec<(Span, Option<Span>)>,
    /// Names that a function takes from outside, with where they are known: nowhere but in the module (Python).
    taken: Vec<(Span, &'t str, Option<Span>)>,
    /// The last comment that documents something (JavaScript).
    doc: Option<Span>,
    column: ColumnCounter,
}

impl<'t> Extractor<'t> {
    pub fn new(text: &'t str, rules: &'static Rules) -> Self {
        Self {
            text,
            rules,
            visited: None,
            kind: "",
            above: Vec::new(),
            facts: Facts::default(),
            scopes: Vec::new(),
            receivers: HashMap::default(),
            functions: Vec::new(),
            taken: Vec::new(),
            doc: None,
            column: ColumnCounter { line_start: 0, offset: 0, column: 1 },
        }
    }

    /// Goes through the whole tree, with a cursor and not by recursion: a text can be nested as deeply as it likes.
    pub fn walk(&mut self, tree: &'t Tree, kinds: &Kinds, time: Duration) {
        const LOOK_UP: usize = 4096;
        let effort = Effort::begin();
        let mut cursor = tree.walk();
        let mut count = 0_usize;
        loop {
            let node = cursor.node();
            count += 1;
            if count.is_multiple_of(LOOK_UP) && effort.exceeds(time) {
                return;
            }
            let of_kind = kinds.get(node);
            // Most nodes are signs and words of the language, or only hold others.
            if (of_kind.is_visited || of_kind.is_name) && node.is_named() {
                let start = node.start_byte() as u32;
                while self.scopes.last().is_some_and(|scope| scope.span.end <= start) {
                    self.scopes.pop();
                }
                self.leave_functions(start);
                if of_kind.is_visited {
                    self.visited = Some(node);
                    self.kind = of_kind.name;
                    (self.rules.visit)(self, node);
                }
                if of_kind.is_name && node.child_count() == 0 {
                    self.occurrence(node);
                }
            }
            // What has only signs and words in it is not gone into.
            if !of_kind.is_closed && node.named_child_count() > 0 && cursor.goto_first_child() {
                self.above.push(node);
                continue;
            }
            while !cursor.goto_next_sibling() {
                self.above.pop();
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// The node that another stands in. tree-sitter looks for it from the root on; here it is known for the node that
    /// is visited and for those around it, and near for those within it.
    pub fn parent(&self, node: Node<'t>) -> Option<Node<'t>> {
        let visited = self.visited?;
        if visited == node {
            return self.above.last().copied();
        }
        if let Some(place) = self.above.iter().rposition(|above| *above == node) {
            return place.checked_sub(1).and_then(|place| self.above.get(place)).copied();
        }
        let mut around = visited;
        while let Some(inner) = around.child_with_descendant(node) {
            if inner == node {
                return Some(around);
            }
            around = inner;
        }
        node.parent()
    }

    pub fn finish(mut self) -> Facts {
        self.facts.contexts.sort_by_key(|context| context.span.start);
        self.facts
    }

    /// Notes what is expected of a value.
    pub fn expect(&mut self, context: Context) {
        self.facts.contexts.push(context);
    }

    /// The names of a scope are not known in a part of it.
    pub(crate) fn leave_out(&mut self, part: Node<'_>, of: Node<'_>) {
        self.facts.holes.push(Hole { span: span(part), scope: span(of) });
    }

    /// Whether a name was declared before in the innermost block, or as a parameter of the function whose body it is.
    pub(crate) fn is_declared_in_block(&self, name: &str) -> bool {
        const NEWEST: usize = 1024;
        let Some(block) = self.scopes.last().filter(|scope| !scope.is_type).map(|scope| scope.span) else {
            return false;
        };
        let is_here = |one: &Definition| {
            one.scope.is_some_and(|scope| scope.end == block.end)
                && !one.is_label()
                && (one.name_span.start >= block.start || one.kind == Kind::Parameter)
        };
        let newest = self.facts.definitions.iter().rev().take(NEWEST);
        newest.filter(|one| one.name == name).any(is_here)
    }

    /// The node that is visited is a function.
    pub(crate) fn enter_function(&mut self, function: Span, declared: Option<Span>) {
        self.leave_functions(function.start);
        self.functions.push((function, declared));
    }

    pub(crate) fn keep_doc(&mut self, comment: Span) {
        self.doc = Some(comment);
    }

    /// The comment that stands before what begins at a place, with at most the start of its line between.
    pub(crate) fn doc_before(&self, start: u32) -> Option<Span> {
        let doc = self.doc?;
        let between = Span { start: doc.end, end: start }.of(self.text).trim_start();
        let is_near = doc.end <= start && !between.contains(['\n', ';', '{', '}']);
        is_near.then_some(doc)
    }

    /// The name of what a function is a member of, or of the function itself: what `this` has members by.
    pub(crate) fn function_owner(&self) -> Option<String> {
        let definitions = &self.facts.definitions;
        let of_function = |scope: &Scope| {
            let index = scope.definition? as usize;
            definitions.get(index).filter(|one| one.is_callable()).map(|one| (index, one))
        };
        let (index, function) = self.scopes.iter().rev().find_map(of_function)?;
        // `A.prototype.b = function b() {}` is noted before its own name.
        let outer = index.checked_sub(1).and_then(|before| definitions.get(before));
        let outer = outer.filter(|outer| outer.span.contains(function.span.start));
        let owner = outer.and_then(|outer| outer.owner.clone()).or_else(|| function.owner.clone());
        owner.or_else(|| (!function.is_member).then(|| function.name.clone()))
    }

    /// The innermost function around the node that is visited.
    pub(crate) fn function_around(&self) -> Option<(Span, Option<Span>)> {
        self.functions.last().copied()
    }

    fn leave_functions(&mut self, start: u32) {
        while self.functions.last().is_some_and(|(function, _)| function.end <= start) {
            self.functions.pop();
        }
    }

    pub fn text_of(&self, node: Node<'_>) -> &'t str {
        span(node).of(self.text)
    }

    /// The text of a type or a value; empty where there is none or too much.
    pub(crate) fn kept_text(&self, node: Option<Node<'_>>) -> String {
        let text = node.map(|node| self.text_of(node)).unwrap_or_default();
        if text.len() > LONGEST_TEXT { String::new() } else { text.to_owned() }
    }

    pub fn position(&mut self, node: Node<'_>) -> Position {
        let point = node.start_position();
        Position {
            line: point.row as u32 + 1,
            column: self.column.count(self.text, node.start_byte(), point.column),
        }
    }

    fn occurrence(&mut self, node: Node<'_>) {
        let span = span(node);
        if span.is_empty() {
            return;
        }
        let receiver = self.receivers.get(&span.start).copied().unwrap_or(Receiver::None);
        let at = self.position(node);
        self.facts.occurrences.push(Occurrence { span, at, receiver });
    }

    /// A name that stands in a text the grammar does not look into.
    pub(crate) fn used_at(&mut self, start: usize, length: usize) {
        let before = self.text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let at = Position {
            line: before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
        };
        let span = Span { start: start as u32, end: (start + length) as u32 };
        self.facts.occurrences.push(Occurrence { span, at, receiver: Receiver::None });
    }

    /// The same, in the text of a node: bytes from its start.
    pub(crate) fn used_within(&mut self, node: Node<'_>, start: usize, length: usize) {
        let mut at = self.position(node);
        let before = self.text_of(node).get(..start).unwrap_or_default();
        let lines = before.bytes().filter(|byte| *byte == b'\n').count() as u32;
        let tail = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32;
        at = Position { line: at.line + lines, column: if lines > 0 { tail + 1 } else { at.column + tail } };
        let start = (node.start_byte() + start) as u32;
        let span = Span { start, end: start + length as u32 };
        let receiver = self.receivers.get(&start).copied().unwrap_or(Receiver::None);
        self.facts.occurrences.push(Occurrence { span, at, receiver });
    }

    /// The same for a member of the value that the bytes before it name.
    pub(crate) fn member_within(&mut self, node: Node<'_>, of: Span, start: usize, length: usize) {
        self.receivers.insert((node.start_byte() + start) as u32, Receiver::Value(of));
        self.used_within(node, start, length);
    }

    /// The innermost function makes no name of its own of this one: it is that of the module, or of the function
    /// around.
    pub fn take(&mut self, name: &'t str, is_global: bool) {
        let mut functions = self.scopes.iter().rev().filter(|scope| !scope.is_type).map(|scope| scope.span);
        let Some(own) = functions.next() else { return };
        let from = functions.next().filter(|_| !is_global);
        self.taken.push((own, name, from));
    }

    /// Puts a definition where its name is known, if the innermost function takes that from outside.
    pub(crate) fn put_where_taken(&mut self, index: u32) {
        let own = self.scopes.iter().rev().find(|scope| !scope.is_type).map(|scope| scope.span);
        let Some(definition) = self.facts.definitions.get_mut(index as usize) else { return };
        let is_of = |taken: &&(Span, &str, Option<Span>)| Some(taken.0) == own && taken.1 == definition.name;
        if let Some((.., known)) = self.taken.iter().rev().find(is_of) {
            definition.scope = *known;
            definition.container = None;
        }
    }

    /// Says how the name in a node is reached.
    pub fn reached(&mut self, name: Node<'_>, receiver: Receiver) {
        self.receivers.insert(name.start_byte() as u32, receiver);
    }

    /// For nodes like `value.name`: the fields that hold the two.
    pub(crate) fn member_access(&mut self, node: Node<'_>, value: &'static str, name: &'static str) {
        if let (Some(value), Some(name)) = (node.field(value), node.field(name)) {
            self.reached(name, Receiver::Value(span(value)));
        }
    }

    /// The same for `path::name`.
    pub(crate) fn path_access(&mut self, node: Node<'_>, path: &'static str, name: &'static str) {
        if let (Some(path), Some(name)) = (node.field(path), node.field(name)) {
            self.reached(name, Receiver::Path(span(path)));
        }
    }

    /// Opens a scope for the bytes of a node; it ends by itself.
    pub(crate) fn open_scope(&mut self, node: Node<'_>) {
        self.push_scope(Scope { span: span(node), definition: None, is_type: false, owner: None });
    }

    /// The node is the body of a definition; names in it are its members where it is a type.
    pub(crate) fn open_body(&mut self, node: Node<'_>, definition: u32) {
        let is_type =
            self.facts.definitions.get(definition as usize).is_some_and(|definition| {
                definition.kind.is_type() && definition.kind != Kind::TypeParameter
            });
        self.push_scope(Scope { span: span(node), definition: Some(definition), is_type, owner: None });
    }

    /// Names in it are members of a type that is defined elsewhere.
    pub(crate) fn open_members(&mut self, node: Node<'_>, owner: &str) {
        let owner = Some(owner.to_owned());
        self.push_scope(Scope { span: span(node), definition: None, is_type: true, owner });
    }

    fn push_scope(&mut self, scope: Scope) {
        if !scope.span.is_empty() {
            self.scopes.push(scope);
        }
    }

    /// Whether the innermost scope is that of a type.
    pub(crate) fn is_in_type(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.is_type)
    }

    /// The innermost type, by its place among the definitions and by name.
    pub(crate) fn enclosing_type(&self) -> Option<(Option<u32>, String)> {
        let scope = self.scopes.iter().rev().find(|scope| scope.is_type)?;
        let name = match (&scope.owner, scope.definition) {
            (Some(owner), _) => owner.clone(),
            (None, Some(index)) => self.facts.definitions.get(index as usize)?.name.clone(),
            (None, None) => return None,
        };
        Some((scope.definition, name))
    }

    /// The innermost scope that is a function's or a block's, for names that know no types (Python).
    pub(crate) fn container(&self) -> Option<u32> {
        self.scopes.iter().rev().find_map(|scope| scope.definition)
    }

    pub(crate) fn definition_mut(&mut self, index: u32) -> Option<&mut Definition> {
        self.facts.definitions.get_mut(index as usize)
    }

    /// The definition whose name stands at these bytes, among the newest.
    pub(crate) fn defined_at(&self, name: Span) -> Option<u32> {
        const NEWEST: usize = 256;
        let definitions = &self.facts.definitions;
        let from = definitions.len().saturating_sub(NEWEST);
        let found = definitions[from..].iter().rposition(|definition| definition.name_span == name)?;
        Some((from + found) as u32)
    }

    /// The newest definition of a kind and a name.
    pub fn newest(&self, kind: Kind, name: &str) -> Option<u32> {
        const NEWEST: usize = 64;
        let definitions = &self.facts.definitions;
        let from = definitions.len().saturating_sub(NEWEST);
        let found = definitions[from..].iter().rposition(|one| one.kind == kind && one.name == name)?;
        Some((from + found) as u32)
    }

    /// Whether a function of that name has been seen, among the newest.
    pub(crate) fn names_function(&self, name: &str) -> bool {
        const NEWEST: usize = 4096;
        let mut newest = self.facts.definitions.iter().rev().take(NEWEST);
        newest.any(|definition| definition.is_callable() && definition.name == name)
    }

    pub(crate) fn kind_of(&self, index: u32) -> Option<Kind> {
        self.facts.definitions.get(index as usize).map(|definition| definition.kind)
    }

    /// Adds a definition; `whole` is everything that belongs to it.
    pub(crate) fn define(&mut self, kind: Kind, name: Node<'_>, whole: Node<'_>, place: NameScope) -> u32 {
        let text = self.text_of(name).to_owned();
        self.define_as(kind, text, name, whole, place)
    }

    pub(crate) fn define_as(
        &mut self,
        kind: Kind,
        text: String,
        name: Node<'_>,
        whole: Node<'_>,
        place: NameScope,
    ) -> u32 {
        let at = self.position(name);
        let last_line = whole.end_position().row as u32 + 1;
        self.define_at(kind, text, at, span(name), span(whole), last_line, place)
    }

    #[expect(clippy::too_many_arguments, reason = "each is a field of the definition")]
    pub(crate) fn define_at(
        &mut self,
        kind: Kind,
        name: String,
        at: Position,
        name_span: Span,
        span: Span,
        last_line: u32,
        place: NameScope,
    ) -> u32 {
        let container = self.container();
        let (scope, is_member, owner) = match place {
            NameScope::In(span) => (Some(span), false, None),
            NameScope::Here => match self.scopes.last() {
                Some(scope) if scope.is_type => (None, true, scope.owner.clone()),
                Some(scope) if self.is_open(scope) => (None, false, None),
                Some(scope) => (Some(scope.span), false, None),
                None => (None, false, None),
            },
            NameScope::Member => {
                let of = self.scopes.iter().rev().find(|scope| scope.is_type);
                (None, true, of.and_then(|scope| scope.owner.clone()))
            }
        };
        self.facts.definitions.push(Definition {
            name,
            kind,
            at,
            name_span,
            span,
            last_line,
            container,
            owner,
            scope,
            is_member,
            is_declaration: false,
            is_private: false,
            is_function: false,
            declared: String::new(),
            value: String::new(),
            bases: Vec::new(),
        });
        self.facts.definitions.len() as u32 - 1
    }

    /// A function returns this; the first such value tells what it returns where nothing is declared.
    pub fn returned(&mut self, value: String) {
        if value.is_empty() || value == "None" || value == "null" || value == "undefined" {
            return;
        }
        let Some(index) = self.container() else { return };
        if let Some(definition) = self.definition_mut(index)
            && definition.value.is_empty()
            && definition.kind.is_callable() | definition.is_function
        {
            definition.value = format!("() => {value}");
        }
    }

    /// Whether what stands in a scope is seen from outside by the way of its name: namespaces, modules.
    fn is_open(&self, scope: &Scope) -> bool {
        scope.definition.and_then(|index| self.kind_of(index)) == Some(Kind::Module)
    }

    /// The bytes a local name of the innermost function or block is known in.
    pub fn innermost(&self) -> Option<Span> {
        self.scopes.last().filter(|scope| !scope.is_type && !self.is_open(scope)).map(|scope| scope.span)
    }

    /// The bytes of the innermost function, past blocks, types and the like.
    pub(crate) fn innermost_function(&self) -> Option<Span> {
        let of_function = |scope: &&Scope| {
            let definition = scope.definition.and_then(|index| self.facts.definitions.get(index as usize));
            definition.is_some_and(Definition::is_callable)
        };
        self.scopes.iter().rev().find(of_function).map(|scope| scope.span)
    }

    pub fn import(&mut self, module: &str, node: Node<'_>, names: Vec<ImportedName>) -> &mut Import {
        let scope = self.innermost();
        self.facts.imports.push(Import {
            module: module.to_owned(),
            line: node.start_position().row as u32 + 1,
            names,
            is_reexport: false,
            scope,
        });
        let last = self.facts.imports.len() - 1;
        &mut self.facts.imports[last]
    }

    pub fn imported(&mut self, name: &str, alias: &str, node: Node<'_>) -> ImportedName {
        ImportedName { name: name.to_owned(), alias: alias.to_owned(), at: self.position(node) }
    }

    pub(crate) fn set_package(&mut self, name: &str) {
        name.clone_into(&mut self.facts.package);
    }
}

pub(crate) fn span(node: Node<'_>) -> Span {
    Span { start: node.start_byte() as u32, end: node.end_byte() as u32 }
}

/// The named children of a node.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    // A cursor costs more than to count a few children for each of them.
    const FEW: usize = 4;
    match node.named_child_count() {
        0 => Vec::new(),
        count @ 1..=FEW => (0..count as u32).filter_map(|place| node.named_child(place)).collect(),
        _ => node.named_children(&mut node.walk()).collect(),
    }
}

pub(crate) fn children_by_field<'n>(node: Node<'n>, field: &'static str) -> Vec<Node<'n>> {
    match field_id(&node.language(), field) {
        Some(id) => node.children_by_field_id(id, &mut node.walk()).collect(),
        None => Vec::new(),
    }
}

/// Every node beneath one that `is_wanted` says, not looking into those for which `is_closed` holds.
pub(crate) fn beneath<'n>(
    node: Node<'n>,
    is_wanted: impl Fn(Node<'n>) -> bool,
    is_closed: impl Fn(Node<'n>) -> bool,
) -> Vec<Node<'n>> {
    const MOST: usize = 10_000;
    let (mut open, mut found, mut seen) = (vec![node], Vec::new(), 0);
    while let Some(node) = open.pop() {
        seen += 1;
        if seen > MOST {
            break;
        }
        if is_wanted(node) {
            found.push(node);
        } else if !is_closed(node) {
            open.extend(children(node).into_iter().rev());
        }
    }
    found
}

/// Columns in characters, counted on from the last one asked for: lines can be very long.
#[derive(Debug)]
struct ColumnCounter {
    line_start: usize,
    offset: usize,
    column: u32,
}

impl ColumnCounter {
    fn count(&mut self, text: &str, offset: usize, column_bytes: usize) -> u32 {
        let line_start = offset.saturating_sub(column_bytes);
        if line_start != self.line_start || offset < self.offset {
            *self = Self { line_start, offset: line_start, column: 1 };
        }
        let between = text.as_bytes().get(self.offset..offset).unwrap_or_default();
        // The bytes that begin a character.
        self.column += between.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u32;
        self.offset = offset;
        self.column
    }
}
