//! Models by name, with their keys, recording and replay.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::ExposeSecret;
use stepwell_agent::ModelSource;
use stepwell_llm::{
    Catalog, ConnectOptions, Error, HttpClient, Model, ModelFacts, Provider, RetryPolicy, Timeouts,
};
use stepwell_protocol::ErrorKind;
use stepwell_tool_runtime::Redactor;
use stepwell_workspace::files;

use crate::keys;
use crate::settings::{Places, Settings};

/// `--model replay:FILE`.
const REPLAY: &str = "replay:";

pub struct Models {
    places: Arc<Places>,
    settings: Arc<Settings>,
    redactor: Arc<Redactor>,
    record: Option<PathBuf>,
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
    ) -> anyhow::Result<Self> {
        let catalog = match settings.model_table() {
            Some(table) => Catalog::with_user(&table)?,
            None => Catalog::built_in(),
        };
        Ok(Self {
            places,
            settings,
            redactor,
            record,
            client: HttpClient::new(Timeouts::STANDARD),
            catalog,
            connected: Mutex::default(),
        })
    }

    pub fn client(&self) -> &HttpClient {
        &self.client
    }

    /// A provider of the settings or a preset.
    pub fn provider(&self, name: &str) -> Result<Provider, Error> {
        Provider::resolve(name, self.settings.providers().get(name))
    }

    /// The key of a provider; its value is redacted everywhere from here on.
    pub fn key(&self, provider: &Provider) -> anyhow::Result<(Option<secrecy::SecretString>, keys::KeySource)> {
        let (key, source) = keys::find(&self.places, provider)?;
        if let Some(key) = &key {
            self.redactor.add_secrets([(format!("{} key", provider.name), key.expose_secret().to_owned())]);
        }
        Ok((key, source))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn Model>, Error> {
        if let Some(path) = name.strip_prefix(REPLAY) {
            return replay(Path::new(path));
        }
        let Some((provider, model)) = name.split_once('/').filter(|(_, model)| !model.is_empty()) else {
            return Err(Error::new(ErrorKind::LlmUnknownModel, format!("`{name}` names no model"))
                .with_hint("a model is PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5 or ollama/qwen3"));
        };
        let provider = self.provider(provider)?;
        let (key, source) = self.key(&provider).map_err(|error| {
            Error::new(ErrorKind::LlmAuthentication, format!("{error:#}"))
        })?;
        if source == keys::KeySource::Missing {
            let variable = provider.api_key_env.as_deref().unwrap_or_default();
            let message = format!("there is no key for `{}`", provider.name);
            return Err(Error::new(ErrorKind::LlmAuthentication, message).with_hint(format!(
                "set {variable}, or keep the key with `stepwell config set-key {}`",
                provider.name
            )));
        }
        let connected = stepwell_llm::connect(ConnectOptions {
            provider,
            model: model.to_owned(),
            key,
            facts: ModelFacts::default(),
            catalog: self.catalog.clone(),
            client: self.client.clone(),
            retry: RetryPolicy::STANDARD,
        })?;
        match &self.record {
            None => Ok(connected),
            Some(path) => recorded(connected, path),
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

fn replay(path: &Path) -> Result<Arc<dyn Model>, Error> {
    let text = files::read_to_string(path)
        .map_err(|error| Error::new(ErrorKind::LlmUnknownModel, error.to_string()))?;
    Ok(Arc::new(stepwell_llm::ReplayModel::new(&text, stepwell_llm::ReplayStrictness::Strict)?))
}

fn recorded(model: Arc<dyn Model>, path: &Path) -> Result<Arc<dyn Model>, Error> {
    let file = files::create_private(path)
        .map_err(|error| Error::new(ErrorKind::Store, error.to_string()))?;
    Ok(Arc::new(stepwell_llm::RecordingModel::new(model, Box::new(file))))
}
