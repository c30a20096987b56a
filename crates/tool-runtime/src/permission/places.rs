//! Where paths lead: by their text, and by the links that lie on their way.

use std::sync::Arc;

use stepwell_protocol::protected_part;

use crate::shell::Word;

/// The folders paths are judged against.
#[derive(Clone, Debug, Default)]
pub struct JudgePlaces {
    /// Absolute folders that belong to the workspace; relative paths start in the first.
    pub roots: Vec<String>,
    /// The person's home, for `~`.
    pub home: Option<String>,
    /// Where links lead; without it none is followed.
    pub links: FollowLinks,
    /// Files that run because the workspace's settings name them; protected like the settings.
    pub steering: Vec<String>,
    /// Whether git can be trusted to run nothing; without it every repository is.
    pub git: LookAtGit,
}

/// Looks up where links lead. The judge itself touches no file.
#[derive(Clone, Default)]
pub struct FollowLinks(Option<Arc<Follow>>);

/// Gives where a path and the links below it lead, or `None` where there are too many to say.
type Follow = dyn Fn(&Below<'_>) -> Option<Vec<String>> + Send + Sync;

/// A place whose links are followed.
#[derive(Clone, Copy, Debug)]
pub struct Below<'a> {
    /// An absolute path.
    pub path: &'a str,
    /// So many levels of folders below it count too.
    pub levels: usize,
    /// Of its own entries only those whose names begin so.
    pub beginning: &'a str,
}

/// Finds out why git, started in a folder, would run something that its repository names. The judge itself touches no
/// file.
#[derive(Clone, Default)]
pub struct LookAtGit(Option<Arc<Look>>);

/// Gives the reason for a folder.
type Look = dyn Fn(&str) -> Option<String> + Send + Sync;

impl LookAtGit {
    pub fn new(look: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(look)))
    }
}

impl std::fmt::Debug for LookAtGit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "LookAtGit" } else { "LookAtGit(none)" })
    }
}

impl FollowLinks {
    pub fn new(follow: impl Fn(&Below<'_>) -> Option<Vec<String>> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(follow)))
    }

    fn from(&self, below: &Below<'_>) -> Option<Vec<String>> {
        self.0.as_ref().map_or_else(|| Some(Vec::new()), |follow| follow(below))
    }
}

impl std::fmt::Debug for FollowLinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "FollowLinks" } else { "FollowLinks(none)" })
    }
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

    /// Why git would run something of the repository's in one of the folders.
    pub fn git_hazard(&self, bases: &Bases) -> Option<String> {
        let look = self.git.0.as_ref()?;
        bases.known().iter().find_map(|base| look(&self.resolve(base, None)))
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
        if self.steering.iter().any(|file| file == absolute) {
            return Some(absolute);
        }
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
        let text = match first_wildcard(word) {
            // Whatever a pattern finds lies below the folder before it.
            Some(at) => folder_and_name(&word.text[..at]).0,
            None => word.text.as_str(),
        };
        let mut targets = if text.starts_with('/') || word.tilde {
            vec![self.resolve(text, None)]
        } else {
            bases.0.as_ref()?.iter().map(|base| self.resolve(text, Some(base))).collect()
        };
        for at in 0..targets.len() {
            targets.extend(self.links.from(&Below { path: &targets[at], levels: 0, beginning: "" })?);
        }
        Some(targets)
    }

    /// Where the links lead that a pattern may find in the folders of its targets. `None` when that is not known.
    pub fn found_links(&self, word: &Word, targets: &[String]) -> Option<Vec<String>> {
        let Some(at) = first_wildcard(word) else { return Some(Vec::new()) };
        let (_, beginning) = folder_and_name(&word.text[..at]);
        let levels = 1 + word.text[at..].matches('/').count();
        let found = targets.iter().map(|path| self.links.from(&Below { path, levels, beginning }));
        found.collect::<Option<Vec<_>>>().map(|all| all.concat())
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

/// Where a pattern begins to be one.
fn first_wildcard(word: &Word) -> Option<usize> {
    word.text.find(['*', '?', '[', '{']).filter(|_| word.pattern)
}

fn folder_and_name(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(parts) => parts,
        None => (".", path),
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
