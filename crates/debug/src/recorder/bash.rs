//! Bash: a script that BASH_ENV names, which bash reads before the one it runs. It writes every command as it was
//! expanded, and the variables at the end.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stepwell_workspace::files;
use stepwell_workspace::process::Environment;

use super::records::{
    FailureOrigin, FailureRecord, FrameRecord, HangRecord, Record, ValueRecord, WriteRecord,
};
use super::{RecordedCommand, RecordedLanguage, environment_of, installed, words_of};
use crate::Result;
use crate::adapters::Search;
use crate::launch_config::Resolved;
use crate::values::shortened;

const SCRIPT: &str = include_str!("bash/recorder.sh");
const VALUE: usize = 160;
const WRITES: usize = 4;

pub(super) fn command_of(resolved: &Resolved, search: &Search) -> Option<RecordedCommand> {
    let text = |name: &str| resolved.arguments.get(name).and_then(Value::as_str);
    let mut words = vec![text("program")?.into()];
    words.extend(words_of(resolved, "args"));
    Some(RecordedCommand {
        program: stepwell_workspace::process::find_program("bash", &search.workspace)?,
        arguments: words,
        folder: PathBuf::from(text("cwd")?),
        environment: environment_of(resolved),
        language: RecordedLanguage::Bash,
        input: Vec::new(),
        probes: Vec::new(),
    })
}

pub(super) fn instrument(environment: &mut Environment, records: &Path) -> Result<()> {
    let folder = installed("bash-recorder", &[("recorder.sh", SCRIPT)], Path::new(""), records)?;
    environment.set.push(("BASH_ENV".into(), folder.join("recorder.sh").into()));
    environment.set.push(("STEPWELL_RECORD".into(), records.into()));
    Ok(())
}

/// One command that ran.
#[derive(Debug)]
struct Traced<'a> {
    file: &'a str,
    line: i64,
    function: &'a str,
    command: &'a str,
}

/// Reads what one bash process wrote: how it failed, or where it was when it was ended.
pub(super) fn record_of(text: &str) -> Option<Record> {
    let mut commands: Vec<Traced<'_>> = Vec::new();
    let mut ending = None;
    let mut variables: Vec<(String, String)> = Vec::new();
    // Traps of the script run inside of others, and one that exits does not come to its end.
    let mut traps = 0_usize;
    for entry in text.split('\u{1e}') {
        // What follows the mark of the next command belongs to that one.
        let entry = entry.trim_end_matches('+').trim_end_matches('\n');
        let mut parts = entry.splitn(5, '\u{1f}');
        match parts.next() {
            Some("run") => {
                let (file, line) = (parts.next()?, parts.next()?.parse().unwrap_or_default());
                let (function, command) = (parts.next()?, parts.next()?);
                let is_ours = function.starts_with("__stepwell") || command.starts_with("__stepwell_");
                let is_of_trap = traps > 0 || ending.is_some();
                if !is_ours && !is_of_trap && Path::new(file).file_name() != Some("recorder.sh".as_ref()) {
                    commands.push(Traced { file, line, function, command });
                }
            }
            Some("trap") => traps += 1,
            Some("trapped") => traps = traps.saturating_sub(1),
            Some("exit") => {
                let status = parts.next()?.parse::<i64>().ok()?;
                ending = Some((status, parts.next()?.to_owned(), parts.next().unwrap_or_default()));
            }
            Some("variable") => {
                let (name, told) = (parts.next()?, parts.next().unwrap_or_default());
                let value = told.split_once('=').map(|(_, value)| value).unwrap_or_default();
                variables.push((name.to_owned(), shortened(value, VALUE)));
            }
            _ => {}
        }
    }
    // A script that is ended may run its exit trap, with the status of a command that went well.
    let Some((status, pipe, last_command)) = ending.filter(|(status, ..)| *status != 0) else {
        let frames = commands.last().map(|last| frame_of(last, &commands, &variables));
        return Some(Record::Hang(HangRecord { frames: frames.into_iter().collect() }));
    };
    let last = commands.last();
    let frame = last.map(|last| frame_of(last, &commands, &variables));
    let message = match last {
        Some(last) if pipe.contains(' ') => {
            let source = source_line(last.file, last.line).unwrap_or_else(|| last_command.to_owned());
            format!("{} (statuses of its commands: {pipe})", shortened(source.trim(), 400))
        }
        Some(last) => shortened(last.command, 400),
        None => shortened(last_command, 400),
    };
    let frames = frame.into_iter().collect();
    Some(Record::Failure(FailureRecord {
        how: FailureOrigin::Command,
        test: None,
        phase: None,
        kind: format!("exit status {status}"),
        message,
        frames,
        library_frames: 0,
        causes: Vec::new(),
        recursion: None,
        exhausted: false,
    }))
}

