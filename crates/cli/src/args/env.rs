//! Arguments of `stepwell env`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum EnvCommand {
    /// List the variables that commands of the agent may use; values are never shown
    List {
        #[arg(long)]
        json: bool,
    },
    /// Keep a value, which is typed unseen or piped in
    Set {
        name: String,
        /// For all your projects instead of this one
        #[arg(short, long)]
        global: bool,
    },
    /// Take a variable away
    Unset {
        name: String,
        /// The one for all your projects
        #[arg(short, long)]
        global: bool,
    },
    /// See whether variables are set; exits with 1 when one is missing
    Check {
        #[arg(required = true)]
        names: Vec<String>,
    },
}
