//! The command lines of `stepwell serve` and `stepwell web`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

const SERVE_HELP: &str = "One server runs for each user of a machine: a second start finds it and prints a link to it. \
    The link signs a browser in, once, within two minutes. Programs send the token; docs/serve.md describes the API.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = SERVE_HELP)]
pub struct ServeArgs {
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
    /// Speak with the program that started this one instead, on standard input and output, one JSON message a line
    #[arg(long, conflicts_with_all = ["port", "listen"])]
    pub stdio: bool,
    #[command(flatten)]
    pub at: ServeAt,
}

#[derive(Debug, Args)]
pub struct WebArgs {
    /// Print the link and start no browser
    #[arg(long)]
    pub no_open: bool,
    #[command(flatten)]
    pub at: ServeAt,
}

/// Where a new server listens.
#[derive(Debug, Args)]
pub struct ServeAt {
    /// Listen at this port of 127.0.0.1; by default 7433, or a free one where that is taken
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Listen at this address too, for other machines; needs a certificate
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<SocketAddr>,
    /// The certificate for --listen, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key", requires = "listen")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Let other machines connect without TLS: whoever sees the network can read and do everything
    #[arg(long, requires = "listen", conflicts_with = "tls_cert")]
    pub insecure_no_tls: bool,
    /// A name under which other machines reach this one (may be given several times)
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub host_name: Vec<String>,
    /// Wait so long for the answer to an approval or a question
    #[arg(long, value_name = "SECONDS", default_value_t = 28_800)]
    pub approval_timeout: u64,
    /// Work in this folder instead of the current one
    #[arg(short = 'C', long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Tell whether a server runs, and where
    Status {
        #[arg(long)]
        json: bool,
    },
    /// End the server that runs
    Stop,
}
