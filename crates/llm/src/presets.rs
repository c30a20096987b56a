//! Providers as data: what the settings say, and what is known of the common ones.
//!
//! A provider of the settings that bears a known name only says what differs from the preset; any other says
//! at least its kind and its base URL. Presets are read one at a time: naming one does not parse the others.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::ErrorKind;

use crate::model::Error;

const PRESETS: &str = include_str!("presets.toml");

/// The wire format a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
}

/// How a model is told to call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallForm {
    /// The provider's own form.
    #[default]
    Native,
    /// XML in the text, for models without one.
    Xml,
}

/// `[providers.NAME]` of the settings. What is absent comes from the preset of that name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ProviderKind>,
    /// Where the API begins, such as `https://api.openai.com/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Sent with every request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<ToolCallForm>,
    pub quirks: QuirksConfig,
}

/// Where a server departs from the format it speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QuirksConfig {
    /// The name under which a limit of the answer's length is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<MaxTokensField>,
    /// Whether to ask for token counts in the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_usage: Option<bool>,
    /// Whether `parallel_tool_calls` may be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_role: Option<SystemRole>,
    /// How the model is told to think more or less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortField>,
    /// Whether the model wants its reasoning back with its calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_reasoning: Option<bool>,
    /// Whether `prompt_cache_key` may be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache_key: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    MaxTokens,
    MaxCompletionTokens,
    Unsent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    System,
    Developer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffortField {
    /// `"reasoning_effort": "high"`
    ReasoningEffort,
    /// `"reasoning": {"effort": "high"}`
    Reasoning,
    /// `"enable_thinking": true`
    EnableThinking,
    /// `"thinking": {"type": "enabled"}`
    Thinking,
    Unsent,
}

/// [`QuirksConfig`] with nothing left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    pub max_tokens: MaxTokensField,
    pub stream_usage: bool,
    pub parallel_tool_calls: bool,
    pub system_role: SystemRole,
    pub effort: EffortField,
    pub replay_reasoning: bool,
    pub prompt_cache_key: bool,
}

impl QuirksConfig {
    /// What the settings say, else what the preset says, else what most servers understand.
    fn resolve(self, preset: Self) -> Quirks {
        Quirks {
            max_tokens: self.max_tokens.or(preset.max_tokens).unwrap_or(MaxTokensField::MaxTokens),
            stream_usage: self.stream_usage.or(preset.stream_usage).unwrap_or(true),
            parallel_tool_calls: self.parallel_tool_calls.or(preset.parallel_tool_calls).unwrap_or(false),
            system_role: self.system_role.or(preset.system_role).unwrap_or(SystemRole::System),
            effort: self.effort.or(preset.effort).unwrap_or(EffortField::Unsent),
            replay_reasoning: self.replay_reasoning.or(preset.replay_reasoning).unwrap_or(false),
            prompt_cache_key: self.prompt_cache_key.or(preset.prompt_cache_key).unwrap_or(false),
        }
    }
}

/// A provider that is known by name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    #[serde(skip)]
    pub name: String,
    /// How it is called where a person chooses.
    pub title: String,
    pub kind: ProviderKind,
    pub base_url: String,
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// For a server on the person's own machine: how it is started.
    #[serde(default)]
    pub start: Option<String>,
    #[serde(default)]
    pub quirks: QuirksConfig,
}

impl Preset {
    /// Whether the server runs on the person's own machine.
    pub fn is_local(&self) -> bool {
        self.start.is_some()
    }
}

/// The names of all presets, in the order in which they are offered.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.lines().filter_map(|line| {
        let name = line.strip_prefix('[')?.strip_suffix(']')?;
        (!name.contains('.')).then_some(name)
    })
}

/// The preset of that name.
pub fn preset(name: &str) -> Result<Option<Preset>, Error> {
    let Some(section) = section(PRESETS, name) else { return Ok(None) };
    let mut preset: Preset = toml::from_str(section).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("the preset `{name}` is malformed: {error}"))
    })?;
    name.clone_into(&mut preset.name);
    Ok(Some(preset))
}

/// The lines under `[name]`, up to the next table's header.
fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let header = format!("[{name}]\n");
    let start = if text.starts_with(&header) { 0 } else { text.find(&format!("\n{header}"))? + 1 };
    let body = &text[start + header.len()..];
    Some(body.find("\n[").map_or(body, |end| &body[..end]))
}

/// A provider with everything known that is needed to talk to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    pub name: String,
    pub kind: ProviderKind,
    pub base_url: String,
    pub api_key_env: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub tool_calls: ToolCallForm,
    /// How a server on the person's own machine is started.
    pub start: Option<String>,
    /// Whether this is a maker's own service, at its own address.
    pub hosted: bool,
    pub(crate) quirks: Quirks,
}

