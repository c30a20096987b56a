//! The binary by its command line: exit code, standard output, standard error, files left behind.

// Helpers of tests are test code too, and the tests are about processes and files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests"
)]

mod adapters;
mod attacks;
mod checkpoints;
mod chinese;
mod config;
mod crash;
mod debug_faults;
mod debug_kills;
mod debug_sandbox;
mod demo;
mod disk;
mod documents;
mod edit_kills;
mod embeddings;
mod error_table;
mod errors;
mod folders;
mod forgiving;
mod help;
mod hooks;
mod index;
mod interrupt;
mod language_servers;
mod logs;
mod mcp;
mod mcp_client;
mod mentions;
mod modes;
mod on_terminal;
mod permissions;
mod plans;
mod prompt;
mod replay;
mod run;
mod run_input;
mod run_options;
mod sandbox;
mod scip;
mod screens;
mod serve;
mod served;
mod skills;
mod small_window;
mod subagents;
mod tasks;
mod tool;
mod why;
mod why_node;
mod why_oracle;
mod why_table;
mod workspaces;
mod world;
