//! Exports into the task's folder and imports into the workspace, archives of attackers included.

use std::io::Write as _;
use std::sync::Arc;

use serde_json::json;
use stepwell_protocol::PermissionMode;
use stepwell_tool_runtime::Redactor;
use stepwell_workspace::files;

use crate::bench::{bench_around, free};

#[tokio::test]
async fn exported_files_are_kept_with_hash_type_and_size() {
    let mut bench = free();
    bench.env.redactor = Arc::new(Redactor::with_secrets([("KEY".to_owned(), "hunter2-hunter2".to_owned())]));
    bench.put("out/report.md", b"# Report\nkey hunter2-hunter2\n");
    bench.put("out/logo.png", b"\x89PNG\r\n\x1a\n\xff");
    let one =
        bench.call("export_artifact", json!({"file_path": "out/report.md", "artifact_name": "Report"})).await;
    assert_eq!(one.result.artifacts[0].label, "Report");
    let kept = files::read_to_string(one.result.artifacts[0].path.as_ref()).expect("kept");
    assert_eq!(kept, "# Report\nkey [redacted:KEY]\n");
    let both =
        bench.call("batch_export_artifacts", json!({"file_paths": ["out/logo.png", "out/report.md"]})).await;
    assert_eq!(both.result.artifacts.len(), 2);
    let listed = bench.call("list_artifacts", json!({})).await;
    let data = listed.output.expect("data");
    assert_eq!(data["artifacts"].as_array().map(Vec::len), Some(3));
    assert_eq!(data["artifacts"][1]["media_type"], "image/png");
    assert_eq!(data["artifacts"][0]["sha256"].as_str().map(str::len), Some(64));
    // All or none.
    let none = bench.call("batch_export_artifacts", json!({"file_paths": ["out/logo.png", "missing"]})).await;
    assert!(none.result.error.is_some());
    assert!(bench.call("list_artifacts", json!({})).await.result.output.lines().count() == 3);
    for path in ["../outside", "/etc/passwd"] {
        let outside = bench.call("export_artifact", json!({"file_path": path})).await.result;
        assert!(outside.error.is_some(), "{}", outside.output);
    }
}

/// Packs entries into a zip file; `mode` holds the kind of each.
fn zipped(entries: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, mode, content) in entries {
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .unix_permissions(mode & 0o777);
        if mode & 0o170_000 == 0o120_000 {
            archive.add_symlink(*name, String::from_utf8_lossy(content), options).expect("added");
        } else {
            archive.start_file(*name, options).expect("begun");
            archive.write_all(content).expect("written");
        }
    }
    archive.finish().expect("packed").into_inner()
}

#[tokio::test]
async fn archives_are_unpacked_without_what_steers_tools() {
    let bench = free();
    let good = zipped(&[
        ("a/b.txt", 0o644, b"b"),
        ("run.sh", 0o755, b"#!/bin/sh\n"),
        (".vscode/tasks.json", 0o644, b"{}"),
    ]);
    bench.put("good.zip", &good);
    let text = bench
        .call("import_file", json!({"source_url": "good.zip", "dest_path": "new", "extract": true}))
        .await
        .result
        .output;
    assert!(
        text.contains("unpacked 2 files") && text.contains("left out what steers tools: .vscode/tasks.json"),
        "{text}"
    );
    assert_eq!(bench.content("new/a/b.txt"), "b");
    assert!(!bench.path("new/.vscode").exists());
    let again = bench
        .call("import_file", json!({"source_url": "good.zip", "dest_path": "new", "extract": true}))
        .await
        .result;
    assert!(again.output.contains("exists; `overwrite` replaces it"), "{}", again.output);
    bench.shell("tar czf good.tar.gz new").await;
    let tar = bench
        .call(
            "import_files_batch",
            json!({"files": [
                {"source_url": "good.tar.gz", "dest_path": "more", "extract": true},
                {"source_url": "new/a/b.txt", "dest_path": "copy.txt"},
            ]}),
        )
        .await
        .result
        .output;
    assert!(tar.contains("unpacked 2 files") && tar.contains("wrote `copy.txt`"), "{tar}");
}

/// P19: members of an archive that lead out, links and bombs are refused, and nothing is left behind.
#[tokio::test]
async fn p19_imported_archives_cannot_leave_their_folder() {
    let bench = free();
    let zeros = vec![0; 8 << 20];
    let bomb: Vec<(String, u32, &[u8])> =
        (0..70).map(|at| (format!("f{at}"), 0o644, zeros.as_slice())).collect();
    let bomb: Vec<(&str, u32, &[u8])> =
        bomb.iter().map(|(name, mode, content)| (name.as_str(), *mode, *content)).collect();
    let archives: [(&str, Vec<u8>); 6] = [
        ("dots.zip", zipped(&[("fine.txt", 0o644, b"x"), ("../../pwn", 0o644, b"x")])),
        ("absolute.zip", zipped(&[("/tmp/stepwell-pwn", 0o644, b"x")])),
        ("link.zip", zipped(&[("link", 0o120_777, b"/etc"), ("link/pwn", 0o644, b"x")])),
        ("backslash.zip", zipped(&[("..\\..\\pwn", 0o644, b"x")])),
        ("bomb.zip", zipped(&bomb)),
        ("no.zip", b"PK\x03\x04 is no archive".to_vec()),
    ];
    for (name, content) in &archives {
        bench.put(name, content);
        let call = json!({"source_url": name, "dest_path": "into", "extract": true});
        let result = bench.call("import_file", call).await.result;
        assert!(result.error.is_some(), "{name}: {}", result.output);
        assert!(!bench.path("into").exists(), "{name} left something");
    }
    bench.shell("mkdir t; ln -s /etc t/link; tar czf link.tar.gz t; rm -r t; mkfifo pipe; tar czf pipe.tar.gz pipe").await;
    for name in ["link.tar.gz", "pipe.tar.gz"] {
        let result = bench
            .call("import_file", json!({"source_url": name, "dest_path": "into", "extract": true}))
            .await
            .result;
        assert!(result.output.contains("is neither a file nor a folder"), "{}", result.output);
    }
    let left = files::list_dir(&bench.host.artifacts).expect("listed");
    assert!(left.iter().all(|path| !path.display().to_string().contains("import-")), "{left:?}");
    assert!(!std::path::Path::new("/tmp/stepwell-pwn").exists());
}

#[tokio::test]
async fn imports_stay_in_the_workspace_and_away_from_hidden_files() {
    let ignore = [(".stepwellignore", "secret/\n")];
    let bench = bench_around(PermissionMode::BypassPermissions, &ignore, |_| {});
    bench.put("a.txt", b"a");
    for (source, dest) in [
        ("/etc/passwd", "b.txt"),
        ("a.txt", "../b.txt"),
        ("a.txt", "secret/b.txt"),
        ("file:///etc/passwd", "b.txt"),
        ("http://127.0.0.1:1/x", "b.txt"),
    ] {
        let result = bench.call("import_file", json!({"source_url": source, "dest_path": dest})).await.result;
        assert!(result.error.is_some(), "{source} {dest}: {}", result.output);
    }
    assert!(!bench.path("b.txt").exists());
}
