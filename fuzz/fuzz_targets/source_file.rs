//! Runs `stepwell_fuzz::source_file` with whatever the fuzzer thinks of.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stepwell_fuzz::source_file(bytes));
