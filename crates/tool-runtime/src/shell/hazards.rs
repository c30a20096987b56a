//! Why it cannot be known what a command does, or why its words say less than they seem to.

use super::commands::{GIT_COMMANDS, GIT_OPTIONS, GIT_OWN, INTERPRETERS, RUNNERS, SHELLS, STARTING_OPTIONS};
use super::readers::is_harmless_sed;
use super::{Part, Word, base_name, bindings};

/// The reason for which a part is opaque by itself.
pub(super) fn of(part: &Part) -> Option<String> {
    let first = part.words.first()?;
    if !first.literal {
        let what = if first.pattern { "a pattern" } else { "a variable or another command's output" };
        return Some(format!("what it runs is given by {what}"));
    }
    // A path may have letters of any language; a bare name is looked for, and may be made to look like another one.
    let is_path = first.text.contains('/');
    let is_usual = |c: char| !c.is_control() && (c.is_ascii() || is_path && c.is_alphanumeric());
    if first.text.is_empty() || !first.text.chars().all(is_usual) {
        return Some("the name of its program holds unusual characters".to_owned());
    }
    let name = base_name(&first.text);
    let arguments = part.arguments();
    if let Some((_, reason)) = RUNNERS.iter().find(|(runner, _)| *runner == name) {
        return Some(format!("`{name}`: {reason}"));
    }
    if let Some((_, options)) = INTERPRETERS.iter().find(|(interpreter, _)| is_interpreter(name, interpreter))
    {
        return interpreter(name, arguments, options);
    }
    let evaluates = matches!(name, "test" | "[" | "printf");
    if STARTING_OPTIONS.iter().any(|(program, options)| *program == name && !options.is_empty())
        && !evaluates
        && let Some(word) = arguments.iter().find(|word| could_be_option(word))
    {
        return Some(format!("`{}` may become an option that runs another program", word.text));
    }
    if let Some((_, options)) = STARTING_OPTIONS.iter().find(|(program, _)| *program == name)
        && let Some(option) =
            arguments.iter().find(|word| options.iter().any(|option| is_option(word, option)))
    {
        return Some(format!("`{name} {}` may run another program", option.text));
    }
    match name {
        "git" => git(arguments),
        "test" | "[" => {
            (!is_plain_test(arguments)).then(|| format!("`{name}` may evaluate a text that holds a command"))
        }
        "printf" => {
            (!arguments.first().is_none_or(|word| word.literal || word.quoted && !word.text.starts_with('$')))
                .then(|| "an option of `printf` may come from elsewhere".into())
                .or_else(|| bindings::of(part))
        }
        "set" => {
            let harmless = [
                "-e", "-u", "-x", "-eu", "-ex", "-eux", "-o", "-euo", "-eo", "-euxo", "+e", "+x", "+u",
                "pipefail", "errexit", "nounset",
            ];
            let known = arguments.iter().all(|word| harmless.iter().any(|option| word.is(option)));
            (!known).then(|| "`set` changes how the shell reads commands".into())
        }
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk(name, arguments),
        "sed" | "gsed" => {
            (!is_harmless_sed(arguments)).then(|| "a script of `sed` may write files or run programs".into())
        }
        "less" | "more" | "most" => {
            let runs = arguments.iter().any(|word| word.text.starts_with('+') || !word.literal);
            runs.then(|| format!("`{name}` may run another program"))
        }
        "make" | "gmake" => {
            let sets = arguments.iter().any(|word| word.text.contains('=') && !word.text.starts_with('-'));
            sets.then(|| format!("`{name}` gets a variable that may change what it runs"))
        }
        _ => bindings::of(part),
    }
}

/// Whether a word is an option, alone, with its value, or abbreviated.
fn is_option(word: &Word, option: &str) -> bool {
    let text = word.text.as_str();
    if let Some(long) = option.strip_prefix("--") {
        let given = text.split('=').next().unwrap_or(text);
        return given.strip_prefix("--").is_some_and(|given| !given.is_empty() && long.starts_with(given));
    }
    if option.len() == 2 && option.starts_with('-') {
        // A short option may stand in a bunch and carry its value.
        return text.starts_with('-') && !text.starts_with("--") && text.contains(&option[1..]);
    }
    text == option || text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
}