impl Provider {
    /// The provider of that name: the settings' word, completed by the preset.
    pub fn resolve(name: &str, config: Option<&ProviderConfig>) -> Result<Self, Error> {
        let preset = preset(name)?;
        let empty = ProviderConfig::default();
        let config = match (config, &preset) {
            (Some(config), _) => config,
            (None, Some(_)) => &empty,
            (None, None) => {
                let known: Vec<_> = preset_names().collect();
                return Err(Error::new(ErrorKind::LlmUnknownModel, format!("no provider `{name}`"))
                    .with_hint(format!(
                        "known are {}; others are set up under `[providers.{name}]`",
                        known.join(", ")
                    )));
            }
        };
        // A preset of another wire format has nothing to say about this one.
        let preset = preset.filter(|preset| config.kind.is_none_or(|kind| kind == preset.kind));
        let missing = |what: &str| {
            Error::new(ErrorKind::LlmUnknownModel, format!("the provider `{name}` has no `{what}`"))
                .with_hint(format!("set `providers.{name}.{what}` in the settings"))
        };
        let kind =
            config.kind.or(preset.as_ref().map(|preset| preset.kind)).ok_or_else(|| missing("kind"))?;
        let base_url = config
            .base_url
            .clone()
            .or_else(|| preset.as_ref().map(|preset| preset.base_url.clone()))
            .ok_or_else(|| missing("base_url"))?;
        let hosted = preset.as_ref().is_some_and(|preset| !preset.is_local() && preset.base_url == base_url);
        let preset_quirks = preset.as_ref().map_or_else(QuirksConfig::default, |preset| preset.quirks);
        Ok(Self {
            name: name.to_owned(),
            kind,
            base_url,
            api_key_env: config
                .api_key_env
                .clone()
                .or_else(|| preset.as_ref().and_then(|preset| preset.api_key_env.clone())),
            headers: config.headers.clone(),
            tool_calls: config.tool_calls.unwrap_or_default(),
            start: preset.and_then(|preset| preset.start),
            hosted,
            quirks: config.quirks.resolve(preset_quirks),
        })
    }
}

/// Parts `PROVIDER/MODEL`; the model's own name may contain further slashes.
pub fn split_model_name(text: &str) -> Result<(&str, &str), Error> {
    match text.split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok((provider, model)),
        _ => Err(Error::new(ErrorKind::LlmUnknownModel, format!("`{text}` is no model name"))
            .with_hint("write it as `PROVIDER/MODEL`, such as `anthropic/claude-sonnet-4-5`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_well_formed() {
        let names: Vec<_> = preset_names().collect();
        assert_eq!(
            names,
            [
                "anthropic",
                "openai",
                "openai-chat",
                "gemini",
                "ollama",
                "llamacpp",
                "lmstudio",
                "vllm",
                "litellm",
                "openrouter",
                "deepseek",
                "qwen",
                "glm",
                "kimi",
            ]
        );
        for name in names {
            let preset = preset(name).unwrap().unwrap();
            let url = url::Url::parse(&preset.base_url).unwrap();
            assert_eq!(preset.is_local(), url.scheme() == "http", "{name}");
            assert!(preset.is_local() || preset.api_key_env.is_some(), "{name}");
            Provider::resolve(name, None).unwrap();
        }
    }

    #[test]
    fn settings_override_a_preset() {
        let config: ProviderConfig =
            toml::from_str("base_url = 'http://gpu:11434/v1'\nquirks = { stream_usage = false }").unwrap();
        let provider = Provider::resolve("ollama", Some(&config)).unwrap();
        assert_eq!(provider.base_url, "http://gpu:11434/v1");
        assert_eq!(provider.kind, ProviderKind::OpenaiChat);
        assert!(!provider.quirks.stream_usage);
        assert!(provider.start.is_some());
    }

    #[test]
    fn a_new_provider_names_kind_and_address() {
        let config: ProviderConfig = toml::from_str(
            "kind = 'openai-responses'\nbase_url = 'https://x.example/v1'\ntool_calls = 'xml'",
        )
        .unwrap();
        let provider = Provider::resolve("mine", Some(&config)).unwrap();
        assert_eq!(provider.kind, ProviderKind::OpenaiResponses);
        assert_eq!(provider.tool_calls, ToolCallForm::Xml);
        let error = Provider::resolve("mine", Some(&ProviderConfig::default())).unwrap_err();
        assert_eq!(error.to_string(), "the provider `mine` has no `kind`");
        let error = Provider::resolve("mine", None).unwrap_err();
        assert!(error.hint.unwrap().contains("anthropic, openai"));
    }

    #[test]
    fn model_names_part_at_the_first_slash() {
        assert_eq!(split_model_name("openrouter/qwen/qwen3").unwrap(), ("openrouter", "qwen/qwen3"));
        for text in ["x", "/x", "x/", ""] {
            assert!(split_model_name(text).is_err());
        }
    }
}
