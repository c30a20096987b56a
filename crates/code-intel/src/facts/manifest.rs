//! What `package.json`, `tsconfig.json` and `jsconfig.json` say about where modules are.

use tree_sitter::Node;

use super::LIMITS;
use super::extract::children;
use crate::languages::Language;
use crate::syntax;

/// A pattern of names with at most one `*`, and the paths that stand for it, best first.
pub(crate) type Mapping = (String, Vec<String>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The name of the package.
    pub name: String,
    /// The files a package is entered by, best first.
    pub entries: Vec<String>,
    pub exports: Vec<Mapping>,
    pub imports: Vec<Mapping>,
    /// The folder that names are looked for in.
    pub base: Option<String>,
    pub paths: Vec<Mapping>,
    /// Other files whose settings hold where this one has none.
    pub extends: Vec<String>,
}

impl Manifest {
    pub fn read(text: &str) -> Self {
        let mut manifest = Self::default();
        let Ok(tree) = syntax::parse(Language::Json, text, LIMITS) else { return manifest };
        let Some(object) = children(tree.root_node()).into_iter().find(|node| node.kind() == "object") else {
            return manifest;
        };
        let mut entries: Vec<(usize, String)> = Vec::new();
        for (key, value) in pairs(object, text) {
            match key {
                "name" => manifest.name = string(value, text),
                "source" => entries.push((0, string(value, text))),
                "types" | "typings" => entries.push((1, string(value, text))),
                "module" => entries.push((2, string(value, text))),
                "main" => entries.push((3, string(value, text))),
                "exports" => manifest.exports = mappings(value, text, "."),
                "imports" => manifest.imports = mappings(value, text, "#"),
                "extends" => manifest.extends = strings(value, text),
                "compilerOptions" => {
                    for (key, value) in pairs(value, text) {
                        match key {
                            "baseUrl" => manifest.base = Some(string(value, text)),
                            "paths" => manifest.paths = mappings(value, text, ""),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        entries.sort();
        manifest.entries = entries.into_iter().map(|(_, path)| path).collect();
        manifest
    }
}

/// What stands for a name by mappings: an exact name first, then the longest beginning.
pub(crate) fn mapped(mappings: &[Mapping], name: &str) -> Vec<String> {
    if let Some((_, paths)) = mappings.iter().find(|(pattern, _)| pattern == name) {
        return paths.clone();
    }
    let fits = |mapping: &&Mapping| {
        let (before, after) = mapping.0.split_once('*')?;
        let rest = name.strip_prefix(before)?.strip_suffix(after)?;
        Some((before.len(), rest.to_owned()))
    };
    let fitting = mappings.iter().filter_map(|mapping| Some((fits(&mapping)?, mapping)));
    let best = fitting.max_by_key(|((length, _), _)| *length);
    let paths =
        best.map(|((_, rest), (_, paths))| paths.iter().map(|path| path.replace('*', &rest)).collect());
    paths.unwrap_or_default()
}

fn pairs<'n, 't>(object: Node<'n>, text: &'t str) -> Vec<(&'t str, Node<'n>)> {
    let pairs = children(object).into_iter().filter(|node| node.kind() == "pair");
    let both = |pair: Node<'n>| Some((pair.child_by_field_name("key")?, pair.child_by_field_name("value")?));
    pairs.filter_map(both).map(|(key, value)| (unquoted(key, text), value)).collect()
}

fn unquoted<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default().trim_matches('"')
}

fn string(node: Node<'_>, text: &str) -> String {
    if node.kind() == "string" { unquoted(node, text).to_owned() } else { String::new() }
}

/// All texts in a value, however deep: the conditions of an export all lead to the same code.
fn strings(node: Node<'_>, text: &str) -> Vec<String> {
    const MOST: usize = 64;
    let (mut open, mut found) = (vec![node], Vec::new());
    while let Some(node) = open.pop() {
        match node.kind() {
            "string" => found.push(string(node, text)),
            "object" => open.extend(pairs(node, text).into_iter().rev().map(|(_, value)| value)),
            "array" => open.extend(children(node).into_iter().rev()),
            _ => {}
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}

/// The entries of an object; a value that has none with that beginning stands for `.`.
fn mappings(node: Node<'_>, text: &str, beginning: &str) -> Vec<Mapping> {
    let all = pairs(node, text);
    if beginning == "." && !all.iter().any(|(key, _)| key.starts_with('.')) {
        return vec![(".".to_owned(), strings(node, text))];
    }
    let own = all.into_iter().filter(|(key, _)| key.starts_with(beginning));
    own.map(|(key, value)| (key.to_owned(), strings(value, text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_packages_are_read_with_comments() {
        let settings = Manifest::read(
            "// Ours.\n{ \"extends\": \"./base.json\", \"compilerOptions\": { \"baseUrl\": \"src\", \"paths\": { \"@/*\": [\"./*\"], \"@/a/*\": [\"a/*\", \"b/*\"], \"c\": [\"d\"], } } }",
        );
        assert_eq!(settings.base.as_deref(), Some("src"));
        assert_eq!(settings.extends, ["./base.json"]);
        for (name, expected) in
            [("@/x/y", vec!["./x/y"]), ("@/a/x", vec!["a/x", "b/x"]), ("c", vec!["d"]), ("other", vec![])]
        {
            assert_eq!(mapped(&settings.paths, name), expected, "{name}");
        }
        let package = Manifest::read(
            r#"{ "name": "@a/b", "main": "dist/index.js", "types": "src/index.ts", "exports": { ".": { "import": "./a.mjs", "require": "./a.cjs" }, "./sub/*": "./src/*.ts" } }"#,
        );
        assert_eq!(
            (package.name.as_str(), package.entries),
            ("@a/b", vec!["src/index.ts".to_owned(), "dist/index.js".to_owned()])
        );
        assert_eq!(mapped(&package.exports, "."), ["./a.mjs", "./a.cjs"]);
        assert_eq!(mapped(&package.exports, "./sub/x"), ["./src/x.ts"]);
        assert_eq!(
            Manifest::read(r#"{ "exports": "./a.js" }"#).exports,
            [(".".to_owned(), vec!["./a.js".to_owned()])]
        );
        assert_eq!(Manifest::read("no"), Manifest::default());
    }
}
