//! Real debuggers and real programs: the same questions to each.
//!
//! Adapters that must be installed are looked for on the machine and in the folder that `STEPWELL_TEST_ADAPTERS` names.

// Helpers of tests are test code too, and the tests are about processes and files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unused_self,
    reason = "tests"
)]

mod breakpoints;
mod lab;
mod life;
mod looking;

use lab::Language;
use stepwell_debug::adapters::AdapterKind;

/// Every check with every debugger and a language it knows.
macro_rules! debuggers {
    ($($name:ident: $kind:ident $language:ident,)*) => {$(
        mod $name {
            use super::*;

            const KIND: AdapterKind = AdapterKind::$kind;
            const LANGUAGE: Language = Language::$language;

            #[tokio::test]
            async fn breakpoint_dialects_are_equal() {
                breakpoints::dialects(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_step_over_a_counted_breakpoint_is_one_step() {
                breakpoints::steps_over_counted(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_stopped_program_is_looked_into() {
                looking::everything(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_failure_stops_where_it_happens() {
                looking::failure(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_program_is_paused_and_killed() {
                life::pause_and_kill(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn output_and_exit_code_are_told() {
                life::output_and_exit(KIND, LANGUAGE).await;
            }
        }
    )*};
}

debuggers! {
    debugpy: Debugpy Python,
    lldb_dap_c: LldbDap C,
    lldb_dap_cpp: LldbDap Cpp,
    lldb_dap_rust: LldbDap Rust,
    codelldb_c: CodeLldb C,
    codelldb_rust: CodeLldb Rust,
    gdb_c: Gdb C,
    gdb_rust: Gdb Rust,
    delve: Delve Go,
    js_debug: JsDebug JavaScript,
}

/// Attaching, apart from the rest: js-debug 1.112 attaches to a Node that runs already and then neither pauses it nor binds
/// anything in it, so it is not in this list.
macro_rules! attaching {
    ($($name:ident: $kind:ident $language:ident,)*) => {$(
        #[tokio::test]
        async fn $name() {
            life::attach(AdapterKind::$kind, Language::$language).await;
        }
    )*};
}

attaching! {
    debugpy_attaches_and_the_program_survives: Debugpy Python,
    lldb_dap_attaches_to_c_and_it_survives: LldbDap C,
    lldb_dap_attaches_to_cpp_and_it_survives: LldbDap Cpp,
    lldb_dap_attaches_to_rust_and_it_survives: LldbDap Rust,
    codelldb_attaches_to_c_and_it_survives: CodeLldb C,
    codelldb_attaches_to_rust_and_it_survives: CodeLldb Rust,
    gdb_attaches_to_c_and_it_survives: Gdb C,
    gdb_attaches_to_rust_and_it_survives: Gdb Rust,
    delve_attaches_and_the_program_survives: Delve Go,
}
