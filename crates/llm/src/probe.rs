//! Asking a server what it has, and whether the settings work.

use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::future::join_all;
use secrecy::SecretString;
use serde_json::Value;
use stepwell_net::HttpClient;
use stepwell_net::header::HeaderMap;
use stepwell_protocol::{ErrorKind, Message, Usage};
use url::Url;

use crate::connect::{ConnectOptions, connect, headers, own_headers, peer};
use crate::exchange::{get, whole};
use crate::model::{Delta, Error, Request, RequestOptions};
use crate::presets::{Preset, Provider, ProviderKind, preset, preset_names};
use crate::retry::RetryPolicy;
use crate::wire::join;

/// A list of models is not longer than this.
const MAX_LIST: usize = 8 * 1024 * 1024;

/// A server on this machine answers at once or is not there.
const LOCAL_DEADLINE: Duration = Duration::from_millis(300);

/// The least that all providers accept as a limit of an answer.
const SHORT_ANSWER: u64 = 16;

/// The models a provider has, by name.
pub async fn list_models(
    provider: &Provider,
    key: Option<SecretString>,
    client: &HttpClient,
    deadline: Duration,
) -> Result<Vec<String>, Error> {
    let peer = peer(provider, "", key.clone())?;
    let mut all = headers(provider)?;
    all.extend(own_headers(provider, key.as_ref(), &peer)?);
    let mut url = match (provider.kind, peer.base_url.path().trim_end_matches('/')) {
        (ProviderKind::Anthropic, "") => join(&peer.base_url, &["v1", "models"])?,
        _ => join(&peer.base_url, &["models"])?,
    };
    match provider.kind {
        ProviderKind::Anthropic => drop(url.query_pairs_mut().append_pair("limit", "1000")),
        ProviderKind::Gemini => drop(url.query_pairs_mut().append_pair("pageSize", "1000")),
        ProviderKind::OpenaiChat | ProviderKind::OpenaiResponses => {}
    }
    let ask = async |url: Url, headers: HeaderMap| {
        let body = whole(&mut get(client, &url, headers, &peer).await?, MAX_LIST, &peer).await?;
        let list: Value = serde_json::from_slice(&body).map_err(|cause| peer.unreadable(&body, &cause))?;
        names(&list).ok_or_else(|| peer.unreadable(&body, &"no list of models in it"))
    };
    let attempt = async {
        match ask(url, all.clone()).await {
            // Ollama before 0.2 lists its models under its own path only.
            Err(error) if provider.start.is_some() && error.kind != ErrorKind::LlmConnection => {
                let mut url = peer.base_url.clone();
                url.set_path("/api/tags");
                ask(url, all).await.map_err(|_| error)
            }
            outcome => outcome,
        }
    };
    tokio::time::timeout(deadline, attempt).await.unwrap_or_else(|_| Err(peer.silence(deadline)))
}

/// `{"data": [{"id"}]}`, `{"models": [{"name"}]}` or a bare list.
fn names(list: &Value) -> Option<Vec<String>> {
    let items = ["data", "models"].iter().find_map(|field| list.get(field)).unwrap_or(list).as_array()?;
    let name = |item: &Value| {
        let name = ["id", "name", "model"].iter().find_map(|field| item.get(field)?.as_str())?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    };
    let mut names: Vec<String> = items.iter().filter_map(name).collect();
    names.sort();
    names.dedup();
    Some(names)
}

/// What a live call showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// Until the first piece of the answer.
    pub latency: Duration,
    /// The beginning of what the model said; may be empty.
    pub answer: String,
    pub usage: Option<Usage>,
}

/// Makes one small live call: the settings, the key and the model's name are right if it succeeds.
pub async fn validate(mut options: ConnectOptions) -> Result<Validation, Error> {
    // A person waits: the first failure is the answer.
    options.retry = RetryPolicy { connection_retries: 0, rate_limit_retries: 0, ..options.retry };
    let model = connect(options)?;
    let started = Instant::now();
    let mut stream = model.stream(Request {
        system: "".into(),
        messages: vec![Message::user("Reply with the word OK.").into()],
        tools: [].into(),
        deferred: std::sync::Arc::from([]),
        options: RequestOptions { max_output_tokens: Some(SHORT_ANSWER), ..RequestOptions::default() },
    });
    let mut validation = Validation { latency: Duration::ZERO, answer: String::new(), usage: None };
    while let Some(delta) = stream.next().await {
        let delta = delta?;
        if validation.latency.is_zero() {
            validation.latency = started.elapsed();
        }
        match delta {
            Delta::Text(text) => validation.answer.push_str(&text),
            Delta::Usage(usage) => validation.usage = Some(usage),
            _ => {}
        }
    }
    Ok(validation)
}

/// A server that runs on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalServer {
    pub preset: Preset,
    pub models: Vec<String>,
}

/// Looks at the ports where the known local servers listen, all at once.
pub async fn local_servers(client: &HttpClient) -> Vec<LocalServer> {
    let presets = preset_names().filter_map(|name| preset(name).ok().flatten()).filter(Preset::is_local);
    let probes = presets.map(|preset| async move {
        let provider = Provider::resolve(&preset.name, None).ok()?;
        let models = list_models(&provider, None, client, LOCAL_DEADLINE).await.ok()?;
        Some(LocalServer { preset, models })
    });
    join_all(probes).await.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_come_in_several_shapes() {
        let expected = Some(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(names(&json!({ "data": [{ "id": "b" }, { "id": "a" }] })), expected);
        assert_eq!(names(&json!({ "models": [{ "name": "models/a" }, { "name": "models/b" }] })), expected);
        assert_eq!(names(&json!({ "models": [{ "name": "a" }, { "model": "b" }] })), expected);
        assert_eq!(names(&json!([{ "id": "a" }, { "id": "b" }])), expected);
        assert_eq!(names(&json!({ "error": "x" })), None);
    }
}
