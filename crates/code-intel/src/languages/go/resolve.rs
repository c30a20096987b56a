//! The rules of Go.

mod modules;
mod outside;

use std::collections::HashSet;

use crate::facts::{Definition, Kind, Occurrence, Position, Receiver, Span};
use crate::index::FileId;
use crate::languages::Language;
use crate::resolve::expression::closing;
use crate::resolve::languages::{Key, LanguageRules, TypeArguments, language_view};
use crate::resolve::modules::folder;
use crate::resolve::type_ref::{has_word, split_top};
use crate::resolve::types::Value;
use crate::resolve::{Certainty, DefinitionSite, Reference, Resolution, Resolver, Want, owner_name};

pub(crate) use modules::GoModule;

language_view! {
    /// Go.
    Go
}

/// Endings of files that are built for one system only, as far as they are common.
const SYSTEMS: &str = "aix android darwin dragonfly freebsd illumos ios js linux netbsd openbsd plan9 solaris wasip1 \
    windows";

/// Methods of the interfaces of the standard library that types implement most.
const ASKED_METHODS: &str = "Accept Addr Align As BindUnmarshaler Close Deadline Done Err Error Format Flush GoString \
    GobDecode GobEncode Header Hijack Is IsDir Len Less LocalAddr Lock MarshalBinary MarshalJSON MarshalText MarshalXML \
    MarshalYAML Mode ModTime Name Network Open Pop Push Read ReadAt ReadByte ReadDir ReadFrom ReadRune Readdir RemoteAddr \
    RoundTrip Scan Seek ServeHTTP Set SetDeadline Size Stat String Swap Sys Temporary Timeout Type Unlock UnmarshalBinary \
    UnmarshalJSON UnmarshalText UnmarshalXML UnmarshalYAML UnreadByte UnreadRune Unwrap Value Write WriteAt WriteByte \
    WriteHeader WriteString WriteTo Add Begin Commit Context Delete Do Errorf Exec Execute Fatal Fatalf Fatalln Get Head \
    Helper Load Log Logf Lookup Panic Panicf Panicln Parse Ping Post Prepare Print Printf Println Query QueryRow Range \
    Reset Rollback Run Store Sum Wait";

