//! What a command line would do, as far as that can be known without running it.
//!
//! [`analyse`] finds every simple command of a bash command line, also in pipelines, substitutions, loops,
//! functions and here-documents, and through programs that start others (`sudo`, `xargs`, `bash -c`). For each it
//! tells the words, the files that are written and read as far as the program is known, and where nothing can be
//! known: such a part is opaque. Permission is judged on this. It is pure: nothing is read, nothing is run.
//!
//! The parser is our own. A bash parser made for highlighting or for running loses commands silently where it is
//! wrong (tree-sitter-bash 0.25 leaves out a backquoted command in a here-document, brush-parser 0.4 everything
//! behind a comment in `$(…)`); this one is smaller, bounded, and says so when it does not understand. A test
//! runs generated command lines in bash and compares what ran with what was found.

mod bindings;
mod commands;
mod hazards;
mod operands;
mod parse;
mod readers;
mod scan;
mod simple;
mod visible;
mod word;
mod wrappers;

use parse::{Found, Parser, RedirectKind, Simple};
pub use visible::{hidden_characters, visible};
pub use word::Word;

/// Bytes that are looked at.
const LONGEST: usize = 64 * 1024;
/// Programs that start programs that start programs.
const DEEPEST_WRAPPERS: usize = 8;
/// Parts that are told.
const MOST_PARTS: usize = 2000;

/// What a command line would do.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Every simple command, in the order of reading; what a program starts follows it.
    pub parts: Vec<Part>,
    /// Why the text was not understood to its end. The parts before are there.
    pub problem: Option<Problem>,
    /// Functions it defines.
    pub functions: Vec<String>,
    /// Variables that it makes arrays.
    arrays: Vec<String>,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The program and its arguments; empty for assignments or redirections alone.
    pub words: Vec<Word>,
    pub assignments: Vec<(String, Word)>,
    /// What leads to it from outside: `$( … )`, `sudo`.
    pub within: Vec<String>,
    /// How it stands in the text.
    pub source: String,
    /// Why it cannot be known what it does.
    pub opaque: Option<String>,
    /// Whether it does nothing itself but start what follows as a part of its own (`timeout 5 make`).
    pub transparent: bool,
    /// Files and folders that the program writes, makes, changes or removes by its operands.
    pub writes: Vec<Word>,
    /// Files that the shell writes for it by redirection.
    pub redirected: Vec<Word>,
    /// Files that are read, where the program is known to read its operands.
    pub reads: Vec<Word>,
}

impl Part {
    /// The program as it is written, where that is certain.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::known)
    }

    /// The program's name without its folder; good for refusing.
    pub fn name(&self) -> &str {
        self.words.first().map_or("", |word| base_name(&word.guess))
    }

    /// Whether it only reads: a known reader with harmless options, no writes, no network.
    pub fn only_reads(&self) -> bool {
        self.redirected.is_empty() && self.program_only_reads()
    }

    /// The same of its program alone; where its output goes is another matter.
    pub fn program_only_reads(&self) -> bool {
        readers::only_reads(self)
    }

    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// Why a text was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("it is no command line that is understood here: {0}")]
    Syntax(String),
    #[error("it is longer than {LONGEST} bytes")]
    TooLong,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("it has too many commands")]
    TooMany,
}

impl Problem {
    pub(crate) fn syntax(what: &str) -> Self {
        Self::Syntax(what.to_owned())
    }
}

impl Analysis {
    /// Whether everything in it only reads: known readers with harmless options, no writes, no network. `false`
    /// whenever there is doubt.
    pub fn is_read_only(&self) -> bool {
        let moves = !self.folders().is_empty();
        self.problem.is_none()
            && self.functions.is_empty()
            && !self.parts.is_empty()
            && self.parts.iter().all(|part| part.only_reads() && !(moves && part.name() == "git"))
    }

    /// Why it cannot be known what the command does.
    pub fn opaque(&self) -> Option<String> {
        let unread = self.problem.as_ref().map(ToString::to_string);
        unread.or_else(|| self.parts.iter().find_map(|part| part.opaque.clone()))
    }

    /// Every file that would be written.
    pub fn writes(&self) -> impl Iterator<Item = &Word> {
        self.parts.iter().flat_map(|part| part.writes.iter().chain(&part.redirected))
    }

