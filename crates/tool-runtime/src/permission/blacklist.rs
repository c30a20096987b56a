//! Commands that are never run, in no mode: the second line behind the sandbox.
//!
//! Judged on the command as it was taken apart, so that quotes, wrappers and the order of flags do not matter.
//! It is no proof of harmlessness: what it does not know is judged by rules and confined by the sandbox.

use super::places::{Bases, JudgePlaces};
use crate::shell::{Analysis, Part, Word};

/// Why a command is never run.
pub(super) fn forbidden(analysis: &Analysis, places: &JudgePlaces, bases: &Bases) -> Option<String> {
    if let Some(name) = analysis.functions.iter().find(|name| is_fork_bomb(analysis, name)) {
        return Some(format!("`{name}` starts itself again and again until the machine stands still"));
    }
    analysis.parts.iter().find_map(|part| forbidden_part(part, places, bases))
}

/// A function whose body starts it at least twice.
fn is_fork_bomb(analysis: &Analysis, name: &str) -> bool {
    let body = format!("function {name}");
    let calls = |part: &&Part| part.within.contains(&body) && part.name() == name;
    analysis.parts.iter().filter(calls).count() >= 2
}

fn forbidden_part(part: &Part, places: &JudgePlaces, bases: &Bases) -> Option<String> {
    let name = part.name();
    if let Some(device) = part.writes.iter().chain(&part.redirected).find(|word| is_device(&word.guess)) {
        return Some(format!("it writes onto the device `{}`", device.guess));
    }
    let root = || part.writes.iter().find(|word| is_root(word, places, bases));
    match name {
        "rm" | "srm" if has_flag(part, &["--no-preserve-root"], "") => Some("it removes `/`".to_owned()),
        "rm" | "srm" if has_flag(part, &["--recursive"], "rR") => {
            root().map(|word| format!("it removes everything below `{}`", word.guess))
        }
        "chmod" | "chown" | "chgrp" if has_flag(part, &["--recursive"], "R") => {
            root().map(|word| format!("it changes the rights of everything below `{}`", word.guess))
        }
        "rsync" if part.arguments().iter().any(|word| word.guess.starts_with("--del")) => {
            root().map(|word| format!("it removes everything below `{}`", word.guess))
        }
        "mv" => root().map(|word| format!("it moves `{}` away", word.guess)),
        // What `-exec` runs is a part of its own whose operand is the folder that is searched.
        "find" => root().map(|word| format!("it removes everything below `{}`", word.guess)),
        "shred" | "truncate" => root().map(|word| format!("it empties everything below `{}`", word.guess)),
        "wipefs" | "mke2fs" | "mkswap" | "fdisk" | "sfdisk" | "parted" | "sgdisk" if names_device(part) => {
            Some(format!("`{name}` destroys what is on a device"))
        }
        name if (name == "mkfs" || name.starts_with("mkfs."))
            && (names_device(part) || part.writes.is_empty()) =>
        {
            Some(format!("`{name}` destroys what is on a device"))
        }
        "shutdown" | "reboot" | "halt" | "poweroff" => Some(format!("`{name}` stops the machine")),
        "kill" if part.arguments().iter().skip(1).any(|word| word.guess == "-1") => {
            Some("it ends every process".to_owned())
        }
        _ => None,
    }
}

/// Whether a flag is given, short in any bunch or long in any abbreviation.
fn has_flag(part: &Part, long: &[&str], short: &str) -> bool {
    part.arguments().iter().map(|word| word.guess.as_str()).any(|text| match text.strip_prefix("--") {
        Some(rest) => rest.len() > 1 && long.iter().any(|option| option.starts_with(text)),
        None => {
            text.len() > 1 && text.starts_with('-') && text[1..].contains(|letter| short.contains(letter))
        }
    })
}

fn names_device(part: &Part) -> bool {
    part.arguments().iter().any(|word| word.guess.starts_with("/dev/") || !word.literal)
}

fn is_device(path: &str) -> bool {
    const HARMLESS: &[&str] =
        &["null", "zero", "full", "stdin", "stdout", "stderr", "tty", "ptmx", "random", "urandom"];
    path.strip_prefix("/dev/").is_some_and(|name| {
        !HARMLESS.contains(&name)
            && !["fd/", "shm/", "pts/", "tcp/", "udp/"].iter().any(|folder| name.starts_with(folder))
    })
}

/// Whether a word means the root of the system, one of its folders, or the person's home, also by what lies in it.
fn is_root(word: &Word, places: &JudgePlaces, bases: &Bases) -> bool {
    const SYSTEM: &[&str] = &[
        "/",
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/home",
        "/lib",
        "/lib64",
        "/opt",
        "/proc",
        "/root",
        "/sbin",
        "/srv",
        "/sys",
        "/usr",
        "/var",
        "/Users",
        "/System",
        "/Library",
        "/Applications",
        "/usr/bin",
        "/usr/lib",
        "/usr/local",
    ];
    let text = word.guess.as_str();
    // `/*` and `/{a,b}` are what lies in `/`.
    let folder = match text.rfind('/') {
        Some(0) if text.len() > 1 && text[1..].contains(['*', '?', '{']) => "/",
        Some(at) if at > 0 && matches!(&text[at + 1..], "*" | ".*" | ".[!.]*") => &text[..at],
        None if matches!(text, "*" | ".*") => ".",
        _ => text,
    };
    let is_relative = !folder.starts_with(['/', '~', '$']);
    let mut resolved: Vec<String> = vec![places.resolve(folder, None)];
    if is_relative {
        resolved = bases.known().iter().map(|base| places.resolve(folder, Some(base))).collect();
    }
    resolved.iter().any(|path| {
        // A workspace may lie in such a folder or be one in a container; what belongs to it is judged by rules.
        (SYSTEM.contains(&path.as_str()) || places.home.as_deref() == Some(path))
            && !(is_relative && places.contains(path))
    })
}
