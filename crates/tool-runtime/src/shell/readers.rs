//! Commands that only read, whatever they are given, or as long as their options are known to be harmless.

use super::operands::edits_in_place;
use super::{Part, Word};

/// Programs none of whose options writes, runs or sends anything.
const ALWAYS: &str = ": [ arch b2sum base32 basename break cat cd cksum cmp comm continue cut df dirname du echo \
        exit expand expr false fmt fold free groups head hexdump id join ls md5sum nl nproc od paste \
        pgrep printenv printf ps pwd readlink realpath return rev seq sha1sum sha224sum sha256sum \
        sha384sum sha512sum sleep stat strings sum tac tail test tr true tty type uname unexpand \
        uptime wc which whoami base64";

/// Programs with the options that are harmless; others make it uncertain. Short ones are letters of bunches.
const WITH_OPTIONS: &[(&str, &str, &str)] = &[
    ("grep", GREP, GREP_LONG),
    ("egrep", GREP, GREP_LONG),
    ("fgrep", GREP, GREP_LONG),
    (
        "rg",
        "ABCFHILMNSTUaceghilmnoqrstuvwx0123456789.",
        "--files --hidden --no-ignore --glob --type --type-not --count --context --after-context \
        --before-context --ignore-case --smart-case --line-number --no-heading --heading --json \
        --fixed-strings --word-regexp --multiline --max-count --max-depth --files-with-matches \
        --files-without-match --only-matching --color --sort --no-filename --with-filename --stats \
        --invert-match --case-sensitive --regexp --column --vimgrep --type-list --no-messages",
    ),
    (
        "find",
        "",
        "-H -L -P -a -amin -and -anewer -atime -cmin -cnewer -ctime -daystart -depth -empty \
        -executable -false -follow -fstype -gid -group -ilname -iname -inum -ipath -iregex -links \
        -lname -ls -maxdepth -mindepth -mmin -mount -mtime -name -newer -nogroup -not -nouser -o -or \
        -path -perm -print -print0 -printf -prune -quit -readable -regex -regextype -size -true \
        -type -uid -user -wholename -writable -xdev",
    ),
    (
        "sort",
        "bcdfghiknmrstuVMRz0123456789,.",
        "--reverse --numeric-sort --unique --key --field-separator --human-numeric-sort \
        --version-sort --ignore-case --stable --check --zero-terminated --general-numeric-sort",
    ),
    ("uniq", "cdDfiszuw0123456789", "--count --repeated --unique --ignore-case --all-repeated"),
    (
        "diff",
        "abBcdeEilnNpqrstTuUwWxyZ0123456789",
        "--unified --recursive --brief --color --side-by-side --ignore-all-space \
        --ignore-space-change --new-file --exclude --stat --text --context --suppress-common-lines \
        --label",
    ),
    ("date", "uRI", "--utc --iso-8601 --rfc-3339 --universal --rfc-email"),
    ("file", "bhiLkrs0", "--brief --mime --mime-type --mime-encoding --dereference"),
    ("tree", "adfhiLlpPIstuxDFNqJ0123456789", "--dirsfirst --noreport --gitignore --du --prune --charset"),
    (
        "jq",
        "acCeMnrRsSj",
        "--arg --argjson --raw-output --compact-output --slurp --null-input --sort-keys --exit-status \
        --tab --indent --raw-input --join-output --monochrome-output",
    ),
    ("xxd", "bcegilpsu0123456789", ""),
    ("column", "ctsxnoNRTLd0123456789", "--table --separator"),
    ("hostname", "fIisd", ""),
    ("nm", "aCDgnprSuU", "--defined-only --undefined-only --demangle --dynamic"),
    ("readelf", "aAdehlnrsSVW", "--all --headers --symbols --wide --dynamic --sections"),
    ("objdump", "adDfhprsStTxCM", "--disassemble --syms --demangle --headers"),
    ("size", "ABdotx", ""),
    ("lsof", "", ""),
];

const GREP: &str = "ABCEFGHILPTUabcehilmnoqrsvwxyz0123456789";
const GREP_LONG: &str = "--recursive --include --exclude --exclude-dir --ignore-case --line-number --color --count \
        --files-with-matches --files-without-match --fixed-strings --extended-regexp --perl-regexp \
        --word-regexp --invert-match --max-count --only-matching --context --after-context \
        --before-context --no-filename --with-filename --quiet --silent --regexp --text \
        --no-messages --null --line-regexp";

/// Programs that may be asked for their version. Not so `cargo`, `rustc` and `rustup` (`rust-toolchain.toml` may
/// name programs of the folder), `yarn` (`.yarnrc.yml` too) and `pnpm` (`package.json` may name a version to load).
const VERSIONED: &str = "bash bun clang cmake deno docker g++ gcc gdb git go java lldb make node npm perl pip pip3 \
        python python3 ruby tsc uv";

