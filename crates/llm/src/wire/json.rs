//! Writing JSON by hand where the same bytes are put together again and again.

use serde::Serialize;
use serde_json::Value;
use stepwell_protocol::{ErrorKind, ToolCall};

use crate::model::Error;

/// A JSON text that grows. Keeps track of commas: a comma goes before a member only if one came before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonText {
    bytes: Vec<u8>,
}

impl JsonText {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn raw(&mut self, text: &str) -> &mut Self {
        self.bytes.extend_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn raw_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub(crate) fn append(&mut self, other: &Self) -> &mut Self {
        self.bytes.extend_from_slice(&other.bytes);
        self
    }

    /// A comma, unless this is where an array or object begins, or nothing is there yet.
    pub(crate) fn comma(&mut self) -> &mut Self {
        if !matches!(self.bytes.last(), None | Some(b'[' | b'{')) {
            self.bytes.push(b',');
        }
        self
    }

    /// Appends a list of items to the list so far.
    pub(crate) fn items(&mut self, other: &Self) -> &mut Self {
        if !other.is_empty() {
            self.comma().append(other);
        }
        self
    }

    pub(crate) fn value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<&mut Self, Error> {
        serde_json::to_writer(&mut self.bytes, value)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("cannot write JSON: {error}")))?;
        Ok(self)
    }

    /// `"name":value` after a comma.
    pub(crate) fn member(
        &mut self,
        name: &str,
        value: &(impl Serialize + ?Sized),
    ) -> Result<&mut Self, Error> {
        self.comma().raw("\"").raw(name).raw("\":").value(value)
    }

    /// Adds a member to the object that was written last, which ends in a brace.
    pub(crate) fn member_of_last(
        &mut self,
        name: &str,
        value: &(impl Serialize + ?Sized),
    ) -> Result<&mut Self, Error> {
        if self.bytes.last() == Some(&b'}') {
            self.bytes.pop();
            self.member(name, value)?;
            self.raw("}");
        }
        Ok(self)
    }

    /// The inside of a JSON string: escaped, without the quotes.
    pub(crate) fn escaped(&mut self, text: &str) -> Result<&mut Self, Error> {
        let start = self.bytes.len();
        self.value(text)?;
        self.bytes.pop();
        self.bytes.remove(start);
        Ok(self)
    }
}

/// The arguments as an object, which every wire format wants. A model that sent something else gets it back
/// under a name of its own, so that it can see its mistake.
pub(crate) fn arguments_object(call: &ToolCall) -> std::borrow::Cow<'_, Value> {
    use std::borrow::Cow;
    match &call.arguments {
        Value::Object(_) => Cow::Borrowed(&call.arguments),
        Value::Null => Cow::Owned(Value::Object(serde_json::Map::new())),
        other => Cow::Owned(serde_json::json!({ "malformed_arguments": other })),
    }
}
