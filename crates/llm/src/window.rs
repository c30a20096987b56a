//! How large a model's context window is, and how that is known.
//!
//! A catalog knows what a maker offers. A server of one's own runs the same model with the window it was started with,
//! so it is asked: llama.cpp (`n_ctx`), vLLM (`max_model_len`), Ollama (`num_ctx`, `/api/ps`, `/api/show`), LM Studio,
//! LiteLLM, OpenRouter. What no server tells is marked as assumed.

mod told;

use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stepwell_net::HttpClient;
use stepwell_net::header::HeaderMap;
use stepwell_protocol::ErrorKind;
use url::Url;

use crate::advice::Peer;
use crate::exchange::{get, post, whole};
use crate::model::Error;
use crate::presets::ProviderKind;
use crate::wire::join;
use told::Told;

/// How long a server may take to tell its window; a run waits for it.
const DEADLINE: Duration = Duration::from_secs(5);
/// What a server says about itself is not longer than this.
const MAX_ANSWER: usize = 8 * 1024 * 1024;
/// How often a server that told only the most it could do is asked again. Ollama tells the size in use once the model
/// is loaded, which the first request does.
const MOST_QUESTIONS: u32 = 3;

/// Where the size of a context window is known from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// The person's settings.
    Settings,
    /// The server that runs the model.
    Server,
    /// The table of known models.
    Catalog,
    /// Nobody said it.
    #[default]
    Assumed,
}

impl WindowSource {
    pub fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Server => "server",
            Self::Catalog => "catalog",
            Self::Assumed => "assumed",
        }
    }
}

/// The size of a context window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    pub tokens: u64,
    pub source: WindowSource,
}

/// Whether a server is asked for its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// What is known is certain enough.
    Unneeded,
    /// A maker's own service: its list of models may tell.
    Service(ProviderKind),
    /// A server of the person's own, in any of the ways such servers tell it.
    OwnServer(ProviderKind),
}

/// The window of one model, refined by what its server says.
pub(crate) struct KnownWindow {
    question: Question,
    state: Mutex<State>,
}

struct State {
    size: WindowSize,
    questions: u32,
    /// Nothing more is to be learned by asking.
    settled: bool,
}

impl KnownWindow {
    pub(crate) fn new(size: WindowSize, question: Question) -> Self {
        let settled = question == Question::Unneeded;
        Self { question, state: Mutex::new(State { size, questions: 0, settled }) }
    }

    /// Remembers the limit that a server named when it refused a request.
    pub(crate) fn learn(&self, limit: u64) {
        let mut state = self.state.lock();
        if limit < state.size.tokens || state.size.source == WindowSource::Assumed {
            state.size = WindowSize { tokens: limit, source: WindowSource::Server };
        }
        state.settled = true;
    }

    /// The size as far as it is known; asks the server where that may tell more.
    pub(crate) async fn get(&self, server: &Server<'_>) -> WindowSize {
        {
            let mut state = self.state.lock();
            if state.settled {
                return state.size;
            }
            state.questions += 1;
        }
        let told = tokio::time::timeout(DEADLINE, server.ask(self.question)).await.ok().flatten();
        let mut state = self.state.lock();
        match told {
            Some(Told::InUse(tokens)) => {
                state.size = WindowSize { tokens, source: WindowSource::Server };
                state.settled = true;
            }
            Some(Told::AtMost(tokens)) => {
                state.size = WindowSize { tokens, source: WindowSource::Assumed };
                state.settled = state.questions >= MOST_QUESTIONS;
            }
            None => state.settled = true,
        }
        tracing::debug!(tokens = state.size.tokens, source = state.size.source.name(), "context window");
        state.size
    }
}

/// A server that can be asked about a model.
pub(crate) struct Server<'a> {
    pub client: &'a HttpClient,
    pub peer: &'a Peer,
    pub headers: HeaderMap,
}

impl Server<'_> {
    async fn ask(&self, question: Question) -> Option<Told> {
        let model = self.peer.model.as_str();
        let base = &self.peer.base_url;
        let kind = match question {
            Question::Unneeded => return None,
            Question::Service(ProviderKind::OpenaiChat | ProviderKind::OpenaiResponses) => {
                let list = self.get(join(base, &["models"]).ok()?).await.ok()??;
                return told::of_list(&list, model);
            }
            Question::Service(kind) | Question::OwnServer(kind) => kind,
        };
        match kind {
            ProviderKind::OpenaiChat | ProviderKind::OpenaiResponses => self.ask_compatible(model).await,
            // The other formats describe a model under its name; a proxy tells of all beside the API.
            _ => {
                if let Some(entry) = self.get(join(base, &["models", model]).ok()?).await.ok()?
                    && let Some(told) = told::of_entry(&entry)
                {
                    return Some(told);
                }
                let info = self.get(self.beside_api(&["model", "info"])?).await.ok()??;
                told::of_list(&info, model)
            }
        }
    }

    /// Asks a server that speaks OpenAI's format in the ways of the servers that do. A lost connection ends it.
    async fn ask_compatible(&self, model: &str) -> Option<Told> {
        let mut at_most = None;
        let props = self.get(self.beside_api(&["props"])?).await.ok()?;
        if let Some(told) = props.as_ref().and_then(told::of_props) {
            return Some(told);
        }
        let lists = [
            join(&self.peer.base_url, &["models"]).ok()?,
            self.beside_api(&["api", "ps"])?,
            self.beside_api(&["api", "v0", "models"])?,
            self.beside_api(&["model", "info"])?,
        ];
        for url in lists {
            let Some(list) = self.get(url).await.ok()? else { continue };
            match told::of_list(&list, model) {
                Some(told @ Told::InUse(_)) => return Some(told),
                told => at_most = at_most.or(told),
            }
        }
        let question = Bytes::from(json!({ "model": model }).to_string());
        let shown = self.post(self.beside_api(&["api", "show"])?, question).await.ok()?;
        shown.as_ref().and_then(told::of_show).or(at_most)
    }

    /// An address of the server that is not part of the API: beside `/v1`, or `/v1beta` of Gemini's format.
    fn beside_api(&self, segments: &[&str]) -> Option<Url> {
        let mut root = self.peer.base_url.clone();
        let path = root.path().trim_end_matches('/');
        let outside =
            path.strip_suffix("/v1").or_else(|| path.strip_suffix("/v1beta")).unwrap_or(path).to_owned();
        root.set_path(&outside);
        join(&root, segments).ok()
    }

    async fn get(&self, url: Url) -> Result<Option<Value>, Error> {
        let reply = get(self.client, &url, self.headers.clone(), self.peer).await;
        self.json(reply).await
    }

    async fn post(&self, url: Url, body: Bytes) -> Result<Option<Value>, Error> {
        let reply = post(self.client, &url, self.headers.clone(), body, self.peer).await;
        self.json(reply).await
    }

    /// The answer's JSON; nothing where the server does not know the address.
    async fn json(&self, reply: Result<stepwell_net::Response, Error>) -> Result<Option<Value>, Error> {
        match reply {
            Ok(mut reply) => {
                let body = whole(&mut reply, MAX_ANSWER, self.peer).await?;
                Ok(serde_json::from_slice(&body).ok())
            }
            Err(error) if error.kind == ErrorKind::LlmConnection && error.status.is_none() => Err(error),
            Err(_) => Ok(None),
        }
    }
}