    /// The folders the command changes into; one that is not written down is an unknown word.
    pub fn folders(&self) -> Vec<Word> {
        let moves = self.parts.iter().filter(|part| matches!(part.name(), "cd" | "pushd" | "popd"));
        moves
            .map(|part| match part.arguments() {
                [only] if part.name() == "cd" && !only.text.starts_with('-') => only.clone(),
                [option, only]
                    if part.name() == "cd" && (option.is("--") || option.is("-P") || option.is("-L")) =>
                {
                    only.clone()
                }
                // Without a folder it leads home, with `-` to where one was before.
                _ => Word::unknown(),
            })
            .collect()
    }
}

/// Takes a command line apart.
pub fn analyse(command: &str) -> Analysis {
    let mut analysis = Analysis::default();
    if command.len() > LONGEST {
        analysis.problem = Some(Problem::TooLong);
        return analysis;
    }
    read_script(command, &[], 0, &mut analysis);
    bindings::note_declared_arrays(&mut analysis);
    if analysis.parts.len() > MOST_PARTS {
        analysis.problem.get_or_insert(Problem::TooMany);
    }
    analysis
}

/// Reads a text of commands, which stands within `outer`.
fn read_script(text: &str, outer: &[String], depth: usize, analysis: &mut Analysis) {
    let mut found = Found::default();
    let parsed = Parser::new(text, &mut found, outer.to_vec(), depth).program();
    let oddities = std::mem::take(&mut found.oddities);
    analysis.functions.append(&mut found.functions);
    analysis.arrays.append(&mut found.arrays);
    for simple in found.commands {
        let nothing = simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty();
        if nothing {
            continue;
        }
        if analysis.parts.len() > MOST_PARTS {
            break;
        }
        add_part(simple, depth, analysis);
    }
    for reason in oddities {
        let part = Part { opaque: Some(reason), within: outer.to_vec(), ..Part::default() };
        analysis.parts.push(part);
    }
    if let Err(problem) = parsed {
        analysis.problem.get_or_insert(problem);
    }
}

/// Adds a command and what it starts.
fn add_part(simple: Simple, depth: usize, analysis: &mut Analysis) {
    let mut part = Part {
        words: simple.words,
        assignments: simple.assignments,
        within: simple.within,
        source: simple.source,
        ..Part::default()
    };
    for redirect in simple.redirects {
        if redirect.target.guess.starts_with("/dev/tcp/") || redirect.target.guess.starts_with("/dev/udp/") {
            part.opaque.get_or_insert_with(|| "it opens a network connection".to_owned());
        }
        let reads = redirect.kind != RedirectKind::Write;
        let writes = redirect.kind != RedirectKind::Read;
        if reads {
            part.reads.push(redirect.target.clone());
        }
        if writes && !is_harmless_device(&redirect.target) {
            part.redirected.push(redirect.target);
        }
    }
    if let Some(reason) = hazards::of(&part) {
        part.opaque.get_or_insert(reason);
    }
    operands::note(&mut part);
    let unwrapped = wrappers::unwrap(&part, simple.input.as_deref());
    part.transparent = unwrapped.transparent;
    if let Some(reason) = unwrapped.opaque {
        part.opaque.get_or_insert(reason);
    }
    part.assignments.extend(unwrapped.assignments);
    if let Some(reason) = bindings::of_assignments(&part) {
        part.opaque.get_or_insert(reason);
    }
    let within: Vec<String> =
        part.within.iter().cloned().chain(part.words.first().map(|word| word.text.clone())).collect();
    if !unwrapped.inner.is_empty() && depth >= DEEPEST_WRAPPERS {
        part.opaque.get_or_insert_with(|| "programs start programs too deeply".to_owned());
        analysis.parts.push(part);
        return;
    }
    analysis.parts.push(part);
    for inner in unwrapped.inner {
        match inner {
            wrappers::Inner::Words(words) => {
                let source = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
                let simple = Simple { words, within: within.clone(), source, ..Simple::default() };
                add_part(simple, depth + 1, analysis);
            }
            wrappers::Inner::Script(text) => read_script(&text, &within, depth + 1, analysis),
        }
    }
}

/// Writing there keeps nothing.
fn is_harmless_device(target: &Word) -> bool {
    matches!(target.known(), Some("/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"))
}

/// The last part of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
