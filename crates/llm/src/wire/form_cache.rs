//! Messages in the form in which they are sent, kept from one request to the next.
//!
//! A history only grows at its end, so at turn 1000 nearly every message was written before; a body is then
//! put together by copying. Messages are told apart by address: the entry's weak reference keeps the address
//! from being used again.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use stepwell_protocol::{Message, ToolDefinition};

use super::json::JsonText;
use crate::model::Error;

/// A form larger than this is mostly one image or one file, which is as fast to write as to copy.
const MAX_KEPT_FORM: usize = 256 * 1024;

/// Entries that none of this many requests used are dropped.
const KEPT_GENERATIONS: u64 = 8;

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

impl Form {
    fn len(&self) -> usize {
        self.results.len() + self.parts.len() + self.text.as_ref().map_or(0, JsonText::len)
    }
}

#[derive(Debug, Default)]
pub(crate) struct FormCache {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    generation: u64,
    entries: HashMap<usize, Entry>,
    tools: Option<(Weak<[ToolDefinition]>, Arc<JsonText>)>,
    last_body: usize,
}

#[derive(Debug)]
struct Entry {
    message: Weak<Message>,
    form: Arc<Form>,
    used: u64,
}

impl FormCache {
    /// Begins a request; returns how large the last body was.
    pub(crate) fn begin(&self) -> usize {
        let mut inner = self.inner.lock();
        inner.generation += 1;
        inner.last_body
    }

    pub(crate) fn message(
        &self,
        message: &Arc<Message>,
        write: impl FnOnce(&Message) -> Result<Form, Error>,
    ) -> Result<Arc<Form>, Error> {
        let address = Arc::as_ptr(message) as usize;
        {
            let mut inner = self.inner.lock();
            let generation = inner.generation;
            if let Some(entry) = inner.entries.get_mut(&address)
                && std::ptr::eq(entry.message.as_ptr(), Arc::as_ptr(message))
            {
                entry.used = generation;
                return Ok(Arc::clone(&entry.form));
            }
        }
        let form = Arc::new(write(message)?);
        if form.len() <= MAX_KEPT_FORM {
            let mut inner = self.inner.lock();
            let used = inner.generation;
            let entry = Entry { message: Arc::downgrade(message), form: Arc::clone(&form), used };
            inner.entries.insert(address, entry);
        }
        Ok(form)
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

    /// Ends a request of `messages` messages: forgets what has not been used for a while.
    pub(crate) fn end(&self, messages: usize, body: usize) {
        let mut inner = self.inner.lock();
        inner.last_body = body;
        if inner.entries.len() > 2 * messages + 64 {
            let oldest = inner.generation.saturating_sub(KEPT_GENERATIONS);
            inner.entries.retain(|_, entry| entry.used > oldest && entry.message.strong_count() > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::unnecessary_wraps, reason = "stands in for a writer that can fail")]
    fn form(text: &str) -> Result<Form, Error> {
        let mut form = Form::default();
        form.parts.raw(text);
        Ok(form)
    }

    #[test]
    fn a_message_is_written_once() {
        let cache = FormCache::default();
        let message = Arc::new(Message::user("a"));
        let first = cache.message(&message, |_| form("1")).unwrap();
        let second = cache.message(&message, |_| form("2")).unwrap();
        assert_eq!(first, second);
        let other = cache.message(&Arc::new(Message::user("a")), |_| form("3")).unwrap();
        assert_ne!(first, other);
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let cache = FormCache::default();
        for round in 0..1000 {
            cache.begin();
            let message = Arc::new(Message::user(round.to_string()));
            let kept = cache.message(&message, |message| form(&message.text())).unwrap();
            assert_eq!(kept.parts.as_bytes(), round.to_string().as_bytes());
            cache.end(1, 10);
        }
        assert!(cache.inner.lock().entries.len() < 100);
    }
}
