//! Models by name, with their keys, recording and replay.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::ExposeSecret;
use stepwell_agent::ModelSource;
use stepwell_llm::{
    Catalog, ConnectOptions, Error, HttpClient, Matching, Model, ModelFacts, ModelInfo, Normalizer, Provider,
    Recorder, Replay, RetryPolicy, Timeouts,
};
use stepwell_protocol::ErrorKind;
use stepwell_tool_runtime::Redactor;
use stepwell_workspace::files;

use crate::keys;
use crate::settings::{Places, Settings};

/// `--model replay:FILE`: the conversation must be the recorded one.
const REPLAY: &str = "replay:";
/// `--model replay-lenient:FILE`: only the course of the conversation must be.
const REPLAY_LENIENT: &str = "replay-lenient:";

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
