//! Every check with every debugger and a language it knows.

use stepwell_debug::adapters::AdapterKind;

use crate::lab::Language;
use crate::{autoload, breakpoints, inspect, lifecycle};

/// Declares the checks of each debugger.
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
                inspect::everything(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn memory_is_looked_at_where_the_debugger_can() {
                inspect::memory(KIND, LANGUAGE).await;
            }

            /// D08.
            #[tokio::test]
            async fn scripts_beside_a_program_do_not_run() {
                autoload::scripts_do_not_run(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_failure_stops_where_it_happens() {
                inspect::failure(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_program_is_paused_and_killed() {
                lifecycle::pause_and_kill(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_running_program_is_attached_to_and_survives() {
                lifecycle::attach(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_program_is_started_again() {
                lifecycle::restart(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn threads_are_told_apart() {
                lifecycle::threads(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_child_process_is_debugged_or_runs() {
                lifecycle::child_process(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn a_program_reads_what_is_typed() {
                lifecycle::input(KIND, LANGUAGE).await;
            }

            #[tokio::test]
            async fn output_and_exit_code_are_told() {
                lifecycle::output_and_exit(KIND, LANGUAGE).await;
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
    node: Node JavaScript,
}
