//! Models by name, with their keys, recording and replay.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use secrecy::ExposeSecret;
use stepwell_agent::ModelSource;
use stepwell_llm::{
    Catalog, ConnectOptions, Error, Matching, Model, ModelFacts, ModelInfo, Normalizer, Provider, Recorder,
    Replay, RetryPolicy, WindowSource,
};
use stepwell_net::{HttpClient, Timeouts};
use stepwell_protocol::{ErrorKind, ModelItem};
use stepwell_tool_runtime::Redactor;
use stepwell_workspace::files;

use crate::keys;
use crate::settings::{Places, Settings};

/// `--model replay:FILE`: the conversation must be the recorded one.
const REPLAY: &str = "replay:";
/// `--model replay-lenient:FILE`: only the course of the conversation must be.
const REPLAY_LENIENT: &str = "replay-lenient:";

/// How long a provider may take to list its models.
const LIST_DEADLINE: Duration = Duration::from_secs(10);

pub struct Models {
    places: Arc<Places>,
    settings: Arc<Settings>,
    redactor: Arc<Redactor>,
    record: Option<PathBuf>,
    workspace: PathBuf,
    client: HttpClient,
    catalog: Catalog,
    /// A model is connected once: its connection and its recording go on from run to run.
    connected: Mutex<HashMap<String, Arc<dyn Model>>>,
}

impl Models {
    pub fn new(
        places: Arc<Places>,
        settings: Arc<Settings>,
        redactor: Arc<Redactor>,
        record: Option<PathBuf>,
        workspace: PathBuf,
    ) -> Self {
        let catalog = Catalog::with_user(settings.models());
        Self {
            places,
            settings,
            redactor,
            record,
            workspace,
            client: HttpClient::new(Timeouts::STANDARD),
            catalog,
            connected: Mutex::default(),
        }
    }

    pub fn client(&self) -> &HttpClient {
        &self.client
    }

    /// A provider of the settings or a preset.
    pub fn provider(&self, name: &str) -> Result<Provider, Error> {
        Provider::resolve(name, self.settings.providers().get(name))
    }

    /// The key of a provider; its value is redacted everywhere from here on.
    pub fn key(
        &self,
        provider: &Provider,
    ) -> anyhow::Result<(Option<secrecy::SecretString>, keys::KeySource)> {
        let (key, source) = keys::find(&self.places, provider)?;
        // From the keyring; those at hand are known to the redactor already.
        if let (Some(key), keys::KeySource::Keyring) = (&key, &source) {
            self.redactor.add_secrets([(format!("{} key", provider.name), key.expose_secret().to_owned())]);
        }
        Ok((key, source))
    }

    /// What it takes to connect a model by its name.
    pub fn options(&self, name: &str) -> Result<ConnectOptions, Error> {
        let Some((provider, model)) = name.split_once('/').filter(|(_, model)| !model.is_empty()) else {
            return Err(Error::new(ErrorKind::LlmUnknownModel, format!("`{name}` names no model"))
                .with_hint(
                    "a model is PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5 or ollama/qwen3",
                ));
        };
        let provider = self.provider(provider)?;
        let (key, source) = self
            .key(&provider)
            .map_err(|error| Error::new(ErrorKind::LlmAuthentication, format!("{error:#}")))?;
        if source == keys::KeySource::Missing {
            let variable = provider.api_key_env.as_deref().unwrap_or_default();
            let message = format!("there is no key for `{}`", provider.name);
            return Err(Error::new(ErrorKind::LlmAuthentication, message).with_hint(format!(
                "set {variable}, or keep the key with `stepwell config set-key {}`",
                provider.name
            )));
        }
        Ok(ConnectOptions {
            provider,
            model: model.to_owned(),
            key,
            facts: ModelFacts::default(),
            catalog: self.catalog.clone(),
            client: self.client.clone(),
            retry: RetryPolicy::STANDARD,
        })
    }

    /// What is known of a model without connecting it; `None` for recordings and names that say nothing.
    pub fn describe(&self, name: &str) -> Option<ModelInfo> {
        let (provider, model) = name.split_once('/').filter(|_| !name.starts_with("replay"))?;
        Some(self.catalog.info(provider, model, &ModelFacts::default()))
    }

