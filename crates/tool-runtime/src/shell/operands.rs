//! Which operands of known programs are files, and what happens to them.

use super::readers::{is_reader, lists};
use super::{Part, Word, base_name, is_harmless_device};

/// Programs that write, make, change or remove every operand.
const WRITE_ALL: &str = "rm rmdir unlink touch mkdir mkfifo truncate shred tee mv gzip gunzip bzip2 bunzip2 xz unxz zstd \
    unzstd wipefs mke2fs mkswap fallocate trash srm";
/// Programs whose first operand is no file.
const WRITE_REST: &str = "chmod chown chgrp setfacl setfattr";
/// Programs that write their last operand.
const WRITE_LAST: &str = "cp install ln link rsync scp mount uniq xxd";
/// Programs that read their operands but are no plain readers: they can do more.
const READERS: &str = "less more bat batcat zcat zgrep source . vi vim nvim view nano emacs python python3 node perl ruby \
    openssl gpg scp code";
/// Readers whose operands are no files, or of which only is learnt whether they are there.
const NO_FILES: &str = "[ test : arch basename break continue date dirname echo exit export expr false free groups \
    hostname id kill nproc pgrep printenv printf ps pwd return seq set sleep tr true type uname uptime \
    which whoami";
/// Programs that read every operand but the first, which is a pattern or a program.
const READ_REST: &str = "grep egrep fgrep rg ag ack jq sed awk gawk mawk";

/// Commands of git that make a file or a folder at an operand: the words before it, and how many operands to skip.
const GIT_MAKES: &[(&[&str], usize)] = &[
    (&["bundle", "create"], 0),
    (&["clone"], 1),
    (&["init"], 0),
    (&["worktree", "add"], 0),
    (&["worktree", "move"], 0),
];

/// Fills in what a part writes and reads by its operands.
pub(super) fn note(part: &mut Part) {
    let Some(first) = part.words.first() else { return };
    let name = base_name(&first.guess).to_owned();
    let arguments = part.words[1..].to_vec();
    let operands = operands(&arguments);
    let targets = option_values(&arguments, &["-t", "--target-directory"]);
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    match name.as_str() {
        name if lists(WRITE_ALL, name) || name.starts_with("mkfs") => writes.extend(operands.clone()),
        name if lists(WRITE_REST, name) => writes.extend(operands.iter().skip(1).cloned()),
        "uniq" | "xxd" if operands.len() < 2 => reads.extend(operands.clone()),
        name if lists(WRITE_LAST, name) => {
            if let Some((last, sources)) = operands.split_last() {
                if targets.is_empty() {
                    writes.push(last.clone());
                    reads.extend(sources.iter().cloned());
                } else {
                    reads.extend(operands.clone());
                }
            }
            writes.extend(targets);
        }
        "dd" => {
            writes.extend(arguments.iter().filter_map(|word| word.after("of=")));
            reads.extend(arguments.iter().filter_map(|word| word.after("if=")));
        }
        "sed" | "gsed" if edits_in_place(&arguments) => writes.extend(operands.iter().skip(1).cloned()),
        "perl" | "ruby" if arguments.iter().any(|word| word.text.starts_with("-i")) => {
            writes.extend(operands.clone());
        }
        "find" => find(&arguments, &mut writes, &mut reads),
        "sort" => {
            writes.extend(option_values(&arguments, &["-o", "--output"]));
            reads.extend(operands.clone());
        }
        "curl" => writes.extend(option_values(
            &arguments,
            &["-o", "--output", "--output-dir", "-c", "--cookie-jar", "-D"],
        )),
        "wget" => writes.extend(option_values(
            &arguments,
            &["-O", "-P", "-o", "-a", "--output-document", "--output-file"],
        )),
        "git" => {
            writes.extend(option_values(&arguments, &["--output", "--output-directory"]));
            writes.extend(git_makes(&operands));
            reads.extend(operands.iter().skip(1).cloned());
        }
        "tree" => {
            writes.extend(option_values(&arguments, &["-o"]));
            reads.extend(operands.clone());
        }
        "patch" | "split" | "csplit" | "unzip" | "cpio" => {
            writes.extend(option_values(&arguments, &["-o", "-d", "-D", "--directory", "--output"]));
            writes.extend(operands.clone());
        }
        "tar" => {
            // Without a dash, the first word holds options too, and their values follow in order.
            let bundle = arguments.first().filter(|word| !word.text.starts_with('-'));
            if bundle.is_some_and(|word| word.text.contains(['f', 'C', 'g', 'X'])) {
                let valued = |letter: &char| "bCfFgHIKLNTVX".contains(*letter);
                let count = bundle.map_or(0, |word| word.text.chars().filter(valued).count());
                writes.extend(arguments.iter().skip(1).take(count).cloned());
            }
            writes.extend(option_values(&arguments, &["-C", "-f", "--file", "--directory"]));
            reads.extend(operands.clone());
        }
        name if lists(READ_REST, name) => {
            let pattern = usize::from(!gives_pattern(&arguments));
            reads.extend(operands.iter().skip(pattern).cloned());
        }
        name if is_reader(name) && !lists(NO_FILES, name) || lists(READERS, name) => {
            reads.extend(operands.clone());
        }
        _ => {}
    }
    // `--file=/etc/passwd` and `-f/etc/passwd` name files too.
    let in_options = arguments.iter().filter(|word| word.text.starts_with('-') && word.text.contains('/'));
    // A slash alone is a separator (`cut -d/`).
    let in_options = in_options.filter(|word| !matches!(word.text.as_str(), "-d/" | "-F/" | "-t/"));
    reads.extend(in_options.map(|word| match word.text.find('=') {
        Some(end) => word.after(&word.text[..=end]).unwrap_or_else(Word::unknown),
        None => word.text.find('/').and_then(|at| word.after(&word.text[..at])).unwrap_or_else(Word::unknown),
    }));
    writes.retain(|word| !is_harmless_device(word));
    part.writes.extend(writes);
    part.reads.extend(reads);
}

