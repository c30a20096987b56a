//! What doors ask about the set-up of a folder and this machine, and change in it.

use stepwell_protocol::{Command, CommandReply, Query, QueryReply};

use super::Engine;
use crate::error::{Error, Result};

impl Engine {
    pub(super) async fn submit_setup(&self, _command: Command) -> Result<CommandReply> {
        Err(Error::Unsupported { what: "this command" })
    }

    pub(super) async fn query_setup(&self, _query: Query) -> Result<QueryReply> {
        Err(Error::Unsupported { what: "this query" })
    }
}
