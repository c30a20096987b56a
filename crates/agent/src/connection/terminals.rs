//! Terminals of one connection: each is a shell that ends with it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde_json::json;
use stepwell_protocol::{
    ApprovalId, ApprovalRequest, CommandReply, Preview, Risk, ServerMessage, TerminalId, ToolCall, ToolCallId,
};
use tokio::sync::mpsc;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::setup::{OpenedTerminal, TerminalInput, TerminalNews, TerminalSize};

/// Terminals of one connection at most.
const MOST: usize = 8;
/// The largest window, in characters each way.
const LARGEST: u16 = 1_000;

/// How long a shell may take to read what is typed.
const PATIENCE: Duration = Duration::from_secs(5);

/// The terminals that are open.
#[derive(Clone, Default)]
pub(super) struct Terminals {
    open: Arc<Mutex<HashMap<TerminalId, mpsc::Sender<TerminalInput>>>>,
}

impl Terminals {
    /// Starts a shell, once the person has confirmed that.
    pub(super) async fn open(
        &self,
        engine: &Engine,
        workspace: &str,
        size: TerminalSize,
        confirmed: bool,
        outbox: &mpsc::Sender<ServerMessage>,
    ) -> Result<CommandReply> {
        let root = Path::new(workspace);
        if !confirmed {
            let unconfined = engine.setup().terminal_gaps(root).await?;
            return Ok(CommandReply::NeedsConfirmation { request: Box::new(request(workspace, unconfined)) });
        }
        if self.open.lock().len() >= MOST {
            return Err(Error::TooManyTerminals { most: MOST });
        }
        let OpenedTerminal { control, output } = engine.setup().open_terminal(root, bounded(size)).await?;
        let terminal = TerminalId::generate();
        self.open.lock().insert(terminal.clone(), control);
        tokio::spawn(forward(terminal.clone(), output, outbox.clone(), self.clone()));
        Ok(CommandReply::Terminal { terminal })
    }

    pub(super) async fn input(&self, terminal: &TerminalId, input: TerminalInput) -> Result<CommandReply> {
        let input = match input {
            TerminalInput::Resized(size) => TerminalInput::Resized(bounded(size)),
            typed @ TerminalInput::Typed(_) => typed,
        };
        let control = self.open.lock().get(terminal).cloned();
        let unknown = || Error::NoSuchTerminal { terminal: terminal.clone() };
        let sent = control.ok_or_else(unknown)?.send_timeout(input, PATIENCE).await;
        sent.map_err(|_| unknown())?;
        Ok(CommandReply::Done)
    }

    pub(super) fn close(&self, terminal: &TerminalId) -> Result<CommandReply> {
        let closed = self.open.lock().remove(terminal);
        closed.map(|_| CommandReply::Done).ok_or_else(|| Error::NoSuchTerminal { terminal: terminal.clone() })
    }

    /// Ends every shell.
    pub(super) fn close_all(&self) {
        self.open.lock().clear();
    }
}

/// Passes on what a shell prints, until it ends or nobody listens. A front end that does not read stops its shell from
/// printing, and nothing else.
async fn forward(
    terminal: TerminalId,
    mut output: mpsc::Receiver<TerminalNews>,
    outbox: mpsc::Sender<ServerMessage>,
    terminals: Terminals,
) {
    let mut offset = 0;
    let mut exit_code = None;
    while let Some(news) = output.recv().await {
        let message = match news {
            TerminalNews::Printed(bytes) => {
                let data = STANDARD.encode(&bytes);
                let message = ServerMessage::TerminalOutput { terminal: terminal.clone(), offset, data };
                offset += bytes.len() as u64;
                message
            }
            TerminalNews::Ended { exit_code: code } => {
                exit_code = code;
                break;
            }
        };
        if outbox.send(message).await.is_err() {
            break;
        }
    }
    terminals.open.lock().remove(&terminal);
    outbox.send(ServerMessage::TerminalClosed { terminal, exit_code }).await.ok();
}

/// What the person confirms.
fn request(workspace: &str, unconfined: Option<String>) -> ApprovalRequest {
    let arguments = json!({"working_dir": workspace});
    let call = ToolCall { id: ToolCallId::generate(), name: "terminal".into(), arguments, opaque: None };
    let preview = Preview {
        summary: format!("Open a terminal in `{workspace}`"),
        paths: vec![workspace.to_owned()],
        unconfined,
        ..Preview::default()
    };
    ApprovalRequest {
        id: ApprovalId::generate(),
        call,
        risk: Risk::Execute,
        reason: "a terminal runs what is typed into it".to_owned(),
        preview,
        grant: None,
        from: None,
    }
}

fn bounded(size: TerminalSize) -> TerminalSize {
    TerminalSize { columns: size.columns.clamp(2, LARGEST), rows: size.rows.clamp(1, LARGEST) }
}
