//! Who asks for a definition of Python by its name: type checkers, `pytest`, and code that spells the name in a text.

use std::collections::HashSet;

use super::Python;
use crate::facts::{Definition, Facts, Kind};
use crate::index::FileId;
use crate::languages::Language;
use crate::resolve::languages::Key;
use crate::resolve::names::words;
use crate::resolve::{DefinitionSite, owner_name};

/// Functions that take the name of an attribute as a text, or of the variable that they are assigned to.
const TAKE_NAMES: [&str; 18] = [
    "getattr",
    "setattr",
    "hasattr",
    "delattr",
    "__getattribute__",
    "__getattr__",
    "__setattr__",
    "__delattr__",
    "attrgetter",
    "methodcaller",
    "patch.object",
    "usefixtures",
    "getfixturevalue",
    "TypeVar",
    "TypeVarTuple",
    "ParamSpec",
    "NewType",
    "namedtuple",
];
/// Words before which a text is a path to what it names.
const TAKE_PATHS: [&str; 5] = ["patch(", "setattr(", "delattr(", "import_string(", "entry_points"];
/// Lists of the names of attributes.
const NAME_LISTS: [&str; 2] = ["__slots__", "__match_args__"];

/// Members that types of the standard library have.
pub(super) const MEMBERS: &str = "acquire add add_argument all append args as_posix astype basename bit_length cancel \
    capitalize casefold center clear close closed code copy count cursor data date day debug decode default \
    difference discard done dumps encode encoding end endswith error errors exception execute exists expandtabs \
    extend fetchall fetchone filename fileno fill find findall finditer flush format format_map fromkeys fullmatch \
    get getvalue group groupdict groups handle headers hex hour index info insert intersection isalnum isalpha \
    isatty isdigit isdir isfile isidentifier islower isnumeric isoformat isspace issubset issuperset isupper items \
    iterdir join joinpath key keys kill level line lineno lines ljust load loads log lower lstrip maketrans match \
    message minute mkdir mode month msg name newlines notify open parent partition parts path pattern pid poll pop \
    popitem position put raw read readable readline readlines readlink recv release remove removeprefix \
    removesuffix replace resolve result returncode reverse rfind rindex rjust rpartition rsplit rstrip run search \
    second seek seekable send set setdefault setlevel shape size sort span split splitlines start startswith stat \
    status stderr stdin stdout stem step stop strftime strip sub suffix swapcase tell terminate text time timestamp \
    title total_seconds translate truncate type union unlink update upper url value values wait warning with_suffix \
    writable write writelines year zfill";

impl Python<'_, '_> {
    /// The parameters that are called like one of a method in the methods that it overrides or that override it: who
    /// calls one by the name of the parameter may call the other.
    pub(super) fn parameters_alike(&self, one: &DefinitionSite) -> HashSet<Key> {
        let mut keys = self.fixture_and_parameters(one);
        let Some((method, is_free)) = self.function_of(one) else { return keys };
        let alike = if is_free { self.same(&method) } else { self.renamed_together(&method) };
        for (file, start) in alike {
            let whole = self.index.whole(file);
            let methods = whole.1.named(&method.definition.name);
            for function in methods.filter(|other| other.name_span.start == start) {
                let parameters = whole.1.named(&one.definition.name);
                let own = parameters
                    .filter(|other| other.kind == Kind::Parameter && other.scope == Some(function.span));
                keys.extend(own.map(|other| (file, other.name_span.start)));
            }
        }
        keys
    }

    /// The method that a parameter is of, where its parameters must be called like those of others.
    fn overriding_method(&self, parameter: &DefinitionSite) -> Option<DefinitionSite> {
        self.function_of(parameter).filter(|(_, is_free)| !is_free).map(|(method, _)| method)
    }

    /// The function that a parameter is of, and whether no other type can ask for its parameters.
    fn function_of(&self, parameter: &DefinitionSite) -> Option<(DefinitionSite, bool)> {
        let scope = parameter.definition.scope.filter(|_| parameter.definition.kind == Kind::Parameter)?;
        let whole = self.index.whole(parameter.file);
        let is_function = |one: &&Definition| one.span == scope && one.kind.is_callable();
        let function = whole.1.definitions.iter().find(is_function)?;
        // What makes a value is not called through another type.
        let is_free = function.kind != Kind::Method
            || matches!(
                function.name.as_str(),
                "__init__" | "__new__" | "__init_subclass__" | "__post_init__" | "__call__"
            );
        Some((DefinitionSite::new(parameter.file, function), is_free))
    }

