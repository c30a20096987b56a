//! The ways in which bash gives a variable a value, and the variables whose value decides what runs.
//!
//! Every form counts as an assignment: the builtins in [`BINDERS`] here, loops, coprocesses, `${x:=…}` and
//! `{x}>file` in the parser, `env X=…` in `wrappers.rs`. `tests/bindings.rs` is the table of all of them.

use super::word::is_name;
use super::{Analysis, Part, Word};

/// A builtin that gives variables values.
struct Binder {
    builtin: &'static str,
    /// Letters of options that take a value.
    valued: &'static str,
    /// Those of them whose value is the name of a variable.
    naming: &'static str,
    /// Those that make an array of the names.
    array: &'static str,
    names: Names,
}

/// Which operands are names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    None,
    All,
    /// The second one alone.
    Second,
}

const BINDERS: &[Binder] = &[
    binder("read", "adinNptu", "a", "a", Names::All),
    binder("mapfile", "CcdnOsu", "", "", Names::All),
    binder("readarray", "CcdnOsu", "", "", Names::All),
    binder("getopts", "", "", "", Names::Second),
    binder("printf", "v", "v", "", Names::None),
    binder("wait", "p", "p", "", Names::None),
    binder("unset", "", "", "", Names::All),
    binder("declare", "", "", "aA", Names::All),
    binder("typeset", "", "", "aA", Names::All),
    binder("local", "", "", "aA", Names::All),
    binder("export", "", "", "aA", Names::All),
    binder("readonly", "", "", "aA", Names::All),
];

/// The builtins that take `name=value`.
pub(super) const DECLARATIONS: &[&str] = &["declare", "typeset", "export", "local", "readonly"];

const fn binder(
    builtin: &'static str,
    valued: &'static str,
    naming: &'static str,
    array: &'static str,
    names: Names,
) -> Binder {
    Binder { builtin, valued, naming, array, names }
}

/// The names that the words of a builtin bind.
#[derive(Default)]
struct Bound<'w> {
    names: Vec<&'w Word>,
    /// Names that stand in the same word as their option.
    attached: Vec<Word>,
    /// Whether an option makes arrays of them.
    arrays: bool,
    /// A word that may become an option or another name.
    unsure: Option<&'w Word>,
}

fn bound<'w>(binder: &Binder, arguments: &'w [Word]) -> Bound<'w> {
    let mut bound = Bound { arrays: matches!(binder.builtin, "mapfile" | "readarray"), ..Bound::default() };
    let mut words = arguments.iter();
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if word.is("--") {
            break;
        }
        let is_option = text.len() > 1 && text.starts_with(['-', '+']);
        if !is_option {
            operands.push(word);
            break;
        }
        if !word.literal {
            bound.unsure.get_or_insert(word);
        }
        for (at, letter) in text.char_indices().skip(1) {
            bound.arrays |= binder.array.contains(letter);
            if !binder.valued.contains(letter) {
                continue;
            }
            let names = binder.naming.contains(letter);
            match text.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty()) {
                Some(rest) if names => bound.attached.push(Word { text: rest.to_owned(), ..word.clone() }),
                Some(_) => {}
                None => {
                    let value = words.next();
                    bound.names.extend(value.filter(|_| names));
                }
            }
            break;
        }
    }
    operands.extend(words);
    match binder.names {
        Names::All => bound.names.extend(operands),
        Names::Second => bound.names.extend(operands.get(1)),
        // What is not written down may become an option.
        Names::None if binder.builtin == "wait" => {
            bound.unsure =
                bound.unsure.or(operands.into_iter().find(|word| !word.literal && word.text != "$!"));
        }
        Names::None => {}
    }
    bound
}

fn binder_of(part: &Part) -> Option<&'static Binder> {
    let name = part.words.first()?.known()?;
    BINDERS.iter().find(|binder| binder.builtin == name)
}

/// Why it matters that a builtin binds its names: one of them decides what runs, or is not written down.
pub(super) fn of(part: &Part) -> Option<String> {
    let binder = binder_of(part)?;
    let bound = bound(binder, part.arguments());
    let builtin = binder.builtin;
    if let Some(word) = bound.unsure {
        return Some(format!("`{}` may become an option of `{builtin}`", word.text));
    }
    // Bash splits an unquoted value where it does not see that the builtin declares.
    let seen = part.words.first().is_some_and(|word| !word.quoted) && !part.assignments.is_empty();
    let splits = |word: &&&Word| !seen && !word.literal && !word.quoted && word.text.contains('=');
    if let Some(word) = bound.names.iter().find(splits) {
        return Some(format!("`{}` may become several assignments", word.text));
    }
    let hazard = |word: &&Word| {
        let name = bound_name(word);
        !is_name(name) || decides_what_runs(name)
    };
    let word = bound.names.into_iter().chain(&bound.attached).find(hazard)?;
    Some(format!("`{builtin} {}` sets what decides what runs", word.text))
}

/// `x` of `x`, `x=1` and `x+=1`.
fn bound_name(word: &Word) -> &str {
    let name = word.text.split('=').next().unwrap_or(&word.text);
    name.strip_suffix('+').filter(|_| word.text.contains('=')).unwrap_or(name)
}

