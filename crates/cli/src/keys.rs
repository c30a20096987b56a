//! Keys of providers: from the environment, the desktop's keyring, or a file only the owner can read.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use secrecy::SecretString;
use stepwell_llm::Provider;
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::process;

use crate::report;
use crate::settings::{Places, Settings};

/// Shorter values, such as the `x` a local server is given, stand in ordinary text too often to be hidden.
const SHORTEST_SECRET: usize = 8;

/// Where a key was found; the key itself is never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    Environment(String),
    Keyring,
    File,
    /// A server on this machine that wants none.
    NotNeeded,
    Missing,
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "${name}"),
            Self::Keyring => f.write_str("keyring"),
            Self::File => f.write_str("key file"),
            Self::NotNeeded => f.write_str("none needed"),
            Self::Missing => f.write_str("missing"),
        }
    }
}

/// The key of a provider and where it comes from.
pub fn find(places: &Places, provider: &Provider) -> anyhow::Result<(Option<SecretString>, KeySource)> {
    if let Some(name) = &provider.api_key_env
        && let Ok(key) = std::env::var(name)
        && !key.is_empty()
    {
        return Ok((Some(key.into()), KeySource::Environment(name.clone())));
    }
    if let Some(key) = read_file(places)?.remove(&provider.name) {
        return Ok((Some(key.into()), KeySource::File));
    }
    if provider.start.is_some() || provider.api_key_env.is_none() {
        return Ok((None, KeySource::NotNeeded));
    }
    match from_keyring(&provider.name) {
        Some(key) => Ok((Some(key), KeySource::Keyring)),
        None => Ok((None, KeySource::Missing)),
    }
}

/// Every key that is at hand without asking the keyring, with a name for each: none of them may be shown.
pub fn all_known(places: &Places, settings: &Settings) -> Vec<(String, String)> {
    // A file that cannot be used gives no key either; who needs one from it is told what is wrong.
    let mut keys: Vec<(String, String)> = read_file(places).unwrap_or_default().into_iter().collect();
    for (name, provider) in settings.providers() {
        if let Some(key) = provider.api_key_env.and_then(|variable| std::env::var(variable).ok()) {
            keys.push((name, key));
        }
    }
    keys.retain(|(_, key)| key.len() >= SHORTEST_SECRET);
    keys.into_iter().map(|(name, key)| (format!("{name} key"), key)).collect()
}

/// Keeps a key in the file, mode 0600.
pub fn store(places: &Places, provider: &str, key: &str) -> anyhow::Result<()> {
    let mut keys = read_file(places)?;
    keys.insert(provider.to_owned(), key.to_owned());
    files::create_private_dir(&places.config)?;
    let text = toml::to_string(&keys)?;
    files::write_atomic(&places.keys(), text.as_bytes(), Privacy::Private)?;
    Ok(())
}

fn read_file(places: &Places) -> anyhow::Result<BTreeMap<String, String>> {
    let path = places.keys();
    let Some(text) = files::read_if_exists(&path)? else { return Ok(BTreeMap::new()) };
    let mode = files::metadata(&path)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(report::failed(
            format!("others can read the keys in `{}` (mode {:o})", path.display(), mode & 0o777),
            format!("chmod 600 {}", path.display()),
        ));
    }
    toml::from_str(&text).map_err(|_| {
        // The error of the parser would quote the line, and the line is a key.
        report::failed(
            format!("`{}` is not readable as `provider = \"key\"` lines", path.display()),
            "mend the file, or remove it and use `stepwell config set-key PROVIDER`",
        )
    })
}

/// Asks the desktop's keyring through its own program, where there is one.
fn from_keyring(provider: &str) -> Option<SecretString> {
    let lookup: [(&str, &[&str]); 2] = [
        ("secret-tool", &["lookup", "service", "stepwell", "provider", provider]),
        ("security", &["find-generic-password", "-s", "stepwell", "-a", provider, "-w"]),
    ];
    lookup.iter().find_map(|(program, arguments)| {
        let output = process::capture_text(program, arguments)?;
        let key = output.trim();
        (!key.is_empty()).then(|| key.to_owned().into())
    })
}
