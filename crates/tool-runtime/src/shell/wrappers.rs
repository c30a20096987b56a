//! Programs that start others: what they start is judged as a part of its own.

use super::commands::{STARTERS, Starter, StarterKind};
use super::hazards::is_shell;
use super::{Part, Word, base_name};

/// What a program starts.
#[derive(Debug, Default)]
pub(super) struct Unwrapped {
    pub inner: Vec<Inner>,
    pub transparent: bool,
    pub opaque: Option<String>,
    /// Variables it sets for what it starts.
    pub assignments: Vec<(String, Word)>,
}

#[derive(Debug)]
pub(super) enum Inner {
    Words(Vec<Word>),
    Script(String),
}

impl Unwrapped {
    fn opaque(reason: impl Into<String>) -> Self {
        Self { opaque: Some(reason.into()), ..Self::default() }
    }
}

/// Looks into a part; `input` is what it reads on standard input, where that is known.
pub(super) fn unwrap(part: &Part, input: Option<&str>) -> Unwrapped {
    let Some(first) = part.words.first() else { return Unwrapped::default() };
    // A guess is good enough here: what is found is judged, what is not is opaque anyway.
    let name = base_name(&first.guess);
    let arguments = part.arguments();
    if let Some(starter) = STARTERS.iter().find(|starter| starter.name == name) {
        return started(starter, arguments);
    }
    match name {
        _ if is_shell(name) => shell(name, arguments, input),
        "zsh" | "su" | "runuser" | "watch" | "ssh" | "script" => any_script(arguments),
        "eval" => joined(arguments).map_or_else(
            || Unwrapped::opaque("what `eval` runs is not written down"),
            |text| Unwrapped { inner: vec![Inner::Script(text)], transparent: true, ..Unwrapped::default() },
        ),
        "trap" => trap(arguments),
        "find" => find(arguments),
        "busybox" | "toybox" if !arguments.is_empty() => {
            Unwrapped { inner: vec![Inner::Words(arguments.to_vec())], ..Unwrapped::default() }
        }
        "docker" | "podman" | "nerdctl" | "chroot" | "unshare" | "nsenter" | "flock" | "strace"
        | "ltrace" | "parallel" | "fakeroot" | "xvfb-run" | "systemd-run" | "entr" => suspects(arguments),
        _ => Unwrapped::default(),
    }
}

fn started(starter: &Starter, arguments: &[Word]) -> Unwrapped {
    let mut result =
        Unwrapped { transparent: starter.kind != StarterKind::Privileged, ..Unwrapped::default() };
    // `command -v ls` only looks.
    if starter.name == "command" && arguments.first().is_some_and(|word| word.is("-v") || word.is("-V")) {
        return result;
    }
    let mut words = arguments;
    let mut operands = starter.operands;
    let unknown = |word: &Word| Unwrapped {
        inner: suspects(arguments).inner,
        ..Unwrapped::opaque(format!("the option `{}` of `{}` is not known", word.text, starter.name))
    };
    while let Some((word, rest)) = words.split_first() {
        let text = word.text.as_str();
        if word.is("--") {
            words = rest;
            break;
        }
        if text.starts_with('-') && text != "-" || text == "-" && starter.name == "env" {
            if !word.literal {
                return unknown(word);
            }
            let name = text.split('=').next().unwrap_or(text);
            let variable = bound_by_option(starter, text, rest.first());
            result.assignments.extend(variable.map(|variable| (variable, Word::unknown())));
            if starter.valued.contains(&text) {
                words = rest.get(1..).unwrap_or_default();
            } else if starter.flags.contains(&text)
                || text.contains('=') && starter.valued.contains(&name)
                || is_attached(starter, text)
            {
                words = rest;
            } else {
                return unknown(word);
            }
            continue;
        }
        if starter.name == "env" || starter.name == "sudo" {
            // `BASH_FUNC_ls%%=…` defines a function.
            if let Some((variable, _)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) {
                let value = word.after(&format!("{variable}=")).unwrap_or_else(Word::unknown);
                result.assignments.push((variable.to_owned(), value));
                words = rest;
                continue;
            }
            if !word.literal && text.contains('=') {
                return unknown(word);
            }
        }
        if operands == 0 {
            break;
        }
        operands -= 1;
        words = rest;
    }
    let mut words = words.to_vec();
    if starter.kind == StarterKind::AddsArguments {
        if words.is_empty() {
            words.push(Word::exact("echo"));
        }
        words.push(Word::unknown());
    }
    if !words.is_empty() {
        result.inner.push(Inner::Words(words));
    } else if starter.kind == StarterKind::Privileged {
        result.opaque = Some(format!("what `{}` runs is not written down", starter.name));
    }
    result
}

/// The variable that an option sets or removes for what is started: `env -u PATH`, `xargs --process-slot-var=PATH`.
fn bound_by_option(starter: &Starter, text: &str, next: Option<&Word>) -> Option<String> {
    let option = match starter.name {
        "env" => ["-u", "--unset"],
        "xargs" => ["--process-slot-var", "--process-slot-var"],
        _ => return None,
    };
    if option.contains(&text) {
        return next.map(|word| word.text.clone());
    }
    let long = text.split_once('=').filter(|(name, _)| option.contains(name)).map(|(_, value)| value);
    long.or_else(|| text.strip_prefix("-u").filter(|_| option.contains(&"-u"))).map(str::to_owned)
}