/// Commands of git that read, with the options that keep them so.
const GIT: &[(&str, &str)] = &[
    (
        "status",
        "-s -b -sb -z -v -u -uno -uall -unormal --short --branch --porcelain --long --untracked-files \
        --ignored --show-stash --column --no-renames --ahead-behind",
    ),
    ("log", HISTORY),
    ("show", HISTORY),
    ("diff", HISTORY),
    ("shortlog", HISTORY),
    ("rev-list", HISTORY),
    ("diff-tree", HISTORY),
    ("whatchanged", HISTORY),
    ("blame", "-L -w -M -C -e -l -s -t -p --porcelain --line-porcelain --date --show-name --show-number"),
    ("describe", "--tags --always --dirty --long --abbrev --all --match --exact-match"),
    (
        "rev-parse",
        "--abbrev-ref --short --show-toplevel --verify --is-inside-work-tree --show-prefix \
        --is-bare-repository -q --quiet --symbolic-full-name --all --branches --tags",
    ),
    (
        "ls-files",
        "-c -d -m -o -s -u -z --cached --deleted --modified --others --stage --exclude-standard \
        --full-name --error-unmatch --unmerged --ignored",
    ),
    ("ls-tree", "-r -t -d -l -z --name-only --name-status --long --full-name --full-tree"),
    ("cat-file", "-p -t -s -e"),
    ("merge-base", "--is-ancestor --all --octopus --fork-point"),
    ("name-rev", "--name-only --tags --always"),
    ("for-each-ref", "--format --sort --count --contains --merged --points-at"),
    ("show-ref", "--heads --tags --head -s --verify -d -q"),
    ("count-objects", "-v -H"),
    ("check-ignore", "-v -q -n --verbose --no-index"),
    (
        "grep",
        "-n -i -l -L -c -w -v -e -E -F -P -h -H -I -q -A -B -C --line-number --ignore-case \
        --files-with-matches --count --word-regexp --untracked --cached --heading --break \
        --show-function",
    ),
];

const HISTORY: &str = "-p -u -n -s -w -b -z -q -i -E -F -S -G -L -M -C -R -U -t -r -m -c --oneline --stat --graph \
        --all --decorate --no-decorate --name-only --name-status --patch --no-patch --max-count \
        --skip --since --until --after --before --author --committer --grep --format --pretty \
        --cached --staged --numstat --shortstat --summary --color --no-color --word-diff --unified \
        --ignore-all-space --ignore-space-change --ignore-blank-lines --follow --merges --no-merges \
        --first-parent --reverse --abbrev-commit --abbrev --date --no-ext-diff --no-textconv \
        --diff-filter --exit-code --quiet --check --raw --relative --topo-order --date-order --tags \
        --branches --remotes --not --no-renames --find-renames --dirstat --compact-summary --minimal \
        --patience --histogram --merge-base --full-index --no-index --no-prefix --count --left-right \
        --cherry-pick --numbered --email --no-notes --root --pickaxe-all \
        --regexp-ignore-case --function-context -W --cc";

/// Whether the program of a part only reads; what the shell writes for it is another matter.
pub(super) fn only_reads(part: &Part) -> bool {
    if part.opaque.is_some() || !part.writes.is_empty() {
        return false;
    }
    if part.transparent || part.words.is_empty() {
        return true;
    }
    let Some(program) = part.program() else { return false };
    let arguments = part.arguments();
    let Some(name) = plain_name(program) else { return false };
    if lists(ALWAYS, name) {
        return true;
    }
    // An unknown word could be an option.
    if !arguments.iter().all(|word| word.literal || is_no_option(word)) {
        return false;
    }
    if let [only] = arguments
        && lists(VERSIONED, name)
        && (only.is("--version") || only.is("-V") || name == "go" && only.is("version"))
    {
        return true;
    }
    if let Some((_, short, long)) = WITH_OPTIONS.iter().find(|(known, ..)| *known == name) {
        return match name {
            "find" => has_options(arguments, |word| lists(long, word)),
            "date" => {
                has_options(arguments, |word| is_harmless(word, short, long)) && formats_only(arguments)
            }
            "hostname" => arguments.iter().all(|word| word.text.starts_with('-')),
            _ => has_options(arguments, |word| is_harmless(word, short, long)),
        };
    }
    match name {
        "git" => git_reads(arguments),
        "sed" => !edits_in_place(arguments),
        // Programs of `awk` and options of `set` that are not known to be harmless are opaque.
        "awk" | "gawk" | "mawk" | "set" => true,
        "env" | "command" | "export" | "wait" | "jobs" => arguments.is_empty(),
        _ => false,
    }
}

/// Whether a program is known to read, with the right options.
pub(super) fn is_reader(name: &str) -> bool {
    lists(ALWAYS, name) || WITH_OPTIONS.iter().any(|(known, ..)| *known == name)
}

