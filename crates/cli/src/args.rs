//! The command line, as clap reads it.

mod env;
mod index;
mod mcp;
mod plan;
mod run;
mod serve;
mod skills;
mod tasks;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use stepwell_protocol::PermissionMode;

pub use env::EnvCommand;
pub use index::{CallsArg, GraphArg, IndexArgs, IndexCommand, IndexTarget, SourceArg};
pub use mcp::{
    ALL_TOOLS, McpAddArgs, McpArgs, McpClient, McpCommand, McpConfigArgs, McpScope, McpServeArgs, McpTools,
};
pub use plan::{PlanCommand, PlanTask};
pub use run::{EffortArg, InputFormat, OutputFormat, RunArgs};
pub use serve::{ServeArgs, ServeAt, ServeCommand, WebArgs};
pub use skills::{CommandsCommand, SkillLocation, SkillsCommand};
pub use tasks::{EvidenceFormat, ExportFormat, TaskSort, TasksCommand, TasksListArgs};

const EXIT_CODES: &str = "Exit codes:\n  \
    0    done\n  \
    1    failed\n  \
    2    the command line or the settings are wrong\n  \
    3    an approval was needed that the policy refused\n  \
    4    the budget or the turns are used up\n  \
    5    the answer does not fit --output-schema\n  \
    130  interrupted";

/// An AI coding agent that looks inside running programs before it changes them.
#[derive(Debug, Parser)]
#[command(name = "stepwell", version, propagate_version = true, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    /// Report progress on standard error; repeat for more detail (-v info, -vv debug, -vvv trace)
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Set one setting, such as `max_turns=5` or `sandbox.enabled=false`, over all files (may be given several times)
    #[arg(short = 'c', long = "config", value_name = "KEY=VALUE", global = true)]
    pub config: Vec<String>,
    #[command(subcommand)]
    pub door: Door,
}