fn frame_of(last: &Traced<'_>, commands: &[Traced<'_>], variables: &[(String, String)]) -> FrameRecord {
    let source = source_line(last.file, last.line).unwrap_or_default();
    let named = names_in(&source).chain(names_in_arithmetic(last.command));
    let mut known = Vec::new();
    let values = named.filter_map(|name| {
        if known.contains(&name) {
            return None;
        }
        known.push(name.clone());
        let global = variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        // Variables of a function are gone when the script ends; their assignments were traced.
        let local = || {
            let mut here = commands.iter().rev().filter(|traced| traced.function == last.function);
            here.find_map(|traced| assigned(&name, traced.command))
        };
        let value = global.or_else(local)?;
        let writes = writes_of(&name, &value, commands);
        Some(ValueRecord { name, value, writes, passed: false, changed_since: false })
    });
    FrameRecord {
        function: if last.function.is_empty() { "main".to_owned() } else { last.function.to_owned() },
        file: absolute(last.file),
        line: last.line,
        first_line: 0,
        values: values.collect(),
        variables: variables
            .iter()
            .map(|(name, value)| (name.clone(), Some(value.clone()), String::new()))
            .collect(),
    }
}

fn absolute(file: &str) -> String {
    files::resolved(Path::new(file)).to_string_lossy().into_owned()
}

fn source_line(file: &str, line: i64) -> Option<String> {
    let text = files::read_to_string(Path::new(file)).ok()?;
    text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?).map(str::to_owned)
}

/// The names of `(( count > limit ))`, which need no `$` before them.
fn names_in_arithmetic(command: &str) -> impl Iterator<Item = String> + '_ {
    let inside = command.strip_prefix("((").unwrap_or_default();
    let words = inside.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    words
        .filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
        .map(str::to_owned)
}

/// The variables that a line expands, each once.
fn names_in(line: &str) -> impl Iterator<Item = String> {
    let mut names: Vec<String> = Vec::new();
    for (at, _) in line.match_indices('$') {
        let rest = line[at + 1..].trim_start_matches(['{', '#', '!']);
        let name: String =
            rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
        if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names.into_iter()
}

/// The value that a traced command assigns to a variable.
fn assigned(name: &str, command: &str) -> Option<String> {
    let words = ["local ", "declare ", "export ", "readonly ", "typeset "];
    let command = words.iter().find_map(|word| command.strip_prefix(word)).unwrap_or(command);
    // A word with a space in it is quoted whole.
    let (command, quoted) = match command.strip_prefix('\'') {
        Some(inner) => (inner.strip_suffix('\'').unwrap_or(inner), true),
        None => (command, false),
    };
    let value = command.strip_prefix(name)?.strip_prefix('=')?;
    Some(shortened(&if quoted { format!("'{value}'") } else { value.to_owned() }, VALUE))
}

/// The assignments of a variable as they were traced, newest first; none where something else set it last.
fn writes_of(name: &str, value: &str, commands: &[Traced<'_>]) -> Vec<WriteRecord> {
    let writes: Vec<WriteRecord> = commands
        .iter()
        .rev()
        .filter_map(|traced| {
            Some(WriteRecord {
                value: Some(assigned(name, traced.command)?),
                file: absolute(traced.file),
                line: traced.line,
                changes: false,
                inputs: Vec::new(),
            })
        })
        .take(WRITES)
        .collect();
    let plain = |text: &str| text.trim_matches(['\'', '"', '$']).replace('\\', "");
    let is_last = writes
        .first()
        .and_then(|write| write.value.as_deref())
        .is_some_and(|last| plain(last) == plain(value));
    if is_last { writes } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str) -> FailureRecord {
        match record_of(text) {
            Some(Record::Failure(failure)) => failure,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_command_is_told_as_expanded() {
        let text = "+\u{1e}run\u{1f}a.sh\u{1f}2\u{1f}\u{1f}count=3\n+\u{1e}run\u{1f}a.sh\u{1f}3\u{1f}f\u{1f}cp 'a b' /x\n\u{1e}exit\u{1f}1\u{1f}1\u{1f}cp \"$count\" /x\n\u{1e}variable\u{1f}count\u{1f}declare -- count=\"3\"\n";
        let failure = failure(text);
        assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("exit status 1", "cp 'a b' /x"));
        let frame = &failure.frames[0];
        assert_eq!((frame.line, frame.function.as_str()), (3, "f"));
        assert_eq!(frame.variables, [("count".to_owned(), Some("\"3\"".to_owned()), String::new())]);
    }

    #[test]
    fn only_an_assignment_that_gave_the_last_value_is_a_write() {
        let traced = |line, command| Traced { file: "a.sh", line, function: "", command };
        let commands = [traced(1, "n=1"), traced(2, "local n=2"), traced(3, "name=9")];
        let lines = |value: &str| -> Vec<i64> {
            writes_of("n", value, &commands).into_iter().map(|write| write.line).collect()
        };
        assert_eq!(lines("\"2\""), [2, 1]);
        assert!(lines("\"7\"").is_empty(), "`read` set it after the assignments");
    }

    #[test]
    fn names_of_a_line_are_found_once() {
        let names: Vec<String> = names_in("cp \"$a\" ${b%.x} $a $1 ${#c[@]}").collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
