//! From a name and a key to a model that can be asked.

use std::sync::Arc;

use secrecy::SecretString;
use stepwell_net::HttpClient;
use stepwell_net::header::{HeaderMap, HeaderName, HeaderValue};
use stepwell_protocol::ErrorKind;
use url::Url;

use crate::advice::Peer;
use crate::model::{Error, Model, ModelInfo};
use crate::presets::{Provider, ProviderKind, ToolCallForm};
use crate::pricing::{Catalog, ModelFacts};
use crate::providers::anthropic::Anthropic;
use crate::providers::gemini::Gemini;
use crate::providers::openai_chat::OpenAiChat;
use crate::providers::openai_responses::OpenAiResponses;
use crate::retry::{RetryModel, RetryPolicy};
use crate::window::{Question, WindowSource};
use crate::wire::{Dialect, WireModel, key_header};
use crate::xml_tool_calls::XmlToolCalls;

/// Everything a model is made of.
pub struct ConnectOptions {
    pub provider: Provider,
    /// The model's own name, without the provider's.
    pub model: String,
    pub key: Option<SecretString>,
    /// What the settings say of the model; wins over the catalog.
    pub facts: ModelFacts,
    pub catalog: Catalog,
    pub client: HttpClient,
    pub retry: RetryPolicy,
}

/// Makes the model: wire format, XML calls where configured, retry, prices. Nothing is connected before the
/// first request.
pub fn connect(options: ConnectOptions) -> Result<Arc<dyn Model>, Error> {
    let ConnectOptions { provider, model, key, facts, catalog, client, retry } = options;
    let mut info = catalog.info(&provider.name, &model, &facts);
    if provider.start.is_some() {
        // The catalog's price is that of the maker's own service, and so is its output limit: a local server has
        // the window it was started with, and refuses a limit that does not fit beside the prompt.
        info.price = facts.price;
        info.max_output_tokens = facts.max_output_tokens;
    }
    let question = match info.window_source {
        WindowSource::Settings => Question::Unneeded,
        WindowSource::Catalog | WindowSource::Server if provider.hosted => Question::Unneeded,
        _ if provider.hosted => Question::Service(provider.kind),
        _ => Question::OwnServer(provider.kind),
    };
    if question != Question::Unneeded {
        // The catalog's window is the maker's; the server has the one it was started with.
        info.window_source = WindowSource::Assumed;
    }
    let peer = peer(&provider, &model, key)?;
    let headers = headers(&provider)?;
    let wire: Arc<dyn Model> = match provider.kind {
        ProviderKind::OpenaiChat => {
            wire(OpenAiChat::new(provider.quirks), info, peer, headers, client, question)
        }
        ProviderKind::OpenaiResponses => {
            wire(OpenAiResponses::new(provider.quirks), info, peer, headers, client, question)
        }
        ProviderKind::Anthropic => wire(Anthropic::default(), info, peer, headers, client, question),
        ProviderKind::Gemini => wire(Gemini::default(), info, peer, headers, client, question),
    };
    let wire = match provider.tool_calls {
        ToolCallForm::Native => wire,
        ToolCallForm::Xml => Arc::new(XmlToolCalls::new(wire)),
    };
    Ok(Arc::new(RetryModel::new(wire, retry)))
}

fn wire<D: Dialect>(
    dialect: D,
    info: ModelInfo,
    peer: Peer,
    headers: HeaderMap,
    client: HttpClient,
    question: Question,
) -> Arc<dyn Model> {
    Arc::new(WireModel::new(dialect, info, peer, headers, client, question))
}

pub(crate) fn peer(provider: &Provider, model: &str, key: Option<SecretString>) -> Result<Peer, Error> {
    let wrong = |what: String| {
        Error::new(ErrorKind::LlmConnection, format!("`{}` is no base URL: {what}", provider.base_url))
            .with_hint(format!("set `providers.{}.base_url` to an http or https address", provider.name))
    };
    let base_url = Url::parse(&provider.base_url).map_err(|error| wrong(error.to_string()))?;
    if !matches!(base_url.scheme(), "http" | "https") {
        return Err(wrong(format!("`{}` is neither http nor https", base_url.scheme())));
    }
    Ok(Peer {
        provider: provider.name.clone(),
        model: model.to_owned(),
        base_url,
        api_key_env: provider.api_key_env.clone(),
        start: provider.start.clone(),
        key,
    })
}

/// The headers of the provider's wire format: the key, and what else it asks for.
pub(crate) fn own_headers(
    provider: &Provider,
    key: Option<&SecretString>,
    peer: &Peer,
) -> Result<HeaderMap, Error> {
    match provider.kind {
        ProviderKind::Anthropic => key_header(&Anthropic::default(), key, peer),
        ProviderKind::Gemini => key_header(&Gemini::default(), key, peer),
        ProviderKind::OpenaiChat | ProviderKind::OpenaiResponses => {
            key_header(&OpenAiChat::new(provider.quirks), key, peer)
        }
    }
}

pub(crate) fn headers(provider: &Provider) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    for (name, value) in &provider.headers {
        let wrong = || {
            Error::new(ErrorKind::LlmProtocol, format!("the header `{name}` cannot be sent"))
                .with_hint(format!("check `providers.{}.headers`", provider.name))
        };
        let header = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        // It may hold a key.
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}