impl LanguageRules for Go<'_, '_> {
    fn resolver(&self) -> &Resolver<'_> {
        self.0
    }

    /// The files of a package share their names.
    fn name_beyond_file(&self, file: FileId, name: &str, _: u32) -> Resolution {
        match self.in_package(file, name) {
            Resolution::Unknown => Resolution::External,
            found => found,
        }
    }

    fn find_module_files(&self, file: FileId, module: &str) -> Vec<FileId> {
        self.go_package(self.index.path(file), module)
    }

    fn special_reference(&self, file: FileId, text: &str, occurrence: &Occurrence) -> Option<Resolution> {
        let before = text.get(..occurrence.span.start as usize).unwrap_or_default().trim_end();
        if ["break", "continue", "goto"].iter().any(|word| before.ends_with(word)) {
            return Some(Resolution::of(self.innermost_defined(
                file,
                occurrence.span.of(text),
                occurrence.span.start,
                Definition::is_label,
            )));
        }
        // A key of a literal is a field of a struct, or a value where the type is a map.
        if let Receiver::Made(span) = occurrence.receiver {
            let field = self.made(file, span, occurrence, text);
            let name = || self.name(file, occurrence.span.of(text), occurrence.span.start);
            return Some(match field {
                Resolution::Found(..) => field,
                // A type, a function or a package is no value of a map.
                _ => match name() {
                    Resolution::Found(found, _) if !found.iter().all(is_value) => Resolution::External,
                    Resolution::Found(found, _) if is_foreign_type(span.of(text)) => {
                        Resolution::Found(found, Certainty::ByName)
                    }
                    other => other,
                },
            });
        }
        let package = self.package_name(file, occurrence.span.of(text), occurrence)?;
        Some(Resolution::of(vec![package]))
    }

    fn member_of_module(&self, file: FileId, name: &str) -> Resolution {
        self.in_package(file, name)
    }

    fn preferred(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        found.into_iter().take(1).collect()
    }

    fn spreads_members(&self) -> bool {
        true
    }

    fn may_hold_members(&self, of: FileId, other: FileId) -> bool {
        folder(self.index.path(of)) == folder(self.index.path(other))
    }

    fn special_value(&self, file: FileId, text: &str, offset: u32) -> Option<Value> {
        let text = text.trim();
        let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text).trim();
        let made = |text: &str| Some(Value::Instance { file, offset, text: text.trim().to_owned() });
        if let Some(channel) = text.strip_prefix("<-") {
            return match self.value(file, channel, offset) {
                Value::Instance { file, offset, text } => {
                    let inside = text.trim_start_matches("<-").strip_prefix("chan")?;
                    let text = inside.trim_start_matches("<-").trim().to_owned();
                    Some(Value::Instance { file, offset, text })
                }
                _ => None,
            };
        }
        // `new(T).method()`, for which there is no definition to begin with.
        if let Some(end) = text.strip_prefix("new").filter(|rest| rest.starts_with('(')).and_then(closing)
            && let Some((made_of, rest)) = text.split_at_checked("new".len() + end)
            && !rest.is_empty()
        {
            let of = made_of.trim_start_matches("new(").trim_end_matches(')').trim().to_owned();
            let value = Value::Instance { file, offset, text: of };
            return Some(self.value_after(value, file, rest, offset));
        }
        for (word, is_type) in [("make(", true), ("new(", true), ("append(", false)] {
            if let Some(inside) = text.strip_prefix(word).and_then(|inside| inside.strip_suffix(')')) {
                let first = split_top(inside, ',').first().copied().unwrap_or_default();
                return if is_type { made(first) } else { Some(self.value(file, first, offset)) };
            }
        }
        // One of a list that is written out where a loop goes over it.
        if let Some(list) = text.strip_suffix("}[0]") {
            return Some(self.element(self.value(file, &format!("{list}}}"), offset)));
        }
        // `[]T{...}`, `map[K]V{...}`, `[2]T{...}`.
        let literal = text.trim_start_matches('&');
        let is_collection = literal.starts_with('[') || literal.starts_with("map[");
        let is_whole = literal.ends_with('}');
        match literal.split_once('{') {
            Some((of, _)) if is_collection && is_whole => made(of),
            _ => None,
        }
    }

    fn special_types(&self, file: FileId, offset: u32, text: &str) -> Option<Vec<DefinitionSite>> {
        self.nameless_struct(file, offset, text).map(|found| vec![found])
    }

    /// What a function gives that is known by its type alone.
    fn called_type(&self, value: &Value) -> Option<Value> {
        if let Value::Instance { file, offset, text } = value
            && let Some(given) = function_result(text)
        {
            return Some(Value::Instance { file: *file, offset: *offset, text: given.to_owned() });
        }
        let types = self.types_of_value(value)?;
        types.iter().find_map(|one| {
            let text = function_result(&one.definition.declared)?.to_owned();
            Some(Value::Instance { file: one.file, offset: one.definition.span.start, text })
        })
    }

    /// What begins in lower case is known in its own package alone, so no library has it.
    fn is_library_member(&self, name: &str, _: Want) -> bool {
        name.starts_with(char::is_uppercase)
    }

    /// The methods of a type stand on its own name, whatever it is a name for.
    fn aliases_have_members(&self) -> bool {
        true
    }

    /// The parameters of a type have other names in each of its methods.
    fn type_arguments(&self) -> TypeArguments {
        TypeArguments::Everywhere
    }

    /// The methods that a method is the same as by an interface: who calls one may call the other.
    fn overridden(&self, target: &DefinitionSite) -> HashSet<Key> {
        let definition = &target.definition;
        let owners = self.owner_types(target);
        let Some(owner) = owners.first().filter(|_| definition.kind == Kind::Method) else {
            return HashSet::new();
        };
        let is_interface = owner.definition.kind == Kind::Interface;
        let count = |one: &DefinitionSite| self.parameters_of(one).map(|parameters| parameters.len());
        let wanted = count(target);
        let others = self.everywhere(&definition.name, |file, other, _| {
            self.language(file) == Some(Language::Go)
                && other.kind == Kind::Method
                && other.owner.is_some() == is_interface
        });
        let is_same = |other: &DefinitionSite| {
            let of = self.owner_types(other);
            count(other) == wanted
                && of.first().is_some_and(|of| {
                    if is_interface { self.has_methods_of(of, owner) } else { self.has_methods_of(owner, of) }
                })
        };
        others.iter().filter(|other| is_same(other)).map(DefinitionSite::key).collect()
    }

    /// No method names the one of an interface that it implements.
    fn overriding_refers(&self) -> bool {
        false
    }

    /// Methods that an interface joins, and a type with the fields that embed it.
    fn renamed_with(&self, one: &DefinitionSite) -> HashSet<Key> {
        let mut keys = self.overridden(one);
        keys.extend(self.embedding(one).iter().map(DefinitionSite::key));
        keys.extend(self.built_elsewhere(one).iter().map(DefinitionSite::key));
        keys
    }

    /// Structs with the same fields are converted into each other, and are one type where they have no name.
    fn may_be_one_type(&self, one: &DefinitionSite, other: &DefinitionSite) -> bool {
        let are_fields = one.definition.kind == Kind::Field && other.definition.kind == Kind::Field;
        are_fields && self.fields_beside(one) == self.fields_beside(other)
    }

    fn asked_for_by(&self, target: &DefinitionSite) -> Option<String> {
        let definition = &target.definition;
        if let Some(by) = self.asked_for_by_tests(target) {
            return Some(by);
        }
        if let Some(by) = self.method_asked_for_by(target) {
            return Some(by);
        }
        if let Some(by) = self.asked_for_by_directive(target).or_else(|| self.asked_for_by_template(target)) {
            return Some(by);
        }
        let of = self.embedded_type(target)?;
        of.is_empty().then(|| definition.declared.clone())
    }

    fn caller(&self, _: &DefinitionSite, used: &Reference) -> Option<DefinitionSite> {
        self.caller_around(used)
    }

    /// What makes a function without a name: who calls that leads to it.
    fn maker(&self, literal: &DefinitionSite) -> Option<DefinitionSite> {
        let definition = &literal.definition;
        let whole = self.index.whole(literal.file);
        if definition.name_span.of(&whole.0) != "func" {
            return None;
        }
        // What stands just before it stands in its maker.
        let before = definition.span.start.saturating_sub(1);
        let span = Span { start: before, end: before };
        let occurrence = Occurrence { span, at: definition.at, receiver: Receiver::None };
        self.caller_around(&Reference { file: literal.file, occurrence, certainty: Certainty::Resolved })
    }
}

