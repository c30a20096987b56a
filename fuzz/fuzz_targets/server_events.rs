//! Runs `stepwell_fuzz::server_events` with whatever the fuzzer thinks of.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stepwell_fuzz::server_events(bytes));