#[derive(Debug, Subcommand)]
pub enum Door {
    /// Work on a request without a terminal UI, then exit
    #[command(after_help = EXIT_CODES)]
    Run(Box<RunArgs>),
    /// Look at, search, export and import tasks
    #[command(subcommand)]
    Tasks(TasksCommand),
    /// List the tools, or call one by hand
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Serve the tools to an MCP client: Claude Code, Codex, Cursor, VS Code and others
    Mcp(Box<McpArgs>),
    /// Serve the agent to browsers and programs on this machine: a page, a WebSocket and an HTTP API
    Serve(Box<ServeArgs>),
    /// Open the page in a browser, and start the server where none runs
    Web(Box<WebArgs>),
    /// Take back what the agent changed last
    Undo(UndoArgs),
    /// Take back the last undo or restore
    Redo(RedoArgs),
    /// See what the agent changed, and go back to before it
    #[command(subcommand)]
    Checkpoints(CheckpointsCommand),
    /// Try what is allowed, and list the rules
    #[command(subcommand)]
    Permissions(PermissionsCommand),
    /// List the modes the agent can work in, and what each may do
    #[command(subcommand)]
    Modes(ModesCommand),
    /// List the sub-agents that can be given work, and what each may do
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// Look at the plan of a task, approve it or edit it
    #[command(subcommand)]
    Plan(PlanCommand),
    /// List the commands that are run as `/NAME` in a request
    #[command(subcommand)]
    Commands(CommandsCommand),
    /// List, check and install skills
    #[command(subcommand)]
    Skills(SkillsCommand),
    /// List the models that can be reached
    Models(ModelsArgs),
    /// Check keys, servers and the machine
    Doctor(DoctorArgs),
    /// Run a failing command under its debugger and tell why it fails (no model, no network)
    Why(WhyArgs),
    /// Find, check and install the debuggers that programs are looked into with
    #[command(subcommand)]
    Adapters(AdaptersCommand),
    /// Watch the agent fix a program from a recorded model: no key, no network
    Demo(DemoArgs),
    /// Run a command as the agent's commands run: confined
    #[command(subcommand)]
    Sandbox(SandboxCommand),
    /// Ask where things are defined, used and called in this folder's code
    Index(IndexArgs),
    /// Keep variables for the agent's commands, such as keys: encrypted, never shown to a model
    #[command(subcommand)]
    Env(EnvCommand),
    /// Show and change the settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print a shell completion script
    Completions { shell: clap_complete::Shell },
    /// Print the manual page of Stepwell or of one of its commands
    Man {
        /// The command, such as `run` or `tasks list`
        command: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum ModesCommand {
    /// List the modes of this folder
    List {
        #[arg(long)]
        json: bool,
    },
    /// Show one mode: its role, its instructions and what it may do
    Show {
        /// The mode, such as `architect`
        mode: String,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// List the sub-agents of this folder
    List {
        #[arg(long)]
        json: bool,
    },
    /// Show one sub-agent: its prompt, its tools and its limits
    Show {
        /// The sub-agent, such as `debugger`
        agent: String,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// How many of the agent's changes to take back
    #[arg(default_value_t = 1, value_name = "N")]
    pub count: usize,
    #[command(flatten)]
    pub how: RedoArgs,
}

#[derive(Debug, Args)]
pub struct RedoArgs {
    /// Show what would be done, and do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Also restore files that somebody else has changed since
    #[arg(long)]
    pub force: bool,
    #[arg(long)]
    pub json: bool,
    /// The folder the agent worked in
    #[arg(short = 'C', long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum CheckpointsCommand {
    /// List the checkpoints of this folder, the newest last
    #[command(visible_alias = "ls")]
    List {
        #[arg(long, default_value_t = 30, value_name = "N")]
        limit: usize,
        #[arg(long)]
        json: bool,
    },
    /// Show what changed in the call a checkpoint was made for
    Diff {
        checkpoint: u64,
        /// Only these files or folders
        paths: Vec<PathBuf>,
        /// Everything the agent changed from that checkpoint until now
        #[arg(long)]
        since: bool,
    },
    /// Go back to the state before the call a checkpoint was made for
    Restore(RestoreArgs),
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    pub checkpoint: u64,
    /// What goes back
    #[arg(long, value_enum, default_value_t = RestoreWhat::Files)]
    pub what: RestoreWhat,
    /// Only this file or folder (may be given several times)
    #[arg(long, value_name = "PATH")]
    pub path: Vec<PathBuf>,
    /// Only this hunk of the one --path, from 1 (may be given several times)
    #[arg(long, value_name = "N")]
    pub hunk: Vec<usize>,
    /// Also what others have changed since, not the agent alone
    #[arg(long)]
    pub all: bool,
    /// Also files that somebody else has changed after the agent
    #[arg(long)]
    pub force: bool,
    /// Show what would be done, and do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RestoreWhat {
    Files,
    /// The task goes on from before that call
    Conversation,
    Both,
}

#[derive(Debug, Subcommand)]
pub enum ToolCommand {
    /// List the tools
    List {
        #[arg(long)]
        json: bool,
    },
    /// Show what a tool takes and gives
    Show {
        name: String,
        #[arg(long)]
        json: bool,
    },
    /// Run one tool through the whole executor: permissions, limits, redaction
    Call {
        name: String,
        /// The arguments as JSON; `-` reads them from standard input
        #[arg(default_value = "{}")]
        arguments: String,
        #[arg(short = 'C', long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        #[arg(long, value_name = "MODE", value_parser = permission_modes(), ignore_case = true)]
        permission_mode: Option<PermissionMode>,
        /// Print the structured result
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum PermissionsCommand {
    /// Tell whether a command or a call would be allowed, and what decides; nothing is run
    #[command(
        after_help = "Exit codes:\n  0    it is allowed\n  2    the call or the settings are wrong\n  \
                            3    it is asked about or denied"
    )]
    Test(PermissionsTestArgs),
    /// List the rules in force, with where each comes from
    #[command(visible_alias = "ls")]
    List {
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct PermissionsTestArgs {
    /// A command line for bash
    #[arg(required_unless_present = "tool", conflicts_with = "tool")]
    pub command: Option<String>,
    /// Another tool, with its arguments in --args
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// The arguments of the tool as JSON
    #[arg(long, value_name = "JSON", default_value = "{}", requires = "tool")]
    pub args: String,
    /// Judge in this permission mode
    #[arg(long, value_name = "MODE", value_parser = permission_modes(), ignore_case = true)]
    pub mode: Option<PermissionMode>,
    /// Judge in this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ModelsArgs {
    /// Only this provider
    pub provider: Option<String>,
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[arg(long)]
    pub json: bool,
    /// Send nothing to any provider
    #[arg(long)]
    pub offline: bool,
}

const WHY_EXAMPLES: &str = "Examples:\n  \
    stepwell why -- pytest tests/test_cart.py::test_total\n  \
    stepwell why -- cargo test parses_dates\n  \
    stepwell why --until-fails 50 -- go test ./queue -run TestFlaky\n  \
    stepwell why --html report.html -- ./server --port 0\n\n\
    Exit codes: 0 it passed, 1 it failed or hangs, 2 the command cannot be debugged as it is written";

#[derive(Debug, Args)]
#[command(after_help = WHY_EXAMPLES)]
pub struct WhyArgs {
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Print the report as JSON
    #[arg(long, conflicts_with = "md")]
    pub json: bool,
    /// Print the report as Markdown
    #[arg(long)]
    pub md: bool,
    /// Also write the report as one HTML file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Run it again until it fails, at most so many times
    #[arg(long, value_name = "N")]
    pub until_fails: Option<u32>,
    /// Report this failure where there are several, such as 2 for the second failing test
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub failure: Option<u16>,
    /// Do not run it a second time to see how the values of the failing line came to be
    #[arg(long)]
    pub once: bool,
    /// Seconds a run may take, building included
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub timeout: u64,
    /// Only the report
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Keep the folder with the fixed program
    #[arg(long)]
    pub keep: bool,
}

impl WhyArgs {
    pub fn command_line(&self) -> String {
        self.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug, Subcommand)]
pub enum AdaptersCommand {
    /// List the debug adapters: for which languages, where they are, or how they can be had
    #[command(visible_alias = "ls")]
    List {
        #[arg(long)]
        json: bool,
    },
    /// Start every adapter that is there and see whether it answers
    Doctor {
        /// Only these, such as `debugpy`
        adapters: Vec<String>,
        #[arg(long)]
        json: bool,
    },
    /// Fetch adapters into Stepwell's own folder: debugpy, js-debug, codelldb
    Install {
        #[arg(required = true)]
        adapters: Vec<String>,
        /// Fetch them again where they are installed already
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run a command in the sandbox, with your input and output; its exit code is kept
    #[command(after_help = SANDBOX_EXIT_CODES)]
    Run(SandboxRunArgs),
    /// Show which layers of the sandbox this machine offers
    Status {
        #[arg(long)]
        json: bool,
    },
}

const SANDBOX_EXIT_CODES: &str = "Exit codes:\n  \
    125  the sandbox could not be made; nothing was run\n  \
    126  the command was stopped: it made a forbidden file, or used up the disk or the processes\n  \
    any other is the command's own";

#[derive(Debug, Args)]
pub struct SandboxRunArgs {
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Let it reach this host, `*.DOMAIN` for all below a domain (may be given several times)
    #[arg(long, value_name = "HOST[:PORT]")]
    pub network: Vec<String>,
    /// Let it write to a further folder (may be given several times)
    #[arg(long, value_name = "DIR")]
    pub writable: Vec<PathBuf>,
    /// Hide a file or folder from it (may be given several times)
    #[arg(long, value_name = "PATH")]
    pub hide: Vec<PathBuf>,
    /// Work in this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Run it also where a layer of the sandbox is missing
    #[arg(long)]
    pub allow_missing: bool,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show the settings in force and where each comes from
    Show {
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON schema of the settings
    Schema,
    /// Open the user's settings in $EDITOR
    Edit {
        /// The project's settings instead
        #[arg(long)]
        project: bool,
    },
    /// Show the instructions the model is given, with their sources
    Instructions {
        #[arg(long)]
        json: bool,
        #[arg(long, value_name = "MODE")]
        mode: Option<String>,
    },
    /// Keep a provider's key, read from standard input, in a file only you can read
    SetKey { provider: String },
    /// Let this folder's own settings take effect in full
    Trust {
        /// Take the trust away again
        #[arg(long)]
        revoke: bool,
    },
}

/// The permission modes by their names, as `--help` lists them.
pub(crate) fn permission_modes() -> impl TypedValueParser<Value = PermissionMode> {
    PossibleValuesParser::new(PermissionMode::ALL.map(PermissionMode::name)).map(|name| {
        let named = |mode: &PermissionMode| mode.name().eq_ignore_ascii_case(&name);
        PermissionMode::ALL.into_iter().find(named).unwrap_or_default()
    })
}
