//! Where paths lead, by their text alone: nothing is looked up.

use stepwell_protocol::protected_part;

use crate::shell::Word;

/// The folders paths are judged against.
#[derive(Clone, Debug, Default)]
pub struct JudgePlaces {
    /// Absolute folders that belong to the workspace; relative paths start in the first.
    pub roots: Vec<String>,
    /// The person's home, for `~`.
    pub home: Option<String>,
}

impl JudgePlaces {
    /// The absolute path a text means, without `.` and `..`. `base` is the folder it is seen from.
    pub fn resolve(&self, path: &str, base: Option<&str>) -> String {
        let home = self.home.as_deref().unwrap_or("/~");
        let expanded = ["~", "$HOME", "${HOME}"].iter().find_map(|name| {
            let rest = path.strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{home}{rest}"))
        });
        let path = expanded.as_deref().unwrap_or(path);
        if path.starts_with('/') {
            return normal(path);
        }
        let root = self.root();
        let base = base.map_or_else(|| root.to_owned(), |base| self.resolve(base, None));
        normal(&format!("{base}/{path}"))
    }

    pub fn root(&self) -> &str {
        self.roots.first().map_or("/", String::as_str)
    }

    /// Whether an absolute path lies in the workspace.
    pub fn contains(&self, absolute: &str) -> bool {
        self.roots.iter().any(|root| {
            absolute
                .strip_prefix(root.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root == "/")
        })
    }

    /// The part of an absolute path that makes it protected. The folders above the workspace do not count: it may
    /// lie in one that would be.
    pub fn protected<'p>(&self, absolute: &'p str) -> Option<&'p str> {
        let root =
            self.roots.iter().filter(|root| self.contains(absolute) && absolute.starts_with(root.as_str()));
        let above = root.map(String::len).max().unwrap_or(0);
        protected_part(absolute.get(above..).unwrap_or(absolute))
    }

    /// Where a word of a command may lead, seen from every folder the command can be in. `None` when that is not
    /// known.
    pub fn targets(&self, word: &Word, bases: &Bases) -> Option<Vec<String>> {
        // Braces at the beginning may hold absolute paths.
        let below = word.pattern && !word.text.contains("..") && !word.text.starts_with('{');
        if !word.literal && !word.tilde && !below {
            return None;
        }
        // Only the person's own home is known.
        if word.tilde && !(word.text == "~" || word.text.starts_with("~/")) {
            return None;
        }
        let text = match word.text.find(['*', '?', '[', '{']).filter(|_| word.pattern) {
            // Whatever a pattern finds lies below the folder before it.
            Some(at) => word.text[..at]
                .rsplit_once('/')
                .map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder }),
            None => &word.text,
        };
        if text.starts_with('/') || word.tilde {
            return Some(vec![self.resolve(text, None)]);
        }
        let bases = bases.0.as_ref()?;
        Some(bases.iter().map(|base| self.resolve(text, Some(base))).collect())
    }
}

/// The folders a command can be in; `None` when one of them is not known.
#[derive(Clone, Debug)]
pub struct Bases(Option<Vec<String>>);

impl Bases {
    /// From the folder a command starts in and those it changes into.
    pub fn new(places: &JudgePlaces, start: Option<&str>, changes: &[Word]) -> Self {
        let start = start.unwrap_or(".");
        Self(match changes {
            [] => Some(vec![start.to_owned()]),
            [only] if only.literal && only.text != "-" => {
                let first = places.resolve(start, None);
                Some(vec![places.resolve(&only.text, Some(start)), first])
            }
            _ => None,
        })
    }

    pub fn known(&self) -> &[String] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// A path without empty parts, `.` and `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
