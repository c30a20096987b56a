//! Lists the files of the built page (`web/dist`), so that they become part of the binary. Needs no npm: without the
//! folder the list is empty, and the server says how to build the page.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a build script")]

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../web/dist");
    // A path that does not exist counts as changed every time; its parent is watched instead.
    let watched = root.ancestors().find(|folder| folder.exists()).unwrap_or(&root);
    println!("cargo::rerun-if-changed={}", watched.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort();
    let mut list = String::from("&[\n");
    for (name, path) in &files {
        let mut hasher = DefaultHasher::new();
        std::fs::read(path).unwrap().hash(&mut hasher);
        writeln!(
            list,
            "    Asset {{ path: {name:?}, bytes: include_bytes!({path:?}), etag: \"\\\"{:016x}\\\"\" }},",
            hasher.finish()
        )
        .unwrap();
    }
    list.push(']');
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap()).join("assets.rs");
    std::fs::write(out, list).unwrap();
}

/// Every file below `folder`, under its path relative to `root`.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.push((name, path.canonicalize().unwrap().to_str().unwrap().to_owned()));
        }
    }
}
