//! `stepwell serve`: the engine for programs, in the messages of the protocol.
//!
//! With `--stdio` a program that started us writes one `ClientMessage` a line and reads one `ServerMessage` a line. The
//! tasks it starts, and what runs in their workspaces, live as long as the conversation.

use stepwell_protocol::{ClientMessage, ErrorKind, ErrorReport, ServerMessage};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::args::ServeArgs;
use crate::assemble::{Assembly, AssemblyOptions, workspace_root};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::report;
use crate::settings::SettingsLayer;
use crate::terminal;

/// Bytes of one message at most: an image and a long text fit.
const LONGEST_LINE: usize = 64 << 20;

pub async fn run(args: ServeArgs) -> anyhow::Result<Exit> {
    if !args.stdio {
        return Err(report::usage(
            "say how to serve",
            "`stepwell serve --stdio` speaks the protocol on standard input and output",
        ));
    }
    let assembly = Assembly::new(AssemblyOptions {
        workspace: workspace_root(args.cwd.as_deref())?,
        extra_roots: Vec::new(),
        command_line: SettingsLayer::default(),
        record: None,
    })?;
    let engine = assembly.engine();
    let mut connection = engine.connect();
    let mut interrupts = Interrupts::listen()?;
    let mut input = Lines::new(BufReader::new(tokio::io::stdin()));
    loop {
        tokio::select! {
            () = interrupts.next() => return Ok(Exit::Interrupted),
            line = input.next() => {
                let Some(line) = line? else { break };
                match read(&line) {
                    Ok(None) => {}
                    Ok(Some(message)) => {
                        connection.send(message).await;
                    }
                    Err(error) => write(&ServerMessage::Rejected { error }),
                }
            }
            Some(message) = connection.next() => {
                write(&message);
                if terminal::reader_is_gone() {
                    break;
                }
            }
        }
    }
    // What was asked for before the end of the input is answered; runs end with the conversation.
    engine.finish().await;
    Ok(Exit::Done)
}

fn read(line: &[u8]) -> Result<Option<ClientMessage>, ErrorReport> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    serde_json::from_slice(line).map(Some).map_err(|error| ErrorReport {
        kind: ErrorKind::Rejected,
        message: format!("the line is no message of the protocol: {error}"),
        hint: Some("docs/schema/protocol.json describes `ClientMessage`".into()),
    })
}

fn write(message: &ServerMessage) {
    // Types of ours always have a JSON form.
    terminal::out_line(&serde_json::to_string(message).unwrap_or_default());
}

/// Lines of a bounded length. Reading one can be broken off at any time without losing a byte.
struct Lines<R> {
    input: R,
    line: Vec<u8>,
}

impl<R: tokio::io::AsyncBufRead + Unpin> Lines<R> {
    fn new(input: R) -> Self {
        Self { input, line: Vec::new() }
    }

    /// The next line without its end; `None` at the end of the input.
    async fn next(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            let (taken, ended) = match available.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end, true),
                None => (available.len(), false),
            };
            self.line.extend_from_slice(&available[..taken]);
            self.input.consume(taken + usize::from(ended));
            if self.line.len() > LONGEST_LINE {
                anyhow::bail!("a message is longer than {LONGEST_LINE} bytes");
            }
            if ended {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }
}
