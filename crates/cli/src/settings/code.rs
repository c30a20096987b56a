//! `[code]`: who answers questions about code, besides Stepwell's own index.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who answers questions about code, besides Stepwell's own index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CodeSettings {
    /// Whether language servers of the machine may be started for questions that ask for them. They run code of the
    /// project. `off` when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<ServersSetting>,
    /// Seconds that a question waits for a language server, its start included. 60 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 240))]
    pub server_seconds: Option<u64>,
    /// Size of the overview of the most used symbols that a task begins with, in tokens; 0 for none. 1000 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 20000))]
    pub overview_tokens: Option<usize>,
    /// Seconds that a task's first message waits for the overview; what takes longer comes with a later turn. 0 when not
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 120))]
    pub overview_seconds: Option<u64>,
    /// Language servers by name: others than the known ones, or changes to those.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub server: BTreeMap<String, LanguageServer>,
    /// A server that makes vectors of code, so that it is found by what it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<EmbeddingSettings>,
}

/// A server with OpenAI's `/embeddings`. The code of every folder that is searched is sent to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingSettings {
    /// Where the API begins, such as `http://localhost:11434/v1`.
    pub endpoint: String,
    /// The model that makes the vectors.
    pub model: String,
    /// The environment variable that holds the key; else it is looked for under the name `embeddings`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Numbers of a vector, for models that can give fewer than they have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16384))]
    pub dimensions: Option<u32>,
    /// Texts sent in one request. 32 when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub batch: Option<usize>,
}

/// Whether language servers may be started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServersSetting {
    #[default]
    Off,
    /// Those that are found on the machine.
    Auto,
}

/// How a language server is started. What is not given stays as it is known of the server of this name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LanguageServer {
    /// A program on the search path, or a whole path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// The languages it is asked about, such as `python` or `c++`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
    /// Variables it gets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What it is told at its start, and when it asks for its configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization_options: Option<serde_json::Value>,
}
