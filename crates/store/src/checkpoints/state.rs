//! What an entry of a folder was, and what changed.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stepwell_workspace::tree::SeenKind;

use super::objects::ObjectId;

/// An entry as it can be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryState {
    pub kind: EntryKind,
    pub mode: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub size: u64,
    /// The content, or where a link points. A folder has none, and a file that is too large to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ObjectId>,
    /// Tells one state of a file that is too large to keep from another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_ns: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    File,
    Link,
    Folder,
}

impl From<EntryKind> for SeenKind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::File,
            EntryKind::Link => Self::Link,
            EntryKind::Folder => Self::Folder,
        }
    }
}

impl EntryState {
    /// Whether this state can be brought back.
    pub fn is_kept(&self) -> bool {
        self.kind == EntryKind::Folder || self.content.is_some()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(size: &u64) -> bool {
    *size == 0
}

/// What became of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    #[serde(with = "path_text")]
    pub path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<EntryState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EntryState>,
}

/// A path as JSON text; one that is not UTF-8 is written in hexadecimal behind a NUL, which no path has.
mod path_text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::super::objects::hexadecimal;
    use super::{OsStrExt, OsString, OsStringExt, Path, PathBuf};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = path.to_str() {
            return serializer.serialize_str(text);
        }
        serializer.serialize_str(&format!("\0{}", hexadecimal(path.as_os_str().as_bytes())))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(hex) = text.strip_prefix('\0') else { return Ok(text.into()) };
        if !hex.is_ascii() || hex.len() % 2 != 0 {
            return Err(D::Error::custom("a path in hexadecimal is cut off"));
        }
        let bytes: Result<Vec<u8>, _> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16)).collect();
        Ok(OsString::from_vec(bytes.map_err(D::Error::custom)?).into())
    }
}