    /// A stub beside a module, which type checkers read in its place, or the module beside a stub.
    fn stub_with(&self, target: &DefinitionSite) -> Option<String> {
        let path = self.index.path(target.file);
        let twin = path.strip_suffix(".pyi").map(|module| format!("{module}.py"));
        let twin = twin.unwrap_or_else(|| format!("{path}i"));
        let (file, _) = self.index.entries().find(|(_, entry)| entry.path == twin)?;
        let source = self.index.source(file);
        words(&source, &target.definition.name).next().map(|_| format!("`{twin}`"))
    }

    pub(super) fn asked_for_outside(&self, target: &DefinitionSite) -> Option<String> {
        let definition = &target.definition;
        let is_local = definition.scope.is_some() && definition.kind != Kind::Parameter;
        if let Some(stub) = self.stub_with(target).filter(|_| !is_local) {
            return Some(stub);
        }
        if definition.kind == Kind::Parameter {
            let method = self.overriding_method(target);
            let by =
                method.and_then(|method| self.external_base(&method).or_else(|| self.protocol_with(&method)));
            let by = by.or_else(|| self.asked_for_by_pytest(target));
            let by =
                by.or_else(|| self.key_of_arguments(target)).or_else(|| self.other_name_of_method(target));
            let by = by.or_else(|| self.dictionary_with(target));
            return by.or_else(|| self.imported_instead(target));
        }
        if definition.is_member {
            let by = self.protocol_with(target).or_else(|| self.text_with(target));
            return by.or_else(|| self.external_base(target));
        }
        let import = self.imported_instead(target);
        if definition.scope.is_some() {
            return import;
        }
        import.or_else(|| self.text_with(target)).or_else(|| self.path_with(target))
    }

    /// `other = method` in the class of the method that a parameter is of: whoever calls the other may be one that a class
    /// above has, with its own names of parameters.
    fn other_name_of_method(&self, parameter: &DefinitionSite) -> Option<String> {
        let (method, _) = self.function_of(parameter)?;
        let whole = self.index.whole(parameter.file);
        let (_, own) = whole.1.defined_at(method.definition.name_span).next()?;
        let is_other_name = |one: &&Definition| {
            one.is_member && one.container == own.container && one.value.trim() == own.name.as_str()
        };
        let other = whole.1.definitions.iter().filter(|_| own.is_member).find(is_other_name)?;
        Some(format!("The other name `{}` of the method", other.name))
    }

    /// A `TypedDict` with a key of the name of a parameter, where functions take such by `**options: Unpack[...]`.
    fn dictionary_with(&self, parameter: &DefinitionSite) -> Option<String> {
        if self.index.using("Unpack").is_empty() {
            return None;
        }
        let found = self.everywhere(&parameter.definition.name, |file, one, facts| {
            let of = one.container.and_then(|index| facts.definitions.get(index as usize));
            self.can_use(file, parameter.file)
                && one.is_member
                && of.is_some_and(|of| of.bases.iter().any(|base| base.ends_with("TypedDict")))
        });
        let first = found.first()?;
        let outline = self.index.outline(first.file);
        Some(format!("The dictionary `{}`", owner_name(&outline, &first.definition)?))
    }

    /// `function(**{"name": 1})` and `Thread(target=function, kwargs={"name": 1})`.
    fn key_of_arguments(&self, parameter: &DefinitionSite) -> Option<String> {
        let name = &parameter.definition.name;
        let (function, _) = self.function_of(parameter)?;
        let asks = |file: &FileId| {
            let source = self.index.source(*file);
            let quoted = [format!("'{name}'"), format!("\"{name}\"")];
            quoted.iter().flat_map(|quoted| source.match_indices(quoted)).any(|(at, quoted)| {
                let line = source[..at].rsplit('\n').next().unwrap_or_default();
                source[at + quoted.len()..].trim_start().starts_with(':')
                    && words(line, &function.definition.name).next().is_some()
            })
        };
        let file = self.index.using(&function.definition.name).into_iter().find(asks)?;
        Some(format!("The text `{name}` in {}", self.index.path(file)))
    }

