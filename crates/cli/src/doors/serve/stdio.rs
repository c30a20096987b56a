//! `stepwell serve --stdio`: the engine for one program, in the messages of the protocol.
//!
//! The program that started us writes one `ClientMessage` a line and reads one `ServerMessage` a line. The
//! tasks it starts, and what runs in their workspaces, live as long as the conversation.

use std::path::Path;
use std::time::Duration;

use futures::{SinkExt, Stream, StreamExt};
use stepwell_protocol::{ClientMessage, ErrorKind, ErrorReport, ServerMessage};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use crate::assemble::Assembly;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::lines::Lines;

/// How long the last messages may take to be read.
const LAST_WORDS: Duration = Duration::from_secs(5);

pub async fn run(folder: Option<&Path>) -> anyhow::Result<Exit> {
    let assembly = Assembly::in_folder(folder)?;
    let engine = assembly.engine();
    let (mut to_engine, from_engine) = engine.connect().split();
    let (refused, refusals) = mpsc::channel(1);
    // Beside the rest: a reader that does not read must hold up nobody but itself.
    let writing = tokio::spawn(write_all(from_engine, refusals));
    let mut interrupts = Interrupts::listen()?;
    let mut input = Lines::new(BufReader::new(tokio::io::stdin()));
    let mut exit = Exit::Done;
    loop {
        let line = tokio::select! {
            () = interrupts.next() => {
                exit = Exit::Interrupted;
                break;
            }
            line = input.next() => line?,
        };
        let Some(line) = line else { break };
        let taken = match read(&line) {
            Ok(None) => true,
            Ok(Some(message)) => to_engine.send(message).await.is_ok(),
            Err(error) => refused.send(ServerMessage::Rejected { error }).await.is_ok(),
        };
        if !taken || writing.is_finished() {
            break;
        }
    }
    // What was asked for before the end of the input is answered; runs end with the conversation.
    engine.finish().await;
    drop((to_engine, refused));
    tokio::time::timeout(LAST_WORDS, writing).await.ok();
    Ok(exit)
}

/// Writes every message as a line, until there are no more or nobody reads.
async fn write_all(
    mut from_engine: impl Stream<Item = ServerMessage> + Unpin,
    mut refusals: mpsc::Receiver<ServerMessage>,
) {
    let mut output = tokio::io::stdout();
    loop {
        let message = tokio::select! {
            Some(message) = refusals.recv() => message,
            message = from_engine.next() => match message {
                Some(message) => message,
                None => return,
            },
        };
        // Types of ours always have a JSON form.
        let mut line = serde_json::to_vec(&message).unwrap_or_default();
        line.push(b'\n');
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
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
