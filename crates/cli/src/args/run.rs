//! Arguments of `stepwell run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stepwell_protocol::PermissionMode;

use super::permission_modes;

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The request; what is piped in follows it, or stands where `-` is, or is the request when nothing is given
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// Read the request from a file
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub prompt_file: Option<PathBuf>,
    /// How the result is written to standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Text, value_name = "FORMAT")]
    pub output_format: OutputFormat,
    /// Model as PROVIDER/MODEL; `replay:FILE` plays a recorded run, `replay-lenient:FILE` without comparing every word
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Mode to work in, such as `code`, `ask` or `debug`; `plan` makes a plan and changes nothing before it is approved
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,
    /// Make a plan, print it and end; `stepwell plan approve` and `--resume` carry it out
    #[arg(long, conflicts_with = "approve_plan")]
    pub plan_only: bool,
    /// Carry out the plan without asking anybody
    #[arg(long)]
    pub approve_plan: bool,
    /// What may be done without asking
    #[arg(long, value_name = "MODE", value_parser = permission_modes(), ignore_case = true)]
    pub permission_mode: Option<PermissionMode>,
    /// Stop after this many turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_turns: Option<u32>,
    /// Stop when this much is spent, in US dollars
    #[arg(long, value_name = "USD", value_parser = parse_cost)]
    pub max_cost: Option<f64>,
    /// Stop when this many tokens are used
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tokens: Option<u64>,
    /// Go on with a task: its number, id or the start of its id; without one, the newest of this folder
    #[arg(short, long, value_name = "TASK", num_args = 0..=1, default_missing_value = "latest")]
    pub resume: Option<String>,
    /// Say this message of the resumed task anew, and take back everything after it
    #[arg(long, value_name = "MESSAGE", requires = "resume")]
    pub edit: Option<String>,
    /// Work on a copy of a task instead: TASK or TASK@MESSAGE
    #[arg(long, value_name = "TASK[@MESSAGE]", conflicts_with = "resume")]
    pub fork: Option<String>,
    /// Work in this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Open a further folder to the agent (may be given several times)
    #[arg(long, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,
    /// Show the model an image (may be given several times)
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,
    /// Record the model's answers into a file, for `--model replay:FILE`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// How hard the model should think
    #[arg(long, value_enum, value_name = "EFFORT")]
    pub effort: Option<EffortArg>,
    /// Write nothing but the answer
    #[arg(short, long)]
    pub quiet: bool,
    /// Add text to the model's instructions, for this run
    #[arg(long, value_name = "TEXT")]
    pub append_system_prompt: Option<String>,
    /// Accept only an answer that is JSON and fits the JSON Schema in this file
    #[arg(long, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,
    /// Also write the answer to this file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output_last_message: Option<PathBuf>,
    /// Keep nothing of the task when the run is over; its changes cannot be undone
    #[arg(long, conflicts_with_all = ["resume", "fork"])]
    pub ephemeral: bool,
    /// How standard input is read
    #[arg(long, value_enum, default_value_t = InputFormat::Text, value_name = "FORMAT")]
    pub input_format: InputFormat,
    /// Seconds to wait for each approval and answer with `--input-format stream-json`
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub approval_timeout: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// The answer
    Text,
    /// One JSON object at the end
    Json,
    /// A JSON object per event, as it happens
    StreamJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Text that follows the request
    Text,
    /// A JSON object per line: messages, answers to approvals and questions, interrupts
    StreamJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EffortArg {
    None,
    Low,
    Medium,
    High,
}

fn parse_cost(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(cost) if cost.is_finite() && cost > 0.0 => Ok(cost),
        _ => Err("an amount above zero, such as 0.50".into()),
    }
}