    /// `patch("module.name")` in a test, and `"command = module:name"` in what says how a package is installed.
    fn path_with(&self, target: &DefinitionSite) -> Option<String> {
        let name = &target.definition.name;
        let using = self.index.using(name);
        let may_ask = |file: FileId, path: &str| {
            let last = path.rsplit('/').next().unwrap_or(path);
            let is_test = last.starts_with("test") || last.ends_with("_test.py") || path.contains("tests/");
            matches!(last, "setup.py" | "setup.cfg" | "pyproject.toml" | "conftest.py")
                || is_test && self.language(file) == Some(Language::Python)
                || file == target.file
                || using.contains(&file)
        };
        let asks = |file: FileId, path: &str| {
            let source = self.index.source(file);
            words(&source, name).any(|at| {
                let line = source[..at].rsplit('\n').next().unwrap_or_default();
                let is_path = line.ends_with(['.', ':', '"', '\''])
                    && source[at + name.len()..].starts_with(['"', '\'']);
                let is_taken = TAKE_PATHS.iter().any(|word| line.contains(word));
                let is_entry = line.ends_with(':') && !path.contains("test") && line.contains('=');
                is_path && (is_taken || is_entry)
            })
        };
        let mut entries = self.index.entries().filter(|(file, entry)| may_ask(*file, &entry.path));
        let (_, entry) = entries.find(|(file, entry)| asks(*file, &entry.path))?;
        Some(format!("A text in {}", entry.path))
    }

    /// A protocol that has a member of that name: what fits it need not say so.
    fn protocol_with(&self, target: &DefinitionSite) -> Option<String> {
        let of_protocol = |one: &Definition, facts: &Facts| {
            let of = one.container.and_then(|index| facts.definitions.get(index as usize));
            one.is_member
                && of.is_some_and(|of| {
                    of.bases.iter().any(|base| {
                        let head = base.split('[').next().unwrap_or(base);
                        head == "Protocol" || head.ends_with(".Protocol")
                    })
                })
        };
        let found = self.everywhere(&target.definition.name, |file, one, facts| {
            self.can_use(file, target.file) && of_protocol(one, facts)
        });
        let first = found.first()?;
        let outline = self.index.outline(first.file);
        Some(format!("What fits the protocol `{}`", owner_name(&outline, &first.definition)?))
    }

    /// A text with the name, where it stands for an attribute.
    fn text_with(&self, target: &DefinitionSite) -> Option<String> {
        let name = &target.definition.name;
        let files = self.index.using(name).into_iter().filter(|file| self.can_use(*file, target.file));
        for file in files.chain([target.file]) {
            let source = self.index.source(file);
            for quoted in [format!("'{name}'"), format!("\"{name}\"")] {
                if source.match_indices(&quoted).any(|(at, _)| is_name_of_attribute(&source[..at])) {
                    return Some(format!("The text {quoted} in {}", self.index.path(file)));
                }
            }
        }
        None
    }

    /// An import of the same name in the file, which another version or system takes instead.
    fn imported_instead(&self, target: &DefinitionSite) -> Option<String> {
        let outline = self.index.outline(target.file);
        for import in outline.imports.iter().filter(|import| import.scope == target.definition.scope) {
            for imported in import.names.iter().filter(|one| one.alias == target.definition.name) {
                // `import name` brings a module, which is never the definition.
                let is_module = imported.name.is_empty();
                let is_other = || {
                    let meaning = self.imported_from(target.file, &import.module, &imported.name);
                    !meaning.found().iter().any(|one| one.key() == target.key())
                };
                if is_module || is_other() {
                    return Some(format!("The import of `{}`", import.module));
                }
            }
        }
        None
    }

