//! Attacks on the writing tools by their number, each with a harmless twin, through the executor; and what an edit must
//! keep.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use stepwell_workspace::files;

use crate::bench::{Bench, free};

/// A workspace with a folder beside it that must stay as it is.
fn with_outside() -> Bench {
    let bench = free();
    files::create_private_dir(&bench.folder.path().join("out")).expect("made");
    files::write_atomic(&bench.folder.path().join("out/canary.txt"), b"TOKEN a\n", files::Privacy::Shared)
        .expect("written");
    bench
}

fn outside(bench: &Bench) -> Vec<(String, String)> {
    let listed = files::list_dir(&bench.folder.path().join("out")).expect("listed");
    listed
        .iter()
        .map(|path| {
            (
                path.file_name().expect("name").to_string_lossy().into_owned(),
                files::read_to_string(path).expect("text"),
            )
        })
        .collect()
}

async fn succeeds(bench: &Bench, tool: &str, arguments: Value) -> bool {
    bench.call(tool, arguments).await.result.is_success()
}

/// Calls of every writing tool that would put text into a file.
fn writes(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write", json!({"file_path": path, "content": "x\n", "overwrite": true})),
        ("insert", json!({"file_path": path, "line": 0, "content": "x\n"})),
        ("edit", json!({"file_path": path, "old_str": "a", "new_str": "b"})),
        (
            "apply_diff",
            json!({"file_path": path, "diff": "<<<<<<< SEARCH\nTOKEN a\n=======\nTOKEN b\n>>>>>>> REPLACE"}),
        ),
        ("batch_edit", json!({"edits": [{"file_path": path, "old_str": "a", "new_str": "b"}]})),
        (
            "patch",
            json!({"patch_content": format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch")}),
        ),
        (
            "patch",
            json!({"patch_content": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-TOKEN a\n+TOKEN b\n")}),
        ),
        (
            "patch",
            json!({"patch_content": format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch")}),
        ),
        ("preview_edit", json!({"file_path": path, "old_str": "a", "new_str": "b"})),
    ]
}

#[tokio::test]
async fn p05_and_p07_links_out_are_not_written_through() {
    let bench = with_outside();
    let before = outside(&bench);
    let out = bench.folder.path().join("out");
    for (target, link) in [
        (out.clone(), "vendor"),
        (out.join("a/b"), "d"),
        (out.join("canary.txt"), "file"),
        (out.join("new.txt"), "dangling"),
        ("../out".into(), "relative"),
    ] {
        symlink(target, bench.path(link)).expect("linked");
    }
    for path in
        ["vendor/new.txt", "vendor/canary.txt", "d/c.txt", "d", "file", "dangling", "relative/canary.txt"]
    {
        for (tool, arguments) in writes(path) {
            let result = bench.call(tool, arguments).await.result;
            assert!(!result.is_success(), "{tool} {path}: {}", result.output);
            assert!(!result.output.contains("TOKEN"), "{tool} {path}: {}", result.output);
        }
    }
    let moved =
        "*** Begin Patch\n*** Update File: mine.txt\n*** Move to: vendor/mine.txt\n-a\n+b\n*** End Patch";
    bench.put("mine.txt", b"a\n");
    assert!(!succeeds(&bench, "patch", json!({"patch_content": moved})).await);
    assert_eq!(bench.content("mine.txt"), "a\n");
    assert_eq!(outside(&bench), before);
    // The twins: links that stay inside, and folders that do not exist yet.
    bench.put("real/x.txt", b"TOKEN a\n");
    symlink("real", bench.path("inside")).expect("linked");
    symlink("real/x.txt", bench.path("inside.txt")).expect("linked");
    assert!(succeeds(&bench, "write", json!({"file_path": "inside/new.txt", "content": "x\n"})).await);
    assert!(
        succeeds(&bench, "edit", json!({"file_path": "inside.txt", "old_str": "a", "new_str": "b"})).await
    );
    assert!(succeeds(&bench, "write", json!({"file_path": "deep/er/new.txt", "content": "x\n"})).await);
    assert_eq!(bench.content("real/x.txt"), "TOKEN b\n");
    assert!(bench.path("inside.txt").is_symlink() && bench.path("real/new.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p08_a_file_that_is_swapped_for_a_link_leads_nowhere() {
    const SWAPS: usize = 10_000;
    let bench = with_outside();
    let before = outside(&bench);
    let (path, canary) = (bench.path("x"), bench.folder.path().join("out/canary.txt"));
    bench.put("x", b"a\n");
    bench.put("twin", b"a\n");
    let done = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let done = Arc::clone(&done);
        move || {
            let (file, link) = (path.with_file_name("x.file"), path.with_file_name("x.link"));
            for _ in 0..SWAPS {
                symlink(&canary, &link).expect("linked");
                files::rename(&link, &path).expect("swapped");
                files::write_atomic(&file, b"a\n", files::Privacy::Shared).expect("written");
                files::rename(&file, &path).expect("swapped");
            }
            done.store(true, Ordering::Release);
        }
    });
    let mut calls = 0;
    while !done.load(Ordering::Acquire) || calls == 0 {
        for (old, new) in [("a", "b"), ("b", "a")] {
            let result =
                bench.call("edit", json!({"file_path": "x", "old_str": old, "new_str": new})).await.result;
            assert!(!result.output.contains("TOKEN"), "{}", result.output);
        }
        bench.call("write", json!({"file_path": "x", "content": "b\n", "overwrite": true})).await;
        let read = bench.call("read", json!({"file_path": "x"})).await.result;
        assert!(!read.output.contains("TOKEN"), "{}", read.output);
        assert!(succeeds(&bench, "insert", json!({"file_path": "twin", "line": 0, "content": "x"})).await);
        calls += 4;
    }
    swapper.join().expect("swapped");
    println!("{calls} calls during {SWAPS} swaps: 0 outside reads, 0 outside writes");
    assert_eq!(outside(&bench), before);
    // Nothing was left behind under a name that was never asked for.
    let names: Vec<_> = files::list_dir(&bench.path("")).expect("listed");
    let names: Vec<_> =
        names.iter().map(|path| path.file_name().expect("name").to_string_lossy().into_owned()).collect();
    assert_eq!(names, ["twin", "x"]);
}

#[tokio::test]
async fn p10_a_hard_link_is_replaced_and_not_written_through() {
    let bench = with_outside();
    let before = outside(&bench);
    for (tool, arguments) in writes("hl") {
        let link = bench.path("hl");
        if link.exists() {
            files::remove_file(&link).expect("removed");
        }
        files::link_or_copy(&bench.folder.path().join("out/canary.txt"), &link).expect("linked");
        assert_eq!(files::metadata(&link).expect("file").nlink(), 2, "the two are one file");
        bench.call("read", json!({"file_path": "hl"})).await;
        bench.call(tool, arguments).await;
        assert_eq!(outside(&bench), before, "{tool}");
    }
    bench.put("own", b"a\n");
    assert!(succeeds(&bench, "edit", json!({"file_path": "own", "old_str": "a", "new_str": "b"})).await);
}

#[tokio::test]
async fn p16_headers_of_a_patch_do_not_override_the_path() {
    let bench = with_outside();
    let before = outside(&bench);
    bench.put("a.txt", b"one\n");
    bench.put("b.txt", b"one\n");
    let names =
        ["../../out/x", "../out/canary.txt", "/etc/x", "b.txt", "sub/../../out/x", "\"../out/\\170\""];
    for name in names {
        let header = |old: &str, new: &str| format!("--- {old}\n+++ {new}\n@@ -0,0 +1 @@\n+pwn\n");
        let prefixed = (format!("a/{name}"), format!("b/{name}"));
        for patch in [
            header(&prefixed.0, &prefixed.1),
            header(name, name),
            header("/dev/null", name),
            header("a/a.txt", name),
            format!("diff --git a/a.txt b/{name}\nrename from a.txt\nrename to {name}\n"),
            format!("*** Begin Patch\n*** Add File: {name}\n+pwn\n*** End Patch"),
            format!("*** Begin Patch\n*** Update File: a.txt\n*** Move to: {name}\n-one\n+1\n*** End Patch"),
        ] {
            // Only git quotes names; elsewhere the quotes are part of an odd name in the workspace.
            if name.starts_with('"') && patch.starts_with("***") {
                continue;
            }
            let result =
                bench.call("patch", json!({"file_path": "a.txt", "patch_content": patch})).await.result;
            assert!(!result.is_success(), "{patch}: {}", result.output);
            if name != "b.txt" {
                let result = bench.call("patch", json!({"patch_content": patch})).await.result;
                assert!(!result.is_success(), "{patch}: {}", result.output);
            }
        }
    }
    assert_eq!(
        (outside(&bench), bench.content("a.txt").as_str(), bench.content("b.txt").as_str()),
        (before, "one\n", "one\n")
    );
    for header in ["--- a/a.txt\n+++ b/a.txt\n", "--- a.txt\n+++ a.txt\n", ""] {
        let patch = format!("{header}@@ -1 +1 @@\n-one\n+1\n");
        bench.put("a.txt", b"one\n");
        bench.call("read", json!({"file_path": "a.txt"})).await;
        assert!(succeeds(&bench, "patch", json!({"file_path": "a.txt", "patch_content": patch})).await);
        assert_eq!(bench.content("a.txt"), "1\n");
    }
}

#[tokio::test]
async fn r07_an_edit_keeps_all_other_bytes_and_what_surrounds_them() {
    let gbk: &[u8] = b"// \xc9\xe8\xd6\xc3\xb3\xac\xca\xb1\xca\xb1\xbc\xe4\xa3\xac\xb5\xa5\xce\xbb\xce\xaa\xc3\xeb\r\nint timeout = 30;\r\n";
    let utf16: Vec<u8> = [0xFEFF]
        .into_iter()
        .chain("h\u{e9}\r\ntimeout = 30\r\nend".encode_utf16())
        .flat_map(u16::to_be_bytes)
        .collect();
    let forms: Vec<(&str, Vec<u8>)> = vec![
        ("lf", b"one\ntimeout = 30\nend\n".to_vec()),
        ("crlf", b"one\r\ntimeout = 30\r\nend\r\n".to_vec()),
        ("cr", b"one\rtimeout = 30\rend\r".to_vec()),
        ("mixed", b"one\r\ntimeout = 30\nend\r\n".to_vec()),
        ("no end", b"one\ntimeout = 30".to_vec()),
        ("mark", b"\xEF\xBB\xBFone\r\ntimeout = 30\r\n".to_vec()),
        ("latin", b"caf\xe9 cr\xe8me\ntimeout = 30\n".to_vec()),
        ("gbk", gbk.to_vec()),
        ("utf16", utf16),
    ];
    for (name, bytes) in forms {
        let wide = name == "utf16";
        let text = |text: &str| -> Vec<u8> {
            if wide {
                text.encode_utf16().flat_map(u16::to_be_bytes).collect()
            } else {
                text.as_bytes().to_vec()
            }
        };
        let (old, new) = (text("timeout = 30"), text("timeout = 60"));
        let at = bytes.windows(old.len()).position(|window| window == old).expect("there");
        let expected = [&bytes[..at], &new, &bytes[at + old.len()..]].concat();
        let edits: Vec<(&str, Value)> = vec![
            ("edit", json!({"file_path": "f", "old_str": "timeout = 30", "new_str": "timeout = 60"})),
            (
                "edit",
                json!({"file_path": "f", "old_str": "timeout = \\d+", "new_str": "timeout = 60", "use_regex": true}),
            ),
            ("batch_edit", json!({"edits": [{"file_path": "f", "old_str": "30", "new_str": "60"}]})),
        ];
        let is_c = name == "gbk";
        let line = if is_c { "int timeout = 30;" } else { "timeout = 30" };
        let changed = line.replace("30", "60");
        let blocks: Vec<(&str, Value)> = vec![
            (
                "apply_diff",
                json!({"file_path": "f", "diff": format!("<<<<<<< SEARCH\n{line}\n=======\n{changed}\n>>>>>>> REPLACE")}),
            ),
            (
                "patch",
                json!({"file_path": "f", "patch_content": format!("@@ -2 +2 @@\n-{line}\n+{changed}\n")}),
            ),
        ];
        for (tool, arguments) in edits.into_iter().chain(blocks) {
            let bench = free();
            bench.put("f", &bytes);
            let path = bench.path("f");
            set_mode(&path, 0o755);
            let result = bench.call(tool, arguments).await.result;
            assert!(result.is_success(), "{name} {tool}: {}", result.output);
            let stored = files::read(&path).expect("read");
            // In a file of mixed line ends the changed line gets the end that most lines have.
            if !(name == "mixed" && (tool == "apply_diff" || tool == "patch")) {
                assert_eq!(stored, expected, "{name} {tool}");
            }
            assert_eq!(
                files::metadata(&path).expect("file").permissions().mode() & 0o777,
                0o755,
                "{name} {tool}"
            );
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a test prepares the file system")]
fn set_mode(path: &std::path::Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("mode");
}

#[tokio::test]
async fn what_an_encoding_cannot_hold_is_refused() {
    let bench = free();
    bench.put("latin", b"caf\xe9\n");
    let result = bench
        .call("edit", json!({"file_path": "latin", "old_str": "caf\u{e9}", "new_str": "\u{6570}"}))
        .await
        .result;
    assert!(result.output.contains("which has no `\u{6570}`"), "{}", result.output);
    assert_eq!(files::read(&bench.path("latin")).expect("read"), b"caf\xe9\n");
    assert!(
        succeeds(
            &bench,
            "edit",
            json!({"file_path": "latin", "old_str": "caf\u{e9}", "new_str": "th\u{e9}"})
        )
        .await
    );
    assert_eq!(files::read(&bench.path("latin")).expect("read"), b"th\xe9\n");
}
