//! Runs `stepwell_fuzz::editorconfig` with whatever the fuzzer thinks of.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stepwell_fuzz::editorconfig(bytes));