/// What a function of a written type gives: `func(int) error` gives `error`.
fn function_result(text: &str) -> Option<&str> {
    let parameters = text.trim().strip_prefix("func")?.trim_start();
    let end = closing(parameters).filter(|_| parameters.starts_with('('))?;
    Some(parameters[end..].trim())
}

/// Whether a definition can be the key of a map.
fn is_value(one: &DefinitionSite) -> bool {
    matches!(one.definition.kind, Kind::Constant | Kind::Variable | Kind::Parameter | Kind::Field)
}

/// Whether the type of a literal is of another package, which has structs by far more often than maps.
fn is_foreign_type(text: &str) -> bool {
    text.contains('.') && !text.starts_with("map[") && !text.starts_with('[')
}

impl Go<'_, '_> {
    /// `go test` runs functions by their names, and `go vet` wants what an example is called by.
    fn asked_for_by_tests(&self, target: &DefinitionSite) -> Option<String> {
        let definition = &target.definition;
        if definition.scope.is_some() || definition.kind == Kind::Field {
            return None;
        }
        let is_run =
            ["Test", "Benchmark", "Example", "Fuzz"].iter().any(|word| definition.name.starts_with(word));
        if is_run && definition.kind == Kind::Function && self.index.path(target.file).ends_with("_test.go") {
            return Some("`go test`".to_owned());
        }
        let example = match self.owner_of(target).filter(|_| definition.kind == Kind::Method) {
            Some(owner) => format!("Example{owner}_{}", definition.name),
            None => format!("Example{}", definition.name),
        };
        // `ExampleType_method` and `ExampleType_suffix` name the type too.
        let is_named = |file: FileId| {
            let (source, start) = (self.index.source(file), format!("func {example}"));
            let mut rests = source.match_indices(&start).map(|(at, _)| &source[at + start.len()..]);
            rests.any(|rest| rest.starts_with(['(', '_']))
        };
        let is_test = |file: &FileId| self.index.path(*file).ends_with("_test.go");
        let mut tests = self.go_files(folder(self.index.path(target.file))).into_iter().filter(is_test);
        tests.any(is_named).then(|| format!("the example `{example}`"))
    }

