//! Variables that a person keeps for programs, such as keys of services. Values are encrypted with XChaCha20-Poly1305; the
//! key is a file that only its owner reads, in another folder than the values. Names and scopes are not secret.
//!
//! A value is bound to its name and scope: one that is copied to another entry of the file cannot be read there.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use stepwell_workspace::files::{self, Privacy};

use crate::{Error, Result};

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
/// Longest value.
const LONGEST_VALUE: usize = 64 * 1024;
/// Variables that are kept at most.
const MOST_VARIABLES: usize = 1000;

/// Who sees a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariableScope {
    /// Tasks of one folder.
    Project(PathBuf),
    /// All tasks of the person.
    Person,
}

/// A variable without its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StoredVariable {
    pub name: String,
    pub scope: VariableScope,
    /// When it was set, as an RFC 3339 time.
    pub set_at: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    name: String,
    scope: VariableScope,
    set_at: String,
    nonce: String,
    value: String,
}

/// The variables of a person.
#[derive(Clone, Debug)]
pub struct VariableStore {
    file: PathBuf,
    key: PathBuf,
}

/// Whether a shell takes a word for the name of a variable.
pub fn is_variable_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && name.len() <= 128
}

impl VariableStore {
    /// Values lie in the folder `data`, the key in the folder `config`. Nothing is made before the first value is set.
    pub fn new(data: &Path, config: &Path) -> Self {
        Self { file: data.join("variables.json"), key: config.join("variables.key") }
    }

    /// The variables that tasks of a project see, those of the project first, and all where none is given.
    pub fn list(&self, project: Option<&Path>) -> Result<Vec<StoredVariable>> {
        let entries = self.read()?.into_iter();
        let is_seen = |entry: &Entry| match (&entry.scope, project) {
            (VariableScope::Project(folder), Some(project)) => folder == project,
            _ => true,
        };
        let mut found: Vec<StoredVariable> = entries
            .filter(is_seen)
            .map(|entry| StoredVariable { name: entry.name, scope: entry.scope, set_at: entry.set_at })
            .collect();
        found.sort_by(|left, right| (&left.name, &left.scope).cmp(&(&right.name, &right.scope)));
        Ok(found)
    }

    /// The value that tasks of a project see: the project's own, or the person's.
    pub fn value(&self, project: &Path, name: &str) -> Result<Option<SecretString>> {
        let entries = self.read()?;
        let scopes = [VariableScope::Project(project.to_path_buf()), VariableScope::Person];
        let mut of_scope = scopes
            .iter()
            .filter_map(|scope| entries.iter().find(|entry| entry.name == name && entry.scope == *scope));
        of_scope.next().map(|entry| self.open(entry)).transpose()
    }

    /// Every value, for who must recognise them.
    pub fn values(&self) -> Result<Vec<(String, SecretString)>> {
        self.read()?.iter().map(|entry| Ok((entry.name.clone(), self.open(entry)?))).collect()
    }

    pub fn set(&self, scope: VariableScope, name: &str, value: &SecretString) -> Result<()> {
        if !is_variable_name(name) {
            return Err(Error::Variable { name: name.to_owned(), reason: "this is no name of a variable" });
        }
        let bytes = value.expose_secret().as_bytes();
        let problem = match bytes.len() {
            0 => Some("its value is empty"),
            length if length > LONGEST_VALUE => Some("its value is longer than 64 KB"),
            _ if bytes.contains(&0) => Some("its value has a NUL character"),
            _ => None,
        };
        if let Some(reason) = problem {
            return Err(Error::Variable { name: name.to_owned(), reason });
        }
        let mut entries = self.read()?;
        entries.retain(|entry| entry.name != name || entry.scope != scope);
        if entries.len() >= MOST_VARIABLES {
            return Err(Error::Variable { name: name.to_owned(), reason: "there are too many variables" });
        }
        let nonce: [u8; NONCE_BYTES] = rand::random();
        let bound = bound_to(&scope, name);
        let payload = Payload { msg: bytes, aad: bound.as_bytes() };
        let sealed = self.cipher()?.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed
            .map_err(|_| Error::Variable { name: name.to_owned(), reason: "it cannot be encrypted" })?;
        entries.push(Entry {
            name: name.to_owned(),
            scope,
            set_at: jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string(),
            nonce: STANDARD.encode(nonce),
            value: STANDARD.encode(sealed),
        });
        self.write(&entries)
    }

    /// Takes a variable away; `false` when there was none.
    pub fn unset(&self, scope: &VariableScope, name: &str) -> Result<bool> {
        let mut entries = self.read()?;
        let before = entries.len();
        entries.retain(|entry| entry.name != name || entry.scope != *scope);
        if entries.len() == before {
            return Ok(false);
        }
        self.write(&entries)?;
        Ok(true)
    }

    fn open(&self, entry: &Entry) -> Result<SecretString> {
        let damaged = || Error::Variable {
            name: entry.name.clone(),
            reason: "its value cannot be read: the key or the file is another one; set it again",
        };
        let nonce: [u8; NONCE_BYTES] =
            STANDARD.decode(&entry.nonce).ok().and_then(|nonce| nonce.try_into().ok()).ok_or_else(damaged)?;
        let sealed = STANDARD.decode(&entry.value).map_err(|_| damaged())?;
        let bound = bound_to(&entry.scope, &entry.name);
        let payload = Payload { msg: sealed.as_slice(), aad: bound.as_bytes() };
        let plain = self.cipher()?.decrypt(&XNonce::from(nonce), payload).map_err(|_| damaged())?;
        Ok(SecretString::from(String::from_utf8(plain).map_err(|_| damaged())?))
    }