    /// A fixture with the parameters by which tests and other fixtures ask for it.
    pub(super) fn fixture_and_parameters(&self, one: &DefinitionSite) -> HashSet<Key> {
        let name = &one.definition.name;
        let fixtures = self.fixtures_named(name);
        let is_asking = || self.asking_function(one).is_some();
        let is_fixture = fixtures.iter().any(|fixture| fixture.key() == one.key());
        if fixtures.is_empty() || !(is_fixture || is_asking()) {
            return HashSet::new();
        }
        let mut keys: HashSet<Key> = fixtures.iter().map(DefinitionSite::key).collect();
        for file in self.index.using(name).into_iter().filter(|file| self.can_use(*file, one.file)) {
            let whole = self.index.whole(file);
            let parameters = whole.1.named(name).filter(|other| other.kind == Kind::Parameter);
            let sites = parameters.map(|other| DefinitionSite::new(file, other));
            keys.extend(sites.filter(|site| self.asking_function(site).is_some()).map(|site| site.key()));
        }
        keys
    }

    fn fixtures_named(&self, name: &str) -> Vec<DefinitionSite> {
        self.everywhere(name, |file, one, _| {
            one.kind.is_callable() && is_fixture(&self.index.source(file), one.span.start)
        })
    }

    /// The test or the fixture that asks for a fixture by a parameter.
    fn asking_function(&self, parameter: &DefinitionSite) -> Option<Definition> {
        let scope = parameter.definition.scope.filter(|_| parameter.definition.kind == Kind::Parameter)?;
        let whole = self.index.whole(parameter.file);
        let function = whole.1.definitions.iter().find(|one| one.span == scope && one.kind.is_callable())?;
        let path = self.index.path(parameter.file);
        let file = path.rsplit('/').next().unwrap_or(path);
        let is_test =
            (file.starts_with("test_") || file.ends_with("_test.py")) && function.name.starts_with("test");
        let is_asking = is_test || is_fixture(&whole.0, function.span.start);
        is_asking.then(|| function.clone())
    }

    /// `pytest` gives tests what it knows by the names of their parameters: a fixture of its own, or one of the values
    /// that a decorator lists.
    fn asked_for_by_pytest(&self, parameter: &DefinitionSite) -> Option<String> {
        let function = self.asking_function(parameter)?;
        let source = self.index.source(parameter.file);
        let name = &parameter.definition.name;
        let is_listed = decorators(&source, function.span.start).any(|line| {
            line.contains("parametrize")
                && line.split(|part: char| !part.is_alphanumeric() && part != '_').any(|word| word == name)
        });
        (is_listed || self.fixtures_named(name).is_empty()).then(|| "`pytest`".to_owned())
    }
}

/// The lines of the decorators of a function.
fn decorators(source: &str, start: u32) -> impl Iterator<Item = &str> {
    let (before, after) = source.split_at_checked(start as usize).unwrap_or_default();
    let own = after.lines().take_while(|line| {
        let line = line.trim_start();
        !(line.starts_with("def ") || line.starts_with("async def "))
    });
    let above = before.lines().rev().take_while(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with(['@', ')', ']', '"', '\''])
    });
    own.chain(above)
}

/// Whether the decorators of a function make it a fixture.
fn is_fixture(source: &str, start: u32) -> bool {
    decorators(source, start).any(|line| {
        let decorator = line.trim_start().strip_prefix('@').unwrap_or_default();
        let called = decorator.split('(').next().unwrap_or(decorator);
        called == "fixture" || called.ends_with(".fixture")
    })
}

/// Whether a text that begins behind `before` names an attribute.
pub(super) fn is_name_of_attribute(before: &str) -> bool {
    const FARTHEST: usize = 400;
    let mut depth = 0_i32;
    for (at, character) in before.char_indices().rev().take(FARTHEST) {
        match character {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '(' | '[' | '{' => {
                let called = before[..at].trim_end();
                let line = called.rsplit('\n').next().unwrap_or(called);
                return TAKE_NAMES.iter().any(|name| called.ends_with(name))
                    || NAME_LISTS.iter().any(|list| line.trim_start().starts_with(list));
            }
            _ => {}
        }
    }
    let line = before.rsplit('\n').next().unwrap_or(before);
    NAME_LISTS.iter().any(|list| line.trim_start().starts_with(list))
}
