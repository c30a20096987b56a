//! Each fuzz target for a moment: random bytes and random pieces of what it reads, from fixed seeds. `FUZZ_CASES` makes
//! the moment longer. The targets read the events of `stepwell_net`, frames, patterns, command lines and settings of editors.

#[path = "../../../../fuzz/src/lib.rs"]
mod targets;

/// A small generator whose numbers are the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// Pieces and bytes, in any order, some of them again and again.
    fn text(&mut self, pieces: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..self.below(60) {
            match self.below(8) {
                0 => bytes.push(self.below(256) as u8),
                1 => {
                    let piece = pieces[self.below(pieces.len())];
                    for _ in 0..self.below(300) {
                        bytes.extend_from_slice(piece.as_bytes());
                    }
                }
                _ => bytes.extend_from_slice(pieces[self.below(pieces.len())].as_bytes()),
            }
        }
        bytes
    }
}

fn run(seed: u64, pieces: &[&str], target: impl Fn(&[u8])) {
    let cases = std::env::var("FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
    let mut random = Random(seed);
    for _ in 0..cases {
        target(&random.text(pieces));
    }
    // Depth by itself.
    for piece in pieces {
        target(piece.repeat(20_000).as_bytes());
    }
}

#[test]
fn shell_lines_are_read() {
    let pieces = [
        "$(",
        ")",
        "(",
        "`",
        "\"",
        "'",
        "\\",
        "\n",
        " ",
        ";",
        "&",
        "|",
        "<<E\n",
        "\nE\n",
        "${",
        "}",
        "{ ",
        "((",
        "))",
        "[[ ",
        " ]]",
        "if ",
        "; then ",
        "; fi",
        "for x in ",
        "; do ",
        "; done",
        "case x in ",
        "esac",
        "coproc ",
        "declare -a x=",
        "read ",
        "PATH=",
        "${x:=",
        "${@:",
        "@P}",
        "{fd}>",
        "<(",
        "eval ",
        "git -c ",
    ];
    run(1, &pieces, targets::shell_line);
}

#[test]
fn globs_are_read() {
    run(
        2,
        &["{", "}", ",", "*", "**", "/", "?", "[", "]", "!", "\\", "a", "[a-", "[^", "\n", "#", "é"],
        targets::glob,
    );
}

#[test]
fn files_of_editors_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "//",
        "/*",
        "*/",
        "\n",
        "null",
        "1e9",
        "\\u0000",
        "\"configurations\":[",
        "{\"name\":\"a\",\"type\":\"python\",\"request\":\"launch\"}",
        "${input:",
        "\u{feff}",
        "\"version\"",
    ];
    run(3, &pieces, |bytes| targets::launch_json(bytes, folder.path()));
}

#[test]
fn messages_of_adapters_are_read() {
    let pieces = [
        "Content-Length: ",
        "\r\n",
        "\r\n\r\n",
        "5",
        "0",
        "-1",
        "9999999999999999999",
        "{}",
        "{\"seq\":1}",
        "\n",
        ":",
        "Content-Type: x\r\n",
        "[",
    ];
    run(4, &pieces, targets::dap_frames);
}

#[test]
fn streams_of_servers_are_read() {
    run(
        5,
        &["data: ", "event: ", "id: ", "retry: ", "\n", "\r", "\r\n", "\n\n", ":", "\u{feff}", "x"],
        targets::server_events,
    );
}

#[test]
fn patches_are_read() {
    let pieces = [
        "--- a/x\n",
        "+++ b/x\n",
        "@@ -1,1 +1,1 @@\n",
        "@@ -99999999999999999999 +1 @@\n",
        "+",
        "-",
        " ",
        "\n",
        "*** Begin Patch\n",
        "*** End Patch\n",
        "*** Update File: x\n",
        "*** Add File: y\n",
        "*** Delete File: z\n",
        "@@\n",
        "\\ No newline at end of file\n",
        "diff --git a/x b/x\n",
        "rename from x\n",
        "/dev/null",
        "x",
    ];
    run(6, &pieces, targets::patch);
}

#[test]
fn settings_of_repositories_are_read() {
    run(
        7,
        &["[", "]", "\"", "\\", "\n", "=", "core", ".", "fsmonitor", "diff \"x\"", "#", ";", " "],
        targets::git_settings,
    );
}

#[test]
fn patterns_of_searches_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let pieces = [
        "(", ")", "[", "]", "{1000}", "{", "}", "*", "+", "?", "|", "^", "$", "\\p{L}", "\\b", "(?i)",
        "(?P<n>", "a", "\n", "é", ".",
    ];
    run(8, &pieces, |bytes| targets::search_pattern(bytes, folder.path()));
}

#[test]
fn editorconfigs_are_read() {
    let pieces = [
        "[",
        "]",
        "{",
        "}",
        "*",
        "**",
        ",",
        "..",
        "=",
        "root = true\n",
        "end_of_line = crlf\n",
        "\n",
        "#",
        ";",
        "é",
        "[*.rs]\n",
        "{1..9}",
        "!",
        "?",
    ];
    run(9, &pieces, targets::editorconfig);
}

#[test]
fn source_files_are_read() {
    let pieces = [
        "\0",
        "\u{1}",
        "\u{5}",
        "\u{9}",
        "\u{e}",
        "key: ",
        "- ",
        "&a ",
        "*a",
        "[table]\n",
        "x = 1\n",
        "{\"a\": [",
        "]}",
        "\"\"\"",
        "fn f() {",
        "class A:",
        "\n",
        "  ",
        "(",
        ")",
        "//",
        "/*",
        "é",
    ];
    run(10, &pieces, targets::source_file);
}