/// Marks array declarations whose value is not literal: `declare -a x="$y"` and `declare x='(…)'` expand the value a second
/// time and run the commands in it.
pub(super) fn note_declared_arrays(analysis: &mut Analysis) {
    for part in &analysis.parts {
        let Some(binder) = binder_of(part) else { continue };
        let bound = bound(binder, part.arguments());
        if bound.arrays {
            let names = bound.names.into_iter().chain(&bound.attached);
            analysis.arrays.extend(names.map(|word| bound_name(word).to_owned()));
        }
    }
    for part in &mut analysis.parts {
        let declares = part.program().is_some_and(|name| DECLARATIONS.contains(&name));
        let expands = |word: &&Word| {
            let value = word.text.split_once('=').map(|(_, value)| value);
            let known = analysis.arrays.iter().any(|array| array == bound_name(word));
            known && value.is_some_and(|value| value != COMPOUND && (!word.literal || value.starts_with('(')))
        };
        if let Some(word) = part.arguments().iter().find(expands).filter(|_| declares) {
            let reason = format!("`{}` expands a text once more, which may hold a command", word.text);
            part.opaque.get_or_insert(reason);
        }
    }
}

/// What stands for the value of `x=(…)`.
pub(super) const COMPOUND: &str = "(…)";

/// The first assignment that decides what later commands run.
pub(super) fn of_assignments(part: &Part) -> Option<String> {
    // `IFS= read line` splits this line alone.
    let splits_line = matches!(part.program(), Some("read" | "mapfile" | "readarray"));
    let decides = |name: &str| decides_what_runs(name) && !(splits_line && name == "IFS");
    let (name, _) = part.assignments.iter().find(|(name, _)| decides(name))?;
    Some(binds(name))
}

/// Why binding a name matters.
pub(super) fn binds(name: &str) -> String {
    format!("it sets {name}, which can decide what runs")
}

/// Whether a variable can make other programs run other things, read other settings or talk to other machines.
pub(super) fn decides_what_runs(name: &str) -> bool {
    // Names in small letters are the script's own, but for those that programs look for.
    if !name.chars().any(|letter| letter.is_ascii_uppercase()) {
        return name.contains("proxy") || LOWER_CASE.iter().any(|start| name.starts_with(start));
    }
    let upper = name.to_ascii_uppercase();
    !HARMLESS.contains(&name)
        && (super::readers::lists(EXACT, &upper)
            || BEGINNINGS.split(' ').any(|start| upper.starts_with(start))
            || PARTS.split(' ').any(|part| upper.contains(part)))
}

/// Whole names; those of the shell itself, of compilers, of libraries.
const EXACT: &str = "ENV IFS HOME PWD OLDPWD DIRSTACK GROUPS PIPESTATUS FUNCNAME GLOBIGNORE POSIXLY_CORRECT CC CXX LD \
    AR AS NM RUSTC RUSTDOC PS0 PS1 PS2 PS3 PS4 BROWSER CLASSPATH DISPLAY TERMINFO TERMCAP TERM LESS MORE FCEDIT \
    HISTFILE HOSTFILE TMPDIR TMP TEMP MAKE MAKEFILES MANROFFOPT XZ_OPT ZIPOPT UNZIP ZIP GZIP TAPE TZDIR \
    LOCALDOMAIN HOSTALIASES SSL_CERT_FILE SSL_CERT_DIR OPENSSL_MODULES OPENSSL_ENGINES VIRTUAL_ENV USER LOGNAME";

const BEGINNINGS: &str = "LD_ DYLD_ GIT_ BASH_ PYTHON PERL RUBY NODE_ NPM_ PNPM_ YARN_ CARGO_ JAVA_ _JAVA JDK_ GO LUA_ \
    PHP XDG_ SSH_ SUDO_ DOCKER_ GCONV GLIBC_ MALLOC_ LESSOPEN LESSCLOSE NIX_ DEBUGINFOD R_ GEM_ BUNDLE_ PIP_ UV_ \
    KUBE AWS_ GTK_ QT_ CMAKE_ PKG_CONFIG RES_ RESOLV_ RUSTUP_ DENO_ BUN_ MAVEN_ GRADLE_ DOTNET_ CORECLR_ COR_ \
    HELM_ TF_ TERRAFORM_ ANSIBLE_ VAGRANT_";

const PARTS: &str = "PATH OPTS OPTIONS FLAGS PRELOAD PAGER EDITOR VISUAL SHELL COMMAND CMD PROXY CONFIG WRAPPER HOOK \
    ASKPASS PLUGIN STARTUP INIT RCFILE LIBRARY MAKEFILE LINKER RUNNER LOADER EXEC _RSH INPUTRC";

/// Names in small letters that programs look for, by their beginnings.
const LOWER_CASE: &[&str] = &["npm_", "pnpm_", "yarn_", "histchars", "auto_resume"];

const HARMLESS: &[&str] =
    &["NODE_ENV", "CARGO_TERM_COLOR", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "GIT_TERMINAL_PROMPT"];