    /// The type that a field embeds, by which it is called; `None` for any other definition.
    fn embedded_type(&self, field: &DefinitionSite) -> Option<Vec<DefinitionSite>> {
        let definition = &field.definition;
        let plain = definition.declared.trim_start_matches('*').split('[').next().unwrap_or_default();
        let is_called_so = plain.rsplit('.').next() == Some(&definition.name);
        if definition.kind != Kind::Field || !is_called_so {
            return None;
        }
        let source = self.index.source(field.file);
        let rest =
            Span { start: definition.name_span.end, end: definition.span.end }.of(&source).trim_start();
        let is_embedded = rest.is_empty() || rest.starts_with(['`', '"', '[']);
        is_embedded.then(|| {
            let types = self.named_type(field.file, definition.span.start, plain);
            types.found().iter().filter(|one| one.definition.kind.is_type()).cloned().collect()
        })
    }

    /// The same definition in the files of the package that are built on other systems.
    fn built_elsewhere(&self, one: &DefinitionSite) -> Vec<DefinitionSite> {
        let own = &one.definition;
        if own.scope.is_some() || own.container.is_some() {
            return Vec::new();
        }
        let of = folder(self.index.path(one.file));
        let is_near = |file: FileId| folder(self.index.path(file)) == of;
        self.everywhere_in(&own.name, is_near, |_, other, _| {
            (other.kind, &other.owner, other.is_member) == (own.kind, &own.owner, own.is_member)
                && other.scope.is_none()
                && other.container.is_none()
        })
    }

    /// A type with the fields that embed it, asked for by either.
    fn embedding(&self, one: &DefinitionSite) -> Vec<DefinitionSite> {
        let mut types = self.embedded_type(one).unwrap_or_default();
        if one.definition.kind.is_type() && one.definition.scope.is_none() {
            types.push(one.clone());
        }
        let Some(of) = types.first().cloned() else { return types };
        let fields = self.everywhere(&one.definition.name, |file, other, _| {
            other.kind == Kind::Field && self.language(file) == Some(Language::Go)
        });
        let embeds = |field: &DefinitionSite| {
            self.begin();
            let embedded = self.embedded_type(field).unwrap_or_default();
            embedded.iter().any(|one| one.key() == of.key())
        };
        types.extend(fields.into_iter().filter(embeds));
        types
    }

