//! What the launcher is told: a policy made concrete, as words on its command line.
//!
//! The launcher reads nothing else. Words are limited in length by the kernel, so the text is cut into several.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::policy::Limits;
use crate::{Error, Result};

/// The kernel takes 128 KiB in one word.
const LONGEST_WORD: usize = 96 * 1024;
/// Bytes of a plan; the kernel takes about two megabytes of words in all, and the command has some too.
const LONGEST_PLAN: usize = 768 * 1024;
const SEPARATOR: &str = "--";

/// What the launcher is to set up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The process that started the launcher; when it ends, all ends.
    pub parent: u32,
    pub launch: Launch,
    pub folder: HostPath,
    pub writable: Vec<HostPath>,
    /// Folders in writable ones that can be written, but neither renamed nor removed.
    pub pinned: Vec<HostPath>,
    /// Files and folders in writable ones that stay as they are.
    pub locked: Vec<HostPath>,
    pub read_only: Vec<HostPath>,
    pub hidden: Vec<HostPath>,
    /// What lies in hidden folders and is shown all the same, read-only.
    pub revealed: Vec<HostPath>,
    /// Folders in which nothing may appear that steers tools or agents.
    pub watched: Vec<Watched>,
    pub withheld: Option<HostPath>,
    pub temporary: Option<HostPath>,
    pub proxy: Option<HostPath>,
    /// Ports of the machine's loopback that lead there through the proxy.
    pub loopback: Vec<u16>,
    /// Whether the command is not known yet: it comes on standard input once the sandbox is built.
    pub waits: bool,
    /// Where Stepwell listens for an open sandbox, which starts programs on request and has no command of its own.
    pub control: Option<HostPath>,
    pub unix_sockets: bool,
    pub limits: Limits,
}

/// How the namespaces are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Launch {
    /// By the launcher itself.
    Own,
    /// By bubblewrap, where this program may not and that one may.
    Bubblewrap { program: HostPath },
    /// Not at all: Landlock and seccomp alone.
    WithoutNamespaces,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    pub folder: HostPath,
    pub kind: WatchedKind,
    /// Names that were there before the command.
    pub present: Vec<HostPath>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WatchedKind {
    /// A writable folder.
    Root,
    /// The folder of a repository's data.
    Git,
}

/// A path of any bytes, written as text: a character for each byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPath(pub PathBuf);

impl std::ops::Deref for HostPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl<T: Into<PathBuf>> From<T> for HostPath {
    fn from(path: T) -> Self {
        Self(path.into())
    }
}

impl Serialize for HostPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: String = self.0.as_os_str().as_bytes().iter().map(|byte| char::from(*byte)).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for HostPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
        let bytes = bytes.map_err(serde::de::Error::custom)?;
        Ok(Self(OsString::from_vec(bytes).into()))
    }
}

impl Plan {
    /// The launcher's words: how many hold the plan, the plan, `--`, the command.
    pub fn to_words(&self, program: &OsStr, arguments: &[OsString]) -> Result<Vec<OsString>> {
        let text = serde_json::to_string(self).map_err(|error| Error::Plan(error.to_string()))?;
        if text.len() > LONGEST_PLAN {
            let problem = format!("it is {} bytes long, {LONGEST_PLAN} are allowed", text.len());
            return Err(Error::Plan(problem));
        }
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(LONGEST_WORD).collect();
        let mut words = vec![OsString::from(pieces.len().to_string())];
        words.extend(pieces.into_iter().map(|piece| OsString::from_vec(piece.to_vec())));
        words.push(SEPARATOR.into());
        words.push(program.into());
        words.extend(arguments.iter().cloned());
        Ok(words)
    }

    /// The plan and the command in the launcher's words.
    pub fn from_words(words: &[OsString]) -> Result<(Self, &OsStr, &[OsString])> {
        let broken = || Error::Plan("its words are not as they should be".into());
        let (count, rest) = words.split_first().ok_or_else(broken)?;
        let count: usize = count.to_str().and_then(|count| count.parse().ok()).ok_or_else(broken)?;
        let (pieces, rest) = rest.split_at_checked(count).ok_or_else(broken)?;
        let text: Vec<u8> = pieces.iter().flat_map(|piece| piece.as_bytes().to_vec()).collect();
        let plan = serde_json::from_slice(&text).map_err(|error| Error::Plan(error.to_string()))?;
        match rest {
            [separator, program, arguments @ ..] if separator == SEPARATOR => Ok((plan, program, arguments)),
            _ => Err(broken()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(paths: Vec<Vec<u8>>) -> Plan {
        let hidden = paths.into_iter().map(|bytes| HostPath(OsString::from_vec(bytes).into())).collect();
        Plan {
            parent: 7,
            launch: Launch::Own,
            folder: "/w".into(),
            writable: vec!["/w".into()],
            pinned: Vec::new(),
            locked: Vec::new(),
            read_only: Vec::new(),
            hidden,
            revealed: Vec::new(),
            watched: Vec::new(),
            withheld: None,
            temporary: None,
            proxy: None,
            loopback: vec![8080],
            waits: false,
            control: None,
            unix_sockets: true,
            limits: Limits::for_this_machine(),
        }
    }

    proptest! {
        #[test]
        fn a_plan_arrives_as_it_was_sent_whatever_bytes_its_paths_have(
            paths in proptest::collection::vec(proptest::collection::vec(1_u8.., 1..600), 0..6),
        ) {
            let mut plan = plan(paths);
            // Enough for several words.
            plan.locked = vec![HostPath::from("/a-path-that-is-long-enough/to-fill/some-words".repeat(60)); 50];
            let arguments = [OsString::from("-c"), OsString::from_vec(vec![0xff, b'x'])];
            let words = plan.to_words("bash".as_ref(), &arguments).unwrap();
            prop_assert!(words.iter().all(|word| word.len() <= LONGEST_WORD));
            let (arrived, program, rest) = Plan::from_words(&words).unwrap();
            prop_assert_eq!(arrived, plan);
            prop_assert_eq!(program, OsStr::new("bash"));
            prop_assert_eq!(rest, &arguments[..]);
        }
    }

    #[test]
    fn words_that_are_no_plan_are_refused() {
        for words in [&[][..], &["1"], &["2", "{}"], &["0", "--", "x"], &["1", "{}", "--", "x"], &["x"]] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert!(Plan::from_words(&words).is_err(), "{words:?}");
        }
        let too_long = plan(vec![vec![b'a'; LONGEST_PLAN]]);
        assert!(too_long.to_words("x".as_ref(), &[]).is_err());
    }
}