/// Whether a word is in a list of words.
pub(super) fn lists(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// The name of a program that is found on the path or lies where the system's programs are.
fn plain_name(program: &str) -> Option<&str> {
    let name = program.strip_prefix("/usr/bin/").or_else(|| program.strip_prefix("/bin/")).unwrap_or(program);
    (!name.contains('/')).then_some(name)
}

/// A word that is not certain but cannot become an option: `src/*.rs`, `--include=*.rs`, `<(ls)`.
fn is_no_option(word: &Word) -> bool {
    let before = word.text.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let named = before.starts_with("--") && before.contains('=');
    word.text.starts_with("<(")
        || word.pattern && (named || !before.is_empty() && !before.starts_with(['-', '~']))
}

fn has_options(arguments: &[Word], known: impl Fn(&str) -> bool) -> bool {
    let mut options = arguments.iter().take_while(|word| !word.is("--"));
    options.all(|word| !word.text.starts_with('-') || word.text == "-" || known(&word.text))
}

fn is_harmless(option: &str, short: &str, long: &str) -> bool {
    match option.strip_prefix("--") {
        Some(_) => lists(long, option.split('=').next().unwrap_or(option)),
        None => option[1..].chars().all(|letter| short.contains(letter)),
    }
}

/// `date` sets the clock when it gets anything but a format.
fn formats_only(arguments: &[Word]) -> bool {
    arguments.iter().all(|word| word.text.starts_with(['-', '+']))
}

fn git_reads(arguments: &[Word]) -> bool {
    let rest = match arguments {
        [first, rest @ ..] if first.is("--no-pager") || first.is("-P") => rest,
        all => all,
    };
    let Some((command, rest)) = rest.split_first() else { return false };
    // A signature is checked by a program that the settings name.
    if rest.iter().any(|word| word.text.contains("%G")) {
        return false;
    }
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    match (command.text.as_str(), texts.as_slice()) {
        ("branch", options) => options.iter().all(|option| {
            matches!(
                *option,
                "-a" | "-r"
                    | "-v"
                    | "-vv"
                    | "-av"
                    | "-avv"
                    | "--list"
                    | "--all"
                    | "--remotes"
                    | "--verbose"
                    | "--show-current"
            )
        }),
        ("remote", [] | ["-v" | "show"])
        | ("tag", [] | ["-l" | "--list"])
        | ("stash", ["list" | "show"] | ["show", "-p"])
        | ("worktree", ["list"])
        | ("reflog", [] | ["show"]) => true,
        (command, _) => GIT.iter().find(|(known, _)| *known == command).is_some_and(|(_, options)| {
            has_options(rest, |word| {
                let name = word.split('=').next().unwrap_or(word);
                let number = word[1..].chars().all(|digit| digit.is_ascii_digit());
                let attached = !word.starts_with("--")
                    && word.get(..2).is_some_and(|short| {
                        matches!(short, "-n" | "-U" | "-S" | "-G" | "-L" | "-M" | "-C" | "-A" | "-B")
                            && lists(options, short)
                    });
                number || lists(options, name) || attached
            })
        }),
    }
}

/// Whether a call of `sed` has no script that writes files or runs programs: only printing, deleting and simple
/// substitutions are known to be harmless.
pub(super) fn is_harmless_sed(arguments: &[Word]) -> bool {
    let mut scripts = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-e" | "--expression" => scripts.extend(words.next()),
            "-f" | "--file" | "-s" => return false,
            "--quiet" | "--silent" | "--regexp-extended" | "--in-place" => {}
            text if text.starts_with("--") => return false,
            text if text.starts_with('-') && text.len() > 1 => {
                // A suffix of `-i` is a name; all else must be known letters.
                let letters = text[1..].split('i').next().unwrap_or_default();
                if !letters.chars().all(|letter| matches!(letter, 'n' | 'E' | 'r' | 'z' | 'u')) {
                    return false;
                }
            }
            _ if scripts.is_empty() => scripts.push(word),
            _ => {}
        }
    }
    !scripts.is_empty() && scripts.iter().all(|word| word.literal && is_harmless_script(&word.text))
}

fn is_harmless_script(script: &str) -> bool {
    // Substitutions may hold a `;`, so only one of them is looked at; lists of plain commands are split.
    if script.split(';').all(|command| is_plain_command(command.trim())) {
        return true;
    }
    let command =
        script.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' '));
    let Some(rest) = command.strip_prefix('s') else { return false };
    let Some(mark) =
        rest.chars().next().filter(|mark| !mark.is_alphanumeric() && !mark.is_whitespace() && *mark != '\\')
    else {
        return false;
    };
    let mut fields = vec![String::new()];
    let mut characters = rest.chars().skip(1);
    while let Some(character) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == mark {
            fields.push(String::new());
        } else if let Some(field) = fields.last_mut() {
            field.push(character);
        }
    }
    matches!(fields.as_slice(), [_, _, flags] if flags.chars().all(|flag| matches!(flag, 'g' | 'I' | 'i' | 'p' | '0'..='9')))
        && !script.contains('\n')
}

/// An address of numbers, and `p`, `d`, `q` or `=`.
fn is_plain_command(command: &str) -> bool {
    let action =
        command.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '+' | '~'));
    matches!(action, "p" | "d" | "q" | "=" | "" | "!d" | "!p")
}