    /// A struct without a name: the one that stands next behind a place.
    fn nameless_struct(&self, file: FileId, offset: u32, text: &str) -> Option<DefinitionSite> {
        let after = text.trim_start_matches(['*', '&', '[', ']', ' ']).strip_prefix("struct")?;
        if after.starts_with(is_part_of_name) {
            return None;
        }
        let whole = self.index.whole(file);
        let behind = whole.0.get(offset as usize..)?;
        let is_word = |at: &usize| {
            let (before, after) = (&behind[..*at], &behind[at + "struct".len()..]);
            !before.ends_with(is_part_of_name) && after.trim_start().starts_with('{')
        };
        let at = behind.match_indices("struct").map(|(at, _)| at).find(is_word)?;
        let start = offset + at as u32;
        let end = start + closed(&behind[at..])? as u32;
        let span = Span { start, end };
        let mut found = self.module_meaning(file).found().first()?.clone();
        // Its members are not looked for in the outline.
        let scope = Some(span);
        found.definition = Definition {
            name: String::new(),
            kind: Kind::Struct,
            span,
            name_span: span,
            scope,
            ..found.definition
        };
        Some(found)
    }

    /// Whether a type has all methods of an interface, as far as they are known here.
    fn has_methods_of(&self, of: &DefinitionSite, interface: &DefinitionSite) -> bool {
        const MOST: usize = 32;
        let (mut open, mut seen) = (vec![interface.clone()], HashSet::new());
        while let Some(one) = open.pop() {
            if !seen.insert(one.key()) || seen.len() > MOST {
                continue;
            }
            let outline = self.index.outline(one.file);
            let is_method = |other: &&Definition| {
                other.kind == Kind::Method
                    && one.definition.span.contains(other.span.start)
                    && owner_name(&outline, other) == Some(&one.definition.name)
            };
            for method in outline.definitions.iter().filter(is_method) {
                self.begin();
                let found = self.member_of_types(std::slice::from_ref(of), &method.name);
                if !found.found().iter().any(|one| one.definition.kind == Kind::Method) {
                    return false;
                }
            }
            open.extend(self.bases_of(&one));
        }
        true
    }

    /// Of what files of a package define those that are built here, where there are such.
    fn go_built(&self, found: Vec<DefinitionSite>) -> Vec<DefinitionSite> {
        if found.len() < 2 {
            return found;
        }
        let is_built = |one: &&DefinitionSite| {
            let path = self.index.path(one.file);
            let name = path.rsplit('/').next().unwrap_or(path);
            is_built(name, &self.index.source(one.file))
        };
        let built: Vec<DefinitionSite> = found.iter().filter(is_built).cloned().collect();
        if built.is_empty() { found } else { built }
    }

    /// The name of a package in Go means the line that imports it.
    fn package_name(&self, file: FileId, name: &str, occurrence: &Occurrence) -> Option<DefinitionSite> {
        if occurrence.receiver != Receiver::None {
            return None;
        }
        let local = self.local(file, name, occurrence.span.start);
        let outline = self.index.outline(file);
        let imported =
            outline.imports.iter().flat_map(|import| &import.names).find(|one| one.alias == name)?;
        if !local.is_empty() {
            return None;
        }
        let mut found = self.module_meaning(file).found().first()?.clone();
        found.definition.at = imported.at;
        name.clone_into(&mut found.definition.name);
        Some(found)
    }

    /// The function a use stands in, also one without a name; outside of all, the package.
    fn caller_around(&self, used: &Reference) -> Option<DefinitionSite> {
        let offset = used.occurrence.span.start;
        let whole = self.index.whole(used.file);
        let function = self.function_around(used.file, offset);
        let literals = whole.1.contexts.iter().map(|context| context.span);
        let literal = literals.filter(|span| span.contains(offset)).min_by_key(|span| span.len());
        let mut found = match &function {
            Some(function) if literal.is_none() => return Some(function.clone()),
            Some(function) => function.clone(),
            None => self.module_meaning(used.file).found().first()?.clone(),
        };
        let Some(span) = literal else {
            let line = whole.0.lines().position(|line| line.starts_with("package "))?;
            found.definition.at.line = line as u32 + 1;
            return Some(found);
        };
        let before = whole.0.get(..span.start as usize)?;
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
        let outer = function.map(|function| function.definition.name).unwrap_or_default();
        found.definition = Definition {
            // As the runtime calls it, but for the number.
            name: format!("{outer}.func"),
            kind: Kind::Function,
            at: Position { line, column },
            name_span: Span { start: span.start, end: span.start + "func".len() as u32 },
            last_line: line + span.of(&whole.0).matches('\n').count() as u32,
            span,
            scope: Some(span),
            is_member: false,
            owner: None,
            ..found.definition
        };
        Some(found)
    }

