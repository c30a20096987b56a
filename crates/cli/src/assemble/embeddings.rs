//! Vectors of code: the server that the settings name, and what may be sent to it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use stepwell_code_intel::embeddings::{Embedder, Embeddings, Guard, Vectors};
use stepwell_llm::{EmbeddingModel, EmbeddingOptions, Provider, ProviderConfig, ProviderKind};
use stepwell_net::{HttpClient, Timeouts};
use stepwell_tool_runtime::{DeniedReads, Redactor};

use crate::keys::{self, KeySource};
use crate::report;
use crate::settings::{Places, Settings};

/// The name under which its key is kept.
pub const NAME: &str = "embeddings";
const BATCH: usize = 32;
const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(5),
    first_byte: Duration::from_mins(2),
    idle: Duration::from_secs(30),
};
/// Parts of names of files that hold secrets, whatever their language.
const SECRET_NAMES: &[&str] =
    &["secret", "credential", "password", "passwd", "private_key", "id_rsa", "id_ed25519"];
const SECRET_ENDINGS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx"];

/// What the settings say about vectors; none where they name no server.
pub fn embeddings(
    places: &Places,
    settings: &Settings,
    redactor: &Arc<Redactor>,
    root: &Path,
    denied: Option<DeniedReads>,
) -> anyhow::Result<Option<Arc<Embeddings>>> {
    let Some(chosen) = settings.embeddings() else { return Ok(None) };
    let wrong = |error: stepwell_llm::Error| {
        let hint = "look at `code.embeddings` in your settings; docs/code.md tells what it takes";
        report::usage(format!("code.embeddings: {}", error.message), hint)
    };
    let config = ProviderConfig {
        kind: Some(ProviderKind::OpenaiChat),
        base_url: Some(chosen.endpoint.clone()),
        api_key_env: chosen.api_key_env.clone(),
        ..ProviderConfig::default()
    };
    let provider = Provider::resolve(NAME, Some(&config)).map_err(wrong)?;
    let (key, source) = keys::find(places, &provider)?;
    if source == KeySource::Missing {
        let variable = chosen.api_key_env.unwrap_or_default();
        return Err(report::usage(
            "there is no key for the server of `code.embeddings`",
            format!("set {variable}, or keep the key with `stepwell config set-key {NAME}`"),
        ));
    }
    if let Some(key) = &key {
        redactor.add_secrets([(format!("{NAME} key"), key.expose_secret().to_owned())]);
    }
    let name = format!("{} {} {:?}", chosen.endpoint, chosen.model, chosen.dimensions);
    let (model, dimensions) = (chosen.model, chosen.dimensions);
    let options = EmbeddingOptions { provider, model, key, dimensions, client: HttpClient::new(TIMEOUTS) };
    let model = EmbeddingModel::new(options).map_err(wrong)?;
    let batch = chosen.batch.unwrap_or(BATCH);
    let guard = Careful { redactor: Arc::clone(redactor), root: root.to_path_buf(), denied };
    Ok(Some(Arc::new(Embeddings::new(Arc::new(Server { name, model, batch }), Arc::new(guard)))))
}

struct Server {
    name: String,
    model: EmbeddingModel,
    batch: usize,
}

impl Embedder for Server {
    fn name(&self) -> &str {
        &self.name
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn embed(&self, texts: Vec<String>, deadline: Duration) -> Vectors<'_> {
        Box::pin(async move { self.model.embed(&texts, deadline).await.map_err(|error| error.message) })
    }
}

/// Sends nothing of files that rules deny or whose names speak of secrets, and no secret of the others.
struct Careful {
    redactor: Arc<Redactor>,
    root: std::path::PathBuf,
    denied: Option<DeniedReads>,
}

impl Guard for Careful {
    fn allows(&self, path: &str) -> bool {
        let whole = self.root.join(path);
        let is_denied =
            self.denied.as_ref().is_some_and(|denied| denied.rule_for(&whole.to_string_lossy()).is_some());
        !is_denied && !is_secret(path)
    }

    fn clean(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }
}

fn is_secret(path: &str) -> bool {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    name.starts_with(".env")
        || SECRET_NAMES.iter().any(|part| name.contains(part))
        || SECRET_ENDINGS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_whose_names_speak_of_secrets_are_not_sent() {
        for (path, expected) in [
            (".env", true),
            ("config/.env.production", true),
            ("deploy/Secrets.py", true),
            ("keys/server.pem", true),
            ("src/aws_credentials.ts", true),
            ("src/main.rs", false),
            ("src/environment.py", false),
            ("secretary/letters.py", false),
        ] {
            assert_eq!(is_secret(path), expected, "{path}");
        }
    }
}
