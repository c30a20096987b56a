//! What is fuzzed: each function gets bytes that a repository, a model, a server or a debug adapter could send, and must
//! neither panic nor take for ever. The targets in `fuzz_targets` run them for as long as one likes; a test of the tools
//! runs each for a moment.

use std::path::Path;

use stepwell_code_intel::facts;
use stepwell_code_intel::languages::Language;
use stepwell_debug::launch_config::LaunchFile;
use stepwell_net::{EventTooLong, SseParser};
use stepwell_tool_runtime::shell;
use stepwell_workspace::Workspace;
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::frames::{Frame, FrameReader};
use stepwell_workspace::search::{TextQuery, WalkRules};
use stepwell_workspace::{git, patterns};

/// A command line of a model.
pub fn shell_line(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let analysis = shell::analyse(&text);
    assert!(!analysis.is_read_only() || analysis.opaque().is_none());
}

/// A pattern of a model, and the lines of an ignore file.
pub fn glob(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(matcher) = patterns::glob(&text) {
        matcher.is_match("src/main.rs");
    }
    patterns::rules(Path::new("/"), &text).matched("src/main.rs", false);
}

/// JSON with comments, as the files of an editor hold it: `launch.json`, `tasks.json` and `settings.json` in a folder.
pub fn launch_json(bytes: &[u8], folder: &Path) {
    let settings = folder.join(".vscode");
    files::create_private_dir(&settings).expect("a folder");
    for name in ["launch.json", "tasks.json", "settings.json"] {
        files::write_atomic(&settings.join(name), bytes, Privacy::Private).expect("a file");
    }
    if let Ok(file) = LaunchFile::read(folder) {
        file.names();
    }
}

/// The messages of a debug adapter.
pub fn dap_frames(bytes: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut reader = FrameReader::new(bytes);
        while let Ok(frame) = reader.next().await {
            if let Frame::Whole(body) = frame {
                serde_json::from_slice::<serde_json::Value>(body).ok();
            }
        }
    });
}

/// The stream of a model's server, in pieces of any size.
pub fn server_events(bytes: &[u8]) {
    let mut parser = SseParser::new(4096);
    let piece = usize::from(bytes.first().copied().unwrap_or(1)).max(1);
    for chunk in bytes.chunks(piece) {
        if parser.feed::<EventTooLong>(chunk, |_| Ok(())).is_err() {
            return;
        }
    }
    parser.finish::<EventTooLong>(|_| Ok(())).ok();
}

/// A patch of a model.
pub fn patch(bytes: &[u8]) {
    stepwell_tools::patched_paths(&String::from_utf8_lossy(bytes)).ok();
}

/// The settings of a repository.
pub fn git_settings(bytes: &[u8]) {
    git::running_key(&String::from_utf8_lossy(bytes));
}

/// A regular expression of a model: its first line is the pattern, the rest is the file that is searched.
pub fn search_pattern(bytes: &[u8], folder: &Path) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, content) = text.split_once('\n').unwrap_or((&text, "aaaa"));
    files::write_atomic(&folder.join("a.txt"), content.as_bytes(), Privacy::Private).expect("a file");
    let workspace = Workspace::open(folder, &[]).expect("a workspace");
    let place = workspace.place(".").expect("the folder");
    for multiline in [false, true] {
        let query = TextQuery { pattern: pattern.to_owned(), multiline, ..TextQuery::default() };
        workspace.search_text(&place, &query, &WalkRules::default(), &|| false).ok();
    }
}

/// The `.editorconfig` of a repository.
pub fn editorconfig(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for path in ["a.rs", "src/deep/name.with.dots", "Makefile"] {
        stepwell_tools::end_of_line(&text, Path::new(path));
    }
}

/// A source file in every language that is read: YAML, TOML and JSON among them.
pub fn source_file(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(which) = bytes.first() else { return };
    let count = Language::all().count();
    if let Some(language) = Language::all().nth(usize::from(*which) % count)
        && let Ok(found) = facts::read(language, &text)
    {
        assert!(found.definitions.iter().all(|one| one.span.end as usize <= text.len()));
    }
}
