//! Runs `stepwell_fuzz::search_pattern` with whatever the fuzzer thinks of.
#![no_main]

use std::sync::LazyLock;

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stepwell_fuzz::search_pattern(bytes, FOLDER.path()));
