//! Looks inside running programs through real debuggers.
//!
//! `dap` speaks the Debug Adapter Protocol, `adapters` knows each debugger's ways, `launch_config` reads what VS Code
//! reads.

pub mod launch_config;
