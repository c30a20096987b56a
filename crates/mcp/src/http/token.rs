//! The token of the HTTP server: in a file of its own, in no log and no message.

use std::fmt;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use stepwell_workspace::files;
use subtle::ConstantTimeEq;

/// Shorter words can be guessed.
const SHORTEST: usize = 32;
const LONGEST: usize = 512;

#[derive(Clone)]
pub struct Token(String);

/// Why a token cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("the token must have {SHORTEST} to {LONGEST} visible ASCII characters")]
    Weak,
    #[error("the token in `{path}` must have {SHORTEST} to {LONGEST} visible ASCII characters")]
    WeakFile { path: PathBuf },
    #[error("`{path}` can be read by others (mode {mode:o})")]
    Exposed { path: PathBuf, mode: u32 },
    #[error(transparent)]
    File(#[from] stepwell_workspace::Error),
}

impl TokenError {
    pub fn hint(&self) -> String {
        match self {
            Self::Weak | Self::WeakFile { .. } => {
                "make one with `openssl rand -hex 32`, or delete the file and a new one is made".to_owned()
            }
            Self::Exposed { path, .. } => {
                format!(
                    "delete it, so that a new one is made, or `chmod 600 {}` if nobody has read it",
                    path.display()
                )
            }
            Self::File(error) => error.hint().unwrap_or("look at the file and its folder").to_owned(),
        }
    }
}

impl Token {
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (SHORTEST..=LONGEST).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(TokenError::Weak)
        }
    }

    /// The token in a file that only its owner can read.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let mode = files::metadata(path)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(TokenError::Exposed { path: path.to_path_buf(), mode });
        }
        let text = files::read_to_string(path)?;
        Self::new(text.trim()).map_err(|_| TokenError::WeakFile { path: path.to_path_buf() })
    }

    /// The token in a file, which is made with a new one where there is none.
    pub fn read_or_make(path: &Path) -> Result<Self, TokenError> {
        if let Some(folder) = path.parent() {
            files::create_private_dir(folder)?;
        }
        match files::create_private(path) {
            Ok(mut file) => {
                let token = format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>());
                let written = file.write_all(token.as_bytes()).and_then(|()| file.sync_all());
                written.map_err(|error| stepwell_workspace::Error::io("write", path, error))?;
                Ok(Self(token))
            }
            // It was there before, or another server has just made it.
            Err(_) if path.exists() => Self::read(path),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the same time for every wrong word of the right length.
    pub(super) fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// For the one place that must show it: a client's own configuration.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(...)")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{Token, TokenError};

    #[test]
    fn a_token_is_made_once_and_kept_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deeper/mcp-token");
        let made = Token::read_or_make(&path).unwrap();
        assert_eq!(made.expose().len(), 64);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let again = Token::read_or_make(&path).unwrap();
        assert!(again.is(made.expose()), "the same one");
        assert!(!again.is("x") && !again.is(""));
        assert!(!format!("{made:?}").contains(made.expose()));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Token::read_or_make(&path), Err(TokenError::Exposed { mode: 0o640, .. })));
    }

    #[test]
    fn weak_tokens_are_refused() {
        for text in ["", "short", "0123456789abcdef 0123456789abcdef", &"x".repeat(513)] {
            assert!(matches!(Token::new(text), Err(TokenError::Weak)), "{text}");
        }
        assert!(Token::new(&"x".repeat(32)).is_ok());
    }
}
