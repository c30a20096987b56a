//! The standard input of a program: nothing, what is typed while it runs, or a text that is given with its start.

use std::borrow::Cow;
use std::sync::Arc;

use super::Session;
use super::start::{Connection, SessionStart};
use super::terminal::Input;
use crate::adapters::Transport;
use crate::{Error, Result};

/// Ends the input of a program that reads a terminal, at the beginning of a line.
const END_OF_INPUT: char = '\u{4}';

/// What a program reads from its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProgramStdin {
    /// What its debugger gives it, which is nothing for most.
    #[default]
    Nothing,
    /// What is typed with `send_input`.
    Typed,
    /// This text, and then its end.
    Text(Arc<str>),
}

impl Session {
    /// Gives the program a terminal to read from, where its adapter takes one.
    pub(super) async fn with_input<'a>(
        self: &Arc<Self>,
        opening: &'a SessionStart,
    ) -> Result<Cow<'a, SessionStart>> {
        let Connection::Start(located) = &opening.way else { return Ok(Cow::Borrowed(opening)) };
        if opening.stdin == ProgramStdin::Nothing {
            return Ok(Cow::Borrowed(opening));
        }
        let (mut located, mut arguments) = (located.clone(), opening.arguments.clone());
        let opened = self
            .input_terminal(|terminal| {
                opening.adapter.read_input_from(terminal, &mut located, &mut arguments)
            })
            .await?;
        if !opened {
            let adapter = opening.adapter;
            let has_pipe =
                adapter.quirks().stdio_is_program_output || adapter.reach() == Transport::InProcess;
            if matches!(opening.stdin, ProgramStdin::Text(_)) && !has_pipe {
                return Err(Error::Unable {
                    adapter: adapter.kind().name().to_owned(),
                    what: "give its program an input".to_owned(),
                    hint: Some("let the program read a file instead".to_owned()),
                });
            }
            return Ok(Cow::Borrowed(opening));
        }
        Ok(Cow::Owned(SessionStart { way: Connection::Start(located), arguments, ..opening.clone() }))
    }

    /// Writes the text that the program was started with, in the background: it is read when the program wants it.
    pub(super) fn feed_input(self: &Arc<Self>) {
        let ProgramStdin::Text(text) = &self.opening.stdin else { return };
        let (session, text) = (Arc::downgrade(self), Arc::clone(text));
        let Some(input) = self.input() else { return };
        tokio::spawn(async move {
            // A program that does not read to the end is no failure.
            input.write(text.as_bytes()).await.ok();
            if let Input::Terminal(_) = &input {
                let line_is_open = !text.is_empty() && !text.ends_with('\n');
                let end: String = std::iter::repeat_n(END_OF_INPUT, 1 + usize::from(line_is_open)).collect();
                input.write(end.as_bytes()).await.ok();
            }
            drop(input);
            if let Some(session) = session.upgrade() {
                session.close_input_pipe();
            }
        });
    }

    /// Splits a typed text at the end of input. `true` where the input ends behind it.
    pub(super) fn typed(text: &str) -> (&str, bool) {
        match text.split_once(END_OF_INPUT) {
            Some((before, _)) => (before, true),
            None => (text, false),
        }
    }
}