    /// Models that can be reached: of local servers, and of providers that are set or have a key. With each provider
    /// that failed, why.
    pub async fn reachable(&self) -> (Vec<ModelInfo>, Vec<(String, anyhow::Error)>) {
        let local = stepwell_llm::local_servers(&self.client).await;
        let (mut found, mut local_names) = (Vec::new(), Vec::new());
        let mut failed = Vec::new();
        for server in local {
            for model in server.models {
                local_names.push(format!("{}/{model}", server.preset.name));
            }
        }
        let local = local_names.iter().map(|name| self.asked(name));
        found.extend(futures::future::join_all(local).await.into_iter().flatten());
        // Asked side by side: one slow server does not hold up the others.
        let asked = self.worth_asking().into_iter().map(|name| async move {
            let listed = self.list_of(&name).await;
            (name, listed)
        });
        for (name, listed) in futures::future::join_all(asked).await {
            match listed {
                Ok(models) => found.extend(models),
                Err(error) => failed.push((name, error)),
            }
        }
        (found, failed)
    }

    /// The models a provider lists.
    pub async fn list_of(&self, name: &str) -> anyhow::Result<Vec<ModelInfo>> {
        let provider = self.provider(name)?;
        let (key, _) = self.key(&provider)?;
        let ids = stepwell_llm::list_models(&provider, key, &self.client, LIST_DEADLINE).await?;
        let names: Vec<String> = ids.iter().map(|id| format!("{name}/{id}")).collect();
        let asked = names.iter().map(|name| self.asked(name));
        Ok(futures::future::try_join_all(asked).await?)
    }

    /// What is known of a model, with the window its server runs it with.
    async fn asked(&self, name: &str) -> Result<ModelInfo, Error> {
        let model = self.connect(name)?;
        let window = model.window().await;
        let info = model.info().clone();
        Ok(ModelInfo { context_window: window.tokens, window_source: window.source, ..info })
    }

    /// Providers of the settings and those with a key. Local servers are found by their ports.
    fn worth_asking(&self) -> Vec<String> {
        let mut names: Vec<String> = self.settings.providers().into_keys().collect();
        for name in stepwell_llm::preset_names() {
            // Two presets of one maker list the same models.
            if names.iter().any(|known| known == name) || name == "openai-chat" {
                continue;
            }
            let Ok(provider) = self.provider(name) else { continue };
            let has_key = self.key(&provider).is_ok_and(|(_, source)| {
                use keys::KeySource;
                matches!(source, KeySource::Environment(_) | KeySource::File | KeySource::Keyring)
            });
            if has_key {
                names.push(name.to_owned());
            }
        }
        names
    }

    fn open(&self, name: &str) -> Result<Arc<dyn Model>, Error> {
        let normalizer = || Normalizer { workspace: Some(self.workspace.display().to_string()) };
        for (prefix, matching) in [(REPLAY, Matching::Strict), (REPLAY_LENIENT, Matching::Lenient)] {
            if let Some(path) = name.strip_prefix(prefix) {
                return replay(Path::new(path), matching, normalizer());
            }
        }
        let connected = stepwell_llm::connect(self.options(name)?)?;
        match &self.record {
            None => Ok(connected),
            Some(path) => recorded(connected, path, normalizer()),
        }
    }
}

#[async_trait]
impl ModelSource for Models {
    fn connect(&self, name: &str) -> Result<Arc<dyn Model>, Error> {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = connected.get(name) {
            return Ok(Arc::clone(model));
        }
        let model = self.open(name)?;
        connected.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    async fn list(&self) -> Vec<ModelItem> {
        let (found, _) = self.reachable().await;
        found.iter().map(item).collect()
    }
}

fn item(info: &ModelInfo) -> ModelItem {
    ModelItem {
        name: format!("{}/{}", info.provider, info.id),
        context_window: info.context_window,
        window_assumed: info.window_source == WindowSource::Assumed,
        images: info.images,
        input_price: info.price.map(|price| price.input),
        output_price: info.price.map(|price| price.output),
    }
}

fn replay(path: &Path, matching: Matching, normalizer: Normalizer) -> Result<Arc<dyn Model>, Error> {
    let text = files::read_to_string(path).map_err(|error| {
        Error::new(ErrorKind::LlmUnknownModel, error.to_string())
            .with_hint("a cassette is made by `stepwell run --record FILE`")
    })?;
    Ok(Arc::new(Replay::new(&text, matching, normalizer)?))
}

fn recorded(model: Arc<dyn Model>, path: &Path, normalizer: Normalizer) -> Result<Arc<dyn Model>, Error> {
    let file = files::create_private(path).map_err(|error| {
        Error::new(ErrorKind::Store, error.to_string())
            .with_hint("record into a new file in a folder that exists and can be written")
    })?;
    Ok(Arc::new(Recorder::new(model, Box::new(file), normalizer)))
}