/// Whether an option brings the pattern, so that the first operand is a file. In doubt it is one.
fn gives_pattern(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| {
        let text = word.text.as_str();
        match text.strip_prefix("--") {
            Some(long) => {
                ["re", "f", "type-l"].iter().any(|start| long.starts_with(start)) && long != "recursive"
            }
            None => text.starts_with('-') && text.contains(['e', 'f']),
        }
    })
}

/// What is no option. Values of options count as operands: better one file too many than one too few.
fn operands(arguments: &[Word]) -> Vec<Word> {
    let mut only_operands = false;
    let mut found = Vec::new();
    for word in arguments {
        if !only_operands && word.is("--") {
            only_operands = true;
        } else if only_operands || !word.text.starts_with('-') || word.text == "-" {
            found.push(word.clone());
        }
    }
    found.retain(|word| word.text != "-");
    found
}

/// The values of options, however they are attached; long options in every abbreviation.
fn option_values(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let following = || arguments.get(at + 1).cloned();
        let text = word.text.as_str();
        for option in options {
            if option.starts_with("--") {
                let given = text.split('=').next().unwrap_or(text);
                if given.len() > 2 && option.starts_with(given) {
                    found.extend(if text.contains('=') {
                        word.after(&format!("{given}="))
                    } else {
                        following()
                    });
                }
            } else if text.starts_with('-') && !text.starts_with("--") {
                // `-o FILE`, `-oFILE`, `-so FILE`.
                if let Some(place) = text.find(&option[1..]) {
                    let value = word.after(&text[..=place]).filter(|value| !value.text.is_empty());
                    found.extend(value.or_else(following));
                }
            }
        }
    }
    found
}

/// The operands at which git makes something new, which can lie anywhere.
fn git_makes(operands: &[Word]) -> Vec<Word> {
    let mut found = Vec::new();
    for (names, skipped) in GIT_MAKES {
        let begins = |window: &[Word]| window.iter().zip(*names).all(|(word, name)| word.is(name));
        if let Some(at) = operands.windows(names.len()).position(begins) {
            found.extend(operands.iter().skip(at + names.len() + skipped).cloned());
        }
    }
    found
}

pub(super) fn edits_in_place(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--") && text.contains('i');
        short || text.starts_with("--i") && "--in-place".starts_with(text.split('=').next().unwrap_or(text))
    })
}

fn find(arguments: &[Word], writes: &mut Vec<Word>, reads: &mut Vec<Word>) {
    let roots: Vec<Word> = arguments
        .iter()
        .skip_while(|word| matches!(word.text.as_str(), "-H" | "-L" | "-P"))
        .take_while(|word| !word.text.starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    let roots = if roots.is_empty() { vec![Word::exact(".")] } else { roots };
    if arguments.iter().any(|word| word.text == "-delete") {
        writes.extend(roots.clone());
    }
    for (at, word) in arguments.iter().enumerate() {
        if matches!(word.text.as_str(), "-fprint" | "-fprint0" | "-fprintf" | "-fls") {
            writes.extend(arguments.get(at + 1).cloned());
        }
    }
    reads.extend(roots);
}