/// Whether a word may become an option only when the command runs.
fn could_be_option(word: &Word) -> bool {
    let from_output = word.text.starts_with("$(") || word.text.starts_with('`');
    from_output || !word.literal && word.guess.starts_with('-') && !word.text.starts_with('-')
}

/// `python3.12` is python3.
fn is_interpreter(name: &str, interpreter: &str) -> bool {
    name.strip_prefix(interpreter)
        .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn interpreter(name: &str, arguments: &[Word], code: &[&str]) -> Option<String> {
    if arguments.iter().any(|word| word.is("--version") || word.is("-V") || word.is("--help"))
        && arguments.len() == 1
    {
        return None;
    }
    for word in arguments {
        if !word.literal {
            return Some(format!("what `{name}` runs is not written down: `{}`", word.text));
        }
        if code.iter().any(|option| is_option(word, option)) {
            return Some(format!("`{name}` gets a program on the command line"));
        }
        if word.text == "-m" {
            return None;
        }
        if !word.text.starts_with('-') {
            return None;
        }
    }
    Some(format!("`{name}` reads its program from its input"))
}

fn git(arguments: &[Word]) -> Option<String> {
    let mut rest = arguments.iter();
    let command = loop {
        let word = rest.next()?;
        match word.known() {
            None => return Some(format!("which command of git runs is not written down: `{}`", word.text)),
            Some(
                "--version" | "--help" | "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs",
            ) => {}
            Some("-C") => {
                rest.next()?;
            }
            Some(option) if option.starts_with('-') => {
                return Some(format!("`git {option}` may run another program"));
            }
            Some(command) => break command,
        }
    };
    if GIT_COMMANDS.contains(&command) {
        return Some(format!("`git {command}` may run another program"));
    }
    if !GIT_OWN.split_whitespace().any(|own| own == command) {
        return Some(format!("`git {command}` is no command of git's own: an alias or another program"));
    }
    for word in rest {
        if word.is("--") {
            break;
        }
        let dangerous = GIT_OPTIONS.iter().any(|option| is_option(word, option));
        // `-O` of grep, `-x` of rebase, `-u` of fetch and clone, `-c` of clone and commit, `-o` of format-patch.
        let short = word.text.starts_with('-')
            && !word.text.starts_with("--")
            && match command {
                "grep" => word.text.contains('O'),
                "rebase" => word.text.contains('x') || word.text.contains('i'),
                "fetch" | "clone" | "pull" | "ls-remote" => word.text.contains(['u', 'c']),
                "diff" | "log" | "show" | "format-patch" => word.text.starts_with("-o"),
                _ => false,
            };
        if dangerous || short || word.text.starts_with("ext::") {
            return Some(format!("`git {command} {}` may write a file or run another program", word.text));
        }
    }
    None
}

fn awk(name: &str, arguments: &[Word]) -> Option<String> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        match text {
            "-F" | "-v" => {
                words.next();
            }
            _ if text.starts_with("-F") || text.starts_with("-v") => {}
            _ if text.starts_with('-') => return Some(format!("`{name} {text}` may load a program")),
            _ => {
                let harmless = word.literal
                    && !["system", "|", ">", "getline", "@", "ARGV", "ARGC"]
                        .iter()
                        .any(|mark| text.contains(mark));
                return (!harmless).then(|| format!("a program of `{name}` may write files or run programs"));
            }
        }
    }
    Some(format!("`{name}` has no program"))
}

/// Whether the operators of a test are written down. `-v` evaluates its operand, and could come from a variable.
fn is_plain_test(arguments: &[Word]) -> bool {
    let words = match arguments {
        [words @ .., last] if last.is("]") => words,
        words => words,
    };
    if words.iter().all(|word| word.literal) {
        return true;
    }
    // What is not quoted may become several words.
    if !words.iter().all(|word| word.literal || word.quoted) {
        return false;
    }
    match words {
        [negation, rest @ ..] if negation.is("!") => is_plain_test(rest),
        [_] => true,
        [operator, _] => operator.literal,
        [_, operator, _] => {
            operator.literal
                && matches!(
                    operator.text.as_str(),
                    "=" | "=="
                        | "!="
                        | "<"
                        | ">"
                        | "-nt"
                        | "-ot"
                        | "-ef"
                        | "-eq"
                        | "-ne"
                        | "-lt"
                        | "-le"
                        | "-gt"
                        | "-ge"
                )
        }
        _ => false,
    }
}

/// Whether a shell's options are only those that change nothing about what its script does.
pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}
