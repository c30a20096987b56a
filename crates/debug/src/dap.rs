//! The Debug Adapter Protocol, spoken tolerantly.
//!
//! Adapters send what the schema forbids: wide integers, unknown words, missing fields. `types` takes it; what is sent
//! is checked against the official schema in tests. `wire` frames messages, `transport` carries them, `client` pairs
//! answers with questions.

mod client;
mod transport;
pub mod types;
mod wire;

pub use client::{Client, Listener, Reply, ReverseRequest, Sent};
pub use transport::{Link, accept_one, connect, listen};
pub use wire::WireError;
pub(crate) use wire::{Envelope, Incoming, MessageReader, frame};
