//! What was written for the last requests, so that the next one is mostly copied.
//!
//! A history only grows at its end. Of every request the beginning that cannot change any more is kept as it was
//! sent; the next request copies it and writes only the turns that came since. So a request at turn 1000 costs
//! what one at turn 10 does, but for the copy. Messages are told apart by address: a weak reference keeps the
//! address from being used again, and a message that somebody holds is never changed in place.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use parking_lot::Mutex;
use stepwell_protocol::{Message, ToolDefinition};

use super::conversation::{self, Turn};
use super::json::JsonText;
use crate::model::Error;

/// Conversations that are kept at once: a task and its sub-tasks may share a model.
const MOST_BEGINNINGS: usize = 4;
/// Longer beginnings are not kept: they are mostly images, and memory is better spent.
const LONGEST_BEGINNING: usize = 8 * 1024 * 1024;

/// A message in wire form, in pieces that each wire format puts together as it needs.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Form {
    /// Results of tool calls, comma-separated.
    pub results: JsonText,
    /// Everything else that was said, comma-separated.
    pub parts: JsonText,
    /// The same as `parts` as the inside of one JSON string, if it is only text.
    pub text: Option<JsonText>,
}

/// How a wire format writes the turns of a conversation.
pub(crate) trait TurnWriter {
    /// How many of the last input turns carry a mark, and so will be written otherwise in a later request.
    const MARKED_INPUTS: usize = 0;

    fn input(&self, turn: &Turn<'_>, is_marked: bool, body: &mut JsonText) -> Result<(), Error>;

    fn assistant(&self, messages: &[Arc<Message>], body: &mut JsonText) -> Result<(), Error>;
}

#[derive(Debug, Default)]
pub(crate) struct Written {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The most recently used one is the last.
    beginnings: Vec<Beginning>,
    tools: Option<(Weak<[ToolDefinition]>, Arc<JsonText>)>,
}

/// The part of a request that stays as it is while its conversation goes on.
#[derive(Debug)]
struct Beginning {
    /// Everything before the conversation, then the messages below.
    text: Bytes,
    head: usize,
    messages: Vec<Weak<Message>>,
}

impl Beginning {
    fn begins(&self, head: &[u8], messages: &[Arc<Message>]) -> bool {
        // The newest one differs where any does, in nearly every case.
        let same = |(kept, message): (&Weak<Message>, &Arc<Message>)| {
            std::ptr::eq(kept.as_ptr(), Arc::as_ptr(message))
        };
        messages.len() > self.messages.len()
            && self.text[..self.head] == *head
            && self.messages.iter().zip(messages).rev().all(same)
    }
}

impl Written {
    /// Writes `head`, the turns of a conversation, and the end of the array and object they stand in.
    pub(crate) fn request<W: TurnWriter>(
        &self,
        head: JsonText,
        messages: &[Arc<Message>],
        writer: &W,
    ) -> Result<Bytes, Error> {
        let head_length = head.len();
        let kept = self.take(head.as_bytes(), messages);
        let going_on = kept.as_ref().map(|kept| conversation::turns_after(&messages[kept.messages.len()..]));
        let (mut known, mut body, turns) = match (kept, going_on) {
            // Else the history was rewound: what was written without marks needs them again.
            (Some(kept), Some(turns)) if inputs(&turns) >= W::MARKED_INPUTS => {
                let mut body = JsonText::with_capacity(kept.text.len() + kept.text.len() / 8 + 16 * 1024);
                body.raw_bytes(&kept.text);
                (kept.messages, body, turns)
            }
            _ => (Vec::new(), head, conversation::turns(messages)),
        };
        // What stands before this turn of the model's, with the inputs that may still change behind it, is final.
        let mut inputs_behind = 0;
        let first_open = turns.iter().rposition(|(_, turn)| {
            inputs_behind += usize::from(turn.is_input());
            !turn.is_input() && inputs_behind >= W::MARKED_INPUTS.max(1)
        });
        let mut unmarked = inputs(&turns).saturating_sub(W::MARKED_INPUTS);
        let mut settled = None;
        for (position, (first, turn)) in turns.iter().enumerate() {
            if Some(position) == first_open {
                settled = Some((body.len(), known.len() + first));
            }
            match turn {
                Turn::Input { .. } => {
                    writer.input(turn, unmarked == 0, &mut body)?;
                    unmarked = unmarked.saturating_sub(1);
                }
                Turn::Assistant { messages } => writer.assistant(messages, &mut body)?,
            }
        }
        body.raw("]}");
        let text = Bytes::from(body.into_bytes());
        if let Some((length, count)) = settled.filter(|(length, _)| *length <= LONGEST_BEGINNING) {
            known.extend(messages[known.len()..count].iter().map(Arc::downgrade));
            self.keep(Beginning { text: text.slice(..length), head: head_length, messages: known });
        }
        Ok(text)
    }

    fn take(&self, head: &[u8], messages: &[Arc<Message>]) -> Option<Beginning> {
        let mut inner = self.inner.lock();
        // The longest one: a fork shares the beginning of its origin.
        let (at, _) = inner
            .beginnings
            .iter()
            .enumerate()
            .filter(|(_, kept)| kept.begins(head, messages))
            .max_by_key(|(_, kept)| kept.messages.len())?;
        Some(inner.beginnings.remove(at))
    }

    fn keep(&self, beginning: Beginning) {
        let mut inner = self.inner.lock();
        inner.beginnings.push(beginning);
        if inner.beginnings.len() > MOST_BEGINNINGS {
            inner.beginnings.remove(0);
        }
    }

    pub(crate) fn tools(
        &self,
        tools: &Arc<[ToolDefinition]>,
        write: impl FnOnce(&[ToolDefinition]) -> Result<JsonText, Error>,
    ) -> Result<Arc<JsonText>, Error> {
        {
            let inner = self.inner.lock();
            if let Some((kept, form)) = &inner.tools
                && kept.upgrade().is_some_and(|kept| Arc::ptr_eq(&kept, tools))
            {
                return Ok(Arc::clone(form));
            }
        }
        let form = Arc::new(write(tools)?);
        self.inner.lock().tools = Some((Arc::downgrade(tools), Arc::clone(&form)));
        Ok(form)
    }
}

fn inputs(turns: &[(usize, Turn<'_>)]) -> usize {
    turns.iter().filter(|(_, turn)| turn.is_input()).count()
}

#[cfg(test)]
#[path = "written_tests.rs"]
mod tests;
