//! Long strings live beside the log, named by their SHA-256.
//!
//! In a record such a string stands as `{"$blob":"<sha256>","bytes":n}`. A key of the user's own data that is
//! `$blob`, or would look like an escaped one, gets one more `$` in front, so nothing is ever mistaken.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use stepwell_workspace::files::{self, Privacy};

use crate::{Error, Result};

/// Strings longer than this, in bytes, are moved out of the record.
pub(crate) const LONGEST_INLINE: usize = 4096;

const KEY: &str = "$blob";

/// What to put where a blob cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostBlob {
    Fail,
    /// A sentence saying what is missing.
    Placeholder,
}

#[derive(Clone, Debug)]
pub(crate) struct Blobs {
    dir: PathBuf,
}

impl Blobs {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn path(&self, sha256: &str) -> PathBuf {
        self.dir.join(sha256)
    }

    /// Keeps the content, on the disk when this returns. The same content is kept once; a kept copy that has
    /// been damaged since is written anew.
    pub(crate) fn put(&self, content: &[u8]) -> Result<String> {
        let sha256 = hex(&Sha256::digest(content));
        let path = self.path(&sha256);
        match files::read(&path) {
            Ok(kept) if kept == content => return Ok(sha256),
            Ok(_) => {}
            Err(error) if error.is_not_found() => self.create_dir()?,
            Err(error) => return Err(error.into()),
        }
        files::write_atomic(&path, content, Privacy::Private)?;
        Ok(sha256)
    }

    pub(crate) fn get(&self, sha256: &str) -> Result<String> {
        let path = self.path(sha256);
        let plain = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !plain {
            return Err(Error::BlobMissing { sha256: sha256.to_owned(), path: self.dir.clone() });
        }
        let content = match files::read(&path) {
            Ok(content) => content,
            Err(error) if error.is_not_found() => {
                return Err(Error::BlobMissing { sha256: sha256.to_owned(), path: self.dir.clone() });
            }
            Err(error) => return Err(error.into()),
        };
        if hex(&Sha256::digest(&content)) != sha256 {
            return Err(Error::BlobCorrupt { path });
        }
        String::from_utf8(content).map_err(|_| Error::BlobCorrupt { path })
    }

    /// Keeps a text and gives what stands for it in a record.
    pub(crate) fn reference(&self, text: &str) -> Result<Value> {
        let mut reference = Map::new();
        reference.insert("bytes".to_owned(), text.len().into());
        reference.insert(KEY.to_owned(), self.put(text.as_bytes())?.into());
        Ok(Value::Object(reference))
    }

    /// Replaces long strings by references and escapes keys that look like one.
    pub(crate) fn deflate(&self, value: Value) -> Result<Value> {
        Ok(match value {
            Value::String(text) if text.len() > LONGEST_INLINE => self.reference(&text)?,
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.deflate(item)).collect::<Result<_>>()?)
            }
            Value::Object(fields) => {
                let mut escaped = Map::with_capacity(fields.len());
                for (key, field) in fields {
                    let key = if is_reserved(&key) { format!("${key}") } else { key };
                    escaped.insert(key, self.deflate(field)?);
                }
                Value::Object(escaped)
            }
            other => other,
        })
    }

    /// The reverse of [`Blobs::deflate`].
    pub(crate) fn inflate(&self, value: Value, lost: LostBlob) -> Result<Value> {
        Ok(match value {
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.inflate(item, lost)).collect::<Result<_>>()?)
            }
            Value::Object(fields) => {
                if let Some(sha256) = fields.get(KEY).and_then(Value::as_str) {
                    return Ok(Value::String(self.load(sha256, lost)?));
                }
                let mut plain = Map::with_capacity(fields.len());
                for (key, field) in fields {
                    let key = if is_reserved(&key) { key[1..].to_owned() } else { key };
                    plain.insert(key, self.inflate(field, lost)?);
                }
                Value::Object(plain)
            }
            other => other,
        })
    }

    fn load(&self, sha256: &str, lost: LostBlob) -> Result<String> {
        match (self.get(sha256), lost) {
            (Ok(text), _) => Ok(text),
            (Err(Error::BlobMissing { .. } | Error::BlobCorrupt { .. }), LostBlob::Placeholder) => {
                Ok(format!("[content lost: blob {sha256} is missing or damaged]"))
            }
            (Err(error), _) => Err(error),
        }
    }

    fn create_dir(&self) -> Result<()> {
        if files::stamp(&self.dir)?.is_some() {
            return Ok(());
        }
        files::create_private_dir(&self.dir)?;
        if let Some(task_dir) = self.dir.parent() {
            files::sync_dir(task_dir)?;
        }
        Ok(())
    }
}

/// Whether JSON text may hold a reference or a key that is escaped like one.
pub(crate) fn may_hold_reference(json: &[u8]) -> bool {
    memchr::memmem::find(json, b"$blob\"").is_some()
}

/// The blobs a whole record's event names.
pub(crate) fn referenced(event: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    if may_hold_reference(event.as_bytes()) {
        let mut deserializer = serde_json::Deserializer::from_str(event);
        deserializer.disable_recursion_limit();
        references(&Value::deserialize(&mut deserializer).map_err(Error::Encode)?, &mut found);
    }
    Ok(found)
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Object(fields) => match fields.get(KEY).and_then(Value::as_str) {
            Some(sha256) => found.push(sha256.to_owned()),
            None => fields.values().for_each(|field| references(field, found)),
        },
        _ => {}
    }
}

/// Escapes the keys of data that was written before there were references.
pub(crate) fn escape_keys(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(escape_keys).collect()),
        Value::Object(fields) => {
            let escape = |key: String| if is_reserved(&key) { format!("${key}") } else { key };
            Value::Object(fields.into_iter().map(|(key, field)| (escape(key), escape_keys(field))).collect())
        }
        other => other,
    }
}

/// `$blob`, `$$blob`, `$$$blob`, ...
fn is_reserved(key: &str) -> bool {
    key.strip_suffix(KEY).is_some_and(|before| before.bytes().all(|byte| byte == b'$'))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}
