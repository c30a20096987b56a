//! How the server reaches the engine: a function that opens a conversation.

use std::pin::Pin;
use std::sync::Arc;

use futures::{Sink, SinkExt, Stream};
use stepwell_protocol::{ClientMessage, ServerMessage};

/// The engine's end of a conversation is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineGone;

pub type EngineSink = Pin<Box<dyn Sink<ClientMessage, Error = EngineGone> + Send>>;
pub type EngineStream = Pin<Box<dyn Stream<Item = ServerMessage> + Send>>;

/// Opens a conversation with the engine. Dropping both ends ends what was followed in it.
pub type Connect = Arc<dyn Fn() -> (EngineSink, EngineStream) + Send + Sync>;

/// Makes a [`Connect`] of a function that returns any sink and stream of messages.
pub fn connect_with<F, S, R>(open: F) -> Connect
where
    F: Fn() -> (S, R) + Send + Sync + 'static,
    S: Sink<ClientMessage> + Send + 'static,
    R: Stream<Item = ServerMessage> + Send + 'static,
{
    Arc::new(move || {
        let (sink, stream) = open();
        (Box::pin(sink.sink_map_err(|_| EngineGone)), Box::pin(stream))
    })
}