    /// The cipher with the key of the file, which is made when there is none.
    fn cipher(&self) -> Result<XChaCha20Poly1305> {
        let bad = |reason| Error::Variable { name: self.key.display().to_string(), reason };
        let known = match files::read(&self.key) {
            Ok(known) => known,
            Err(error) if error.is_not_found() => {
                let key: [u8; KEY_BYTES] = rand::random();
                if let Some(folder) = self.key.parent() {
                    files::create_private_dir(folder)?;
                }
                files::write_atomic(&self.key, &key, Privacy::Private)?;
                key.to_vec()
            }
            Err(error) => return Err(error.into()),
        };
        let found = files::metadata(&self.key)?;
        if std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0 {
            return Err(bad("others can read the key of the variables; run `chmod 600` on it"));
        }
        let key: [u8; KEY_BYTES] = known.try_into().map_err(|_| bad("this is no key of variables"))?;
        Ok(XChaCha20Poly1305::new(&key.into()))
    }

    fn read(&self) -> Result<Vec<Entry>> {
        let Some(text) = files::read_if_exists(&self.file)? else { return Ok(Vec::new()) };
        serde_json::from_str(&text).map_err(|_| Error::Variable {
            name: self.file.display().to_string(),
            reason: "this file of variables cannot be read",
        })
    }

    fn write(&self, entries: &[Entry]) -> Result<()> {
        if let Some(folder) = self.file.parent() {
            files::create_private_dir(folder)?;
        }
        let text = serde_json::to_vec_pretty(entries).unwrap_or_default();
        Ok(files::write_atomic(&self.file, &text, Privacy::Private)?)
    }
}

fn bound_to(scope: &VariableScope, name: &str) -> String {
    match scope {
        VariableScope::Project(folder) => format!("project\n{}\n{name}", folder.display()),
        VariableScope::Person => format!("person\n\n{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, VariableStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = VariableStore::new(&folder.path().join("data"), &folder.path().join("config"));
        (folder, store)
    }

    fn shown(value: Option<SecretString>) -> Option<String> {
        value.map(|value| value.expose_secret().to_owned())
    }

    #[test]
    fn values_are_encrypted_and_those_of_the_project_come_first() {
        let (folder, store) = store();
        let project = Path::new("/work/shop");
        assert_eq!(shown(store.value(project, "KEY").unwrap()), None);
        store.set(VariableScope::Person, "KEY", &"hunter2-of-the-person".into()).unwrap();
        assert_eq!(shown(store.value(project, "KEY").unwrap()).unwrap(), "hunter2-of-the-person");
        store.set(VariableScope::Project(project.into()), "KEY", &"hunter2-of-the-project".into()).unwrap();
        assert_eq!(shown(store.value(project, "KEY").unwrap()).unwrap(), "hunter2-of-the-project");
        assert_eq!(shown(store.value(Path::new("/other"), "KEY").unwrap()).unwrap(), "hunter2-of-the-person");
        assert_eq!(store.list(Some(project)).unwrap().len(), 2);
        assert_eq!(store.list(Some(Path::new("/other"))).unwrap().len(), 1);
        let text = files::read_to_string(&folder.path().join("data/variables.json")).unwrap();
        assert!(!text.contains("hunter2") && text.contains("KEY"), "{text}");
        for path in ["data/variables.json", "config/variables.key"] {
            let mode = files::metadata(&folder.path().join(path)).unwrap().permissions();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600, "{path}");
        }
        assert!(store.unset(&VariableScope::Person, "KEY").unwrap());
        assert!(!store.unset(&VariableScope::Person, "KEY").unwrap());
        assert!(!format!("{:?}", store.values().unwrap()).contains("hunter2"));
    }

    #[test]
    fn a_value_that_was_moved_or_changed_is_refused() {
        let (folder, store) = store();
        store.set(VariableScope::Person, "HARMLESS", &"one-value-here".into()).unwrap();
        store.set(VariableScope::Person, "OTHER", &"another-value".into()).unwrap();
        let file = folder.path().join("data/variables.json");
        let text = files::read_to_string(&file).unwrap();
        let swapped = text.replace("HARMLESS", "TMP").replace("OTHER", "HARMLESS").replace("TMP", "OTHER");
        files::write_atomic(&file, swapped.as_bytes(), Privacy::Private).unwrap();
        let error = store.value(Path::new("/"), "OTHER").unwrap_err().to_string();
        assert!(error.contains("cannot be read") && !error.contains("value-here"), "{error}");
    }

    #[test]
    fn bad_names_values_and_keys_are_refused() {
        let (folder, store) = store();
        for name in ["", "1A", "A B", "A=B", "A-B", "Ä"] {
            assert!(store.set(VariableScope::Person, name, &"something".into()).is_err(), "{name}");
        }
        for value in ["", "a\0b"] {
            assert!(store.set(VariableScope::Person, "A", &value.into()).is_err());
        }
        store.set(VariableScope::Person, "A", &"something".into()).unwrap();
        let key = folder.path().join("config/variables.key");
        let content = files::read(&key).unwrap();
        files::write_atomic(&key, &content, Privacy::Shared).unwrap();
        assert!(store.value(Path::new("/"), "A").unwrap_err().to_string().contains("chmod 600"));
        files::write_atomic(&key, b"short", Privacy::Private).unwrap();
        assert!(store.value(Path::new("/"), "A").is_err());
    }
}