    /// A name of the package that a file is in.
    fn in_package(&self, file: FileId, name: &str) -> Resolution {
        let files = self.go_files(folder(self.index.path(file)));
        let is_among = |other: FileId| files.contains(&other);
        let found = self.everywhere_in(name, is_among, |_, definition, _| !definition.is_member);
        Resolution::of(self.go_built(found))
    }
}

fn is_part_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Where the first brace of a text is closed; behind it.
fn closed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(at + 1),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Whether a file is built on this system without tags of one's own: by the ending of its name and by `//go:build`.
fn is_built(name: &str, text: &str) -> bool {
    // Each bracket of a rule takes some of the stack.
    const LONGEST_RULE: usize = 400;
    let stem = name.trim_end_matches(".go").trim_end_matches("_test");
    let is_other = |part: &str| has_word(SYSTEMS, part) && !is_tag(part);
    if stem.split('_').skip(1).any(is_other) {
        return false;
    }
    let heads = text.lines().take_while(|line| !line.starts_with("package "));
    let mut rules = heads.filter_map(|line| line.strip_prefix("//go:build "));
    let rule = rules.next().filter(|rule| rule.len() <= LONGEST_RULE);
    rule.is_none_or(|rule| holds(rule).0)
}

fn is_tag(tag: &str) -> bool {
    let os = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    tag == os
        || tag == arch
        || tag == "unix" && cfg!(unix)
        || matches!(tag, "gc" | "cgo")
        || tag.starts_with("go1.")
}

/// Whether a rule of tags holds, and what stands behind it: `a && (b || !c)`.
fn holds(rule: &str) -> (bool, &str) {
    let (mut any, mut all, mut rest) = (false, true, rule.trim_start());
    loop {
        let is_not = rest.starts_with('!');
        rest = rest.trim_start_matches(['!', ' ']);
        let value = if let Some(inner) = rest.strip_prefix('(') {
            let (value, behind) = holds(inner);
            rest = behind.strip_prefix(')').unwrap_or(behind);
            value
        } else {
            let end = rest.find(|one: char| !is_part_of_name(one) && one != '.').unwrap_or(rest.len());
            let (tag, behind) = rest.split_at(end);
            rest = behind;
            is_tag(tag)
        };
        all &= value != is_not;
        rest = rest.trim_start();
        if let Some(behind) = rest.strip_prefix("&&") {
            rest = behind.trim_start();
        } else if let Some(behind) = rest.strip_prefix("||") {
            any |= all;
            all = true;
            rest = behind.trim_start();
        } else {
            return (any || all, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_built_by_its_name_and_its_tags() {
        let (os, other) = if cfg!(windows) { ("windows", "linux") } else { ("linux", "windows") };
        let is_linux = cfg!(target_os = "linux") || cfg!(windows);
        for (name, rule, expected) in [
            ("a.go", "", true),
            ("a_test.go", "", true),
            ("linux.go", "", true),
            (&*format!("a_{os}.go"), "", is_linux),
            (&*format!("a_{other}_test.go"), "", false),
            ("a.go", "mine", false),
            ("a.go", "!mine", true),
            ("a.go", "mine || !yours", true),
            ("a.go", "!mine && yours", false),
            ("a.go", "!(mine || yours) && go1.18", true),
            ("a.go", "((", false),
        ] {
            let text =
                if rule.is_empty() { String::new() } else { format!("// By A\n\n//go:build {rule}\n") };
            assert_eq!(is_built(name, &format!("{text}\npackage a\n")), expected, "{name} {rule}");
        }
    }
}
