//! Runs `stepwell_fuzz::shell_line` with whatever the fuzzer thinks of.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stepwell_fuzz::shell_line(bytes));