/// `-n5`, `-oL`, `-20` of nice: a short option with its value.
fn is_attached(starter: &Starter, text: &str) -> bool {
    let number = starter.name == "nice" && text[1..].chars().all(|digit| digit.is_ascii_digit());
    let bunch = !text.starts_with("--")
        && text[1..].chars().all(|letter| starter.flags.contains(&format!("-{letter}").as_str()));
    number
        || bunch
        || starter.valued.iter().any(|option| option.len() == 2 && text.len() > 2 && text.starts_with(option))
}

fn shell(name: &str, arguments: &[Word], input: Option<&str>) -> Unwrapped {
    let mut words = arguments.iter();
    let mut plain = true;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if !word.literal {
            return Unwrapped::opaque(format!("what `{name}` runs is not written down: `{text}`"));
        }
        if matches!(text, "--norc" | "--noprofile" | "--posix" | "--version" | "--help") {
            continue;
        }
        let options = text.strip_prefix(['-', '+']).filter(|options| !options.is_empty());
        let Some(options) = options.filter(|options| !options.starts_with('-')) else {
            if text.starts_with("--") {
                return Unwrapped::opaque(format!("the option `{text}` of `{name}` is not known"));
            }
            return Unwrapped::opaque(format!("`{name}` runs the commands of the file `{text}`"));
        };
        plain &= options.chars().all(|option| matches!(option, 'c' | 'e' | 'u' | 'x'));
        if options.contains('o') || options.contains('O') {
            words.next();
        }
        if options.contains('c') {
            let Some(script) = words.next() else { return Unwrapped::default() };
            if !script.literal {
                return Unwrapped {
                    inner: vec![Inner::Script(script.guess.clone())],
                    ..Unwrapped::opaque(format!("what `{name} -c` runs is not written down"))
                };
            }
            let opaque = (!plain).then(|| format!("the options `{text}` of `{name}` change what it does"));
            let inner = vec![Inner::Script(script.text.clone())];
            return Unwrapped { inner, transparent: plain, opaque, ..Unwrapped::default() };
        }
    }
    if arguments.iter().any(|word| word.is("--version") || word.is("--help")) {
        return Unwrapped { transparent: true, ..Unwrapped::default() };
    }
    let inner = input.map(|text| Inner::Script(text.to_owned())).into_iter().collect();
    Unwrapped { inner, ..Unwrapped::opaque(format!("`{name}` runs what it reads from its input")) }
}

/// The command that stands in an argument of a program whose options are not followed. The part is opaque anyway;
/// this is for refusing.
fn any_script(arguments: &[Word]) -> Unwrapped {
    let texts = arguments.iter().filter(|word| word.guess.contains(' '));
    let mut result = suspects(arguments);
    result.inner.extend(texts.map(|word| Inner::Script(word.guess.clone())));
    result
}

/// Everything from the first word on that looks like a program; for refusing only.
fn suspects(arguments: &[Word]) -> Unwrapped {
    const DANGEROUS: &[&str] = &[
        "rm", "dd", "shred", "chmod", "chown", "find", "sh", "bash", "dash", "sudo", "wipefs", "curl", "wget",
    ];
    let start = arguments.iter().position(|word| {
        let name = base_name(&word.guess);
        DANGEROUS.contains(&name) || name.starts_with("mkfs")
    });
    let inner = start.map(|start| Inner::Words(arguments[start..].to_vec())).into_iter().collect();
    Unwrapped { inner, ..Unwrapped::default() }
}

fn trap(arguments: &[Word]) -> Unwrapped {
    match arguments.iter().find(|word| !word.is("--")) {
        None => Unwrapped { transparent: true, ..Unwrapped::default() },
        Some(word) if !word.literal => Unwrapped::opaque("what `trap` runs is not written down"),
        Some(word) if word.text.is_empty() || word.text.starts_with('-') => {
            Unwrapped { transparent: true, ..Unwrapped::default() }
        }
        Some(word) => Unwrapped {
            inner: vec![Inner::Script(word.text.clone())],
            transparent: true,
            ..Unwrapped::default()
        },
    }
}

fn find(arguments: &[Word]) -> Unwrapped {
    let mut result = Unwrapped::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if !matches!(word.guess.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let mut inner = Vec::new();
        for word in words.by_ref() {
            match word.text.as_str() {
                ";" | "+" => break,
                text if text.contains("{}") => inner.push(found_by_find(arguments)),
                _ => inner.push(word.clone()),
            }
        }
        if inner.is_empty() {
            return Unwrapped::opaque("what `find` runs is not written down");
        }
        result.inner.push(Inner::Words(inner));
    }
    result
}

/// What `{}` stands for: something below the folder that is searched.
fn found_by_find(arguments: &[Word]) -> Word {
    let place = arguments.iter().find(|word| !word.text.starts_with('-'));
    let guess = place.map_or(".", |word| word.guess.as_str());
    Word { text: "{}".into(), guess: guess.to_owned(), ..Word::default() }
}

fn joined(words: &[Word]) -> Option<String> {
    words.iter().map(Word::known).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}
