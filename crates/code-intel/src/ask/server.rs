//! Asks a language server in three steps, so that the index is free while the server thinks: the question is prepared
//! from the index, sent without it, and its reply given to [`super::Ask::with_server`].

use tokio_util::sync::CancellationToken;

use super::target::Target;
use crate::index::Index;
use crate::lsp::{PreparedQuery, Question, Reply, Servers};

/// A question prepared for a language server.
#[derive(Clone, Debug)]
pub struct ServerQuestion {
    inquiry: Result<PreparedQuery, String>,
    question: Question,
}

impl ServerQuestion {
    /// The index must be up to date.
    pub fn prepare(index: &Index, target: &Target, question: Question) -> Self {
        let inquiry = PreparedQuery::of(index, &target.query(index));
        Self { inquiry: inquiry.map_err(|why| format!("no language server was asked: {why}")), question }
    }

    /// Asks the server of the target's language; `None` where the person has servers switched off.
    pub async fn send(&self, servers: Option<&Servers>, cancel: &CancellationToken) -> ServerReply {
        const OFF: &str = "language servers are off: `servers = \"auto\"` in `[code]` of the person's settings turns them on (they run code of the project)";
        let reply = match (servers, &self.inquiry) {
            (None, _) => Err(OFF.to_owned()),
            (_, Err(why)) => Err(why.clone()),
            (Some(servers), Ok(inquiry)) => servers.ask(inquiry, self.question, cancel).await,
        };
        ServerReply { reply, question: self.question }
    }
}

/// The reply of a language server, or the reason why there is none.
#[derive(Clone, Debug)]
pub struct ServerReply {
    reply: Result<Reply, String>,
    question: Question,
}

impl ServerReply {
    /// Why the server gave no answer.
    pub fn failure(&self) -> Option<&str> {
        self.reply.as_ref().err().map(String::as_str)
    }

    /// Adds what the index knows of the locations the server named.
    pub(super) fn with_index(&self, index: &Index) -> Result<Reply, String> {
        self.reply.clone().map(|reply| reply.known(index, self.question))
    }
}
