//! The engine over HTTP and WebSocket, and the page that talks to it.
//!
//! [`Server`] knows the engine only as a [`Connect`]: a function that opens a conversation in the messages of
//! `protocol`. A socket is one conversation; `POST /api/commands` and `POST /api/queries` are conversations of one
//! message; `GET /api/tasks/{task}/events` is one that follows a task. Every request passes the guard first:
//! its host, its origin, its credential.
//!
//! Nothing here reads or writes files: the token, the listeners and the certificate come through the constructors.

mod access;
mod access_log;
mod api;
mod connect;
mod events;
mod guard;
mod listener;
mod metrics;
mod openapi;
mod page;
mod problem;
mod rate;
mod server;
mod socket;
mod stream;

pub use access::{Token, WeakToken};
pub use connect::{Connect, EngineSink, EngineStream, connect_with};
pub use guard::Hosts;
pub use listener::{Listener, Tls, TlsError};
pub use openapi::asyncapi;
pub use server::{Limits, Server, ServerParts};
