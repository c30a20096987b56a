//! The Debug Adapter Protocol, spoken tolerantly.
//!
//! Adapters send what the schema forbids: wide integers, unknown words, missing fields. `types` takes it; what is sent
//! is checked against the official schema in tests. `wire` frames messages, `transport` carries them, `client` pairs
//! answers with questions.

mod client;
mod transport;
pub mod types;
mod wire;

pub use client::Sent;
pub(crate) use client::{Client, Listener, ReverseRequest};
pub(crate) use transport::accept_one;
pub use transport::{Link, connect, listen};
pub(crate) use wire::{Envelope, Incoming, MessageReader, frame};
