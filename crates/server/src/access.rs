//! What lets a caller in: the token of programs, the one-time code of a link, the cookie of a browser.
//!
//! The token never leaves its file for a URL or a cookie. A link carries a code that is good once and for two minutes;
//! the browser exchanges it for a cookie, which is signed with a key derived from the token. So a cookie outlives the
//! server, and a new token makes every old cookie worthless.

use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::hmac;
use subtle::ConstantTimeEq;

/// Shorter words can be guessed.
const SHORTEST: usize = 32;
const LONGEST: usize = 512;
/// How long a link is good for.
pub(crate) const CODE_LIFE: Duration = Duration::from_mins(2);
/// How long a browser stays signed in.
pub(crate) const COOKIE_LIFE: Duration = Duration::from_hours(30 * 24);
/// Links that wait to be used; the oldest gives way.
const MOST_CODES: usize = 32;

/// The secret of programs. Shown by no `Debug`.
#[derive(Clone)]
pub struct Token(String);

#[derive(Debug, thiserror::Error)]
#[error("the token must have {SHORTEST} to {LONGEST} visible ASCII characters")]
pub struct WeakToken;

impl Token {
    pub fn new(text: &str) -> Result<Self, WeakToken> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (SHORTEST..=LONGEST).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(WeakToken)
        }
    }

    /// Proves to whoever knows the token that the prover knows it too, without sending it.
    pub fn proof(&self, challenge: &str) -> String {
        encoded(&self.tag("health", challenge))
    }

    /// A host name that only browsers of this person know. Cookies do not tell ports apart: under `127.0.0.1` a server of
    /// somebody else on another port would be sent ours.
    pub fn host_name(&self) -> String {
        let tag = self.tag("host name", "");
        let number = tag.as_ref().iter().take(6).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        format!("stepwell-{number:012x}.localhost")
    }

    fn tag(&self, purpose: &str, text: &str) -> hmac::Tag {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes());
        hmac::sign(&key, format!("stepwell {purpose}\n{text}").as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(...)")
    }
}

/// Judges credentials.
pub(crate) struct Access {
    token: Token,
    codes: Mutex<Vec<(String, Instant)>>,
}

impl Access {
    pub(crate) fn new(token: Token) -> Self {
        Self { token, codes: Mutex::default() }
    }

    pub(crate) fn token(&self) -> &Token {
        &self.token
    }

    /// Takes the same time for every wrong word of the right length.
    pub(crate) fn is_token(&self, given: &str) -> bool {
        self.token.0.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// Makes a code that is good once.
    pub(crate) fn new_code(&self) -> String {
        let code = encoded(&rand::random::<[u8; 32]>());
        let mut codes = self.codes.lock();
        codes.retain(|(_, made)| made.elapsed() < CODE_LIFE);
        if codes.len() >= MOST_CODES {
            codes.remove(0);
        }
        codes.push((code.clone(), Instant::now()));
        code
    }

    /// Whether the code is good; it is not any more afterwards.
    pub(crate) fn use_code(&self, given: &str) -> bool {
        let mut codes = self.codes.lock();
        codes.retain(|(_, made)| made.elapsed() < CODE_LIFE);
        let found = codes.iter().position(|(code, _)| bool::from(code.as_bytes().ct_eq(given.as_bytes())));
        found.map(|index| codes.remove(index)).is_some()
    }

    /// A value for the cookie of a browser that showed a code.
    pub(crate) fn new_cookie(&self) -> String {
        let expires = now() + COOKIE_LIFE.as_secs();
        let claim = format!("{}.{expires}", encoded(&rand::random::<[u8; 16]>()));
        let tag = self.token.tag("cookie", &claim);
        format!("{claim}.{}", encoded(&tag))
    }

    pub(crate) fn is_cookie(&self, given: &str) -> bool {
        let Some((claim, tag)) = given.rsplit_once('.') else { return false };
        let expected = encoded(&self.token.tag("cookie", claim));
        let is_ours: bool = expected.as_bytes().ct_eq(tag.as_bytes()).into();
        let expires = claim.rsplit_once('.').and_then(|(_, expires)| expires.parse::<u64>().ok());
        is_ours && expires.is_some_and(|expires| now() < expires)
    }
}

fn encoded(bytes: &(impl AsRef<[u8]> + ?Sized)) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        Access::new(Token::new("0123456789abcdef0123456789abcdef").unwrap())
    }

    #[test]
    fn codes_are_good_once() {
        let access = access();
        let code = access.new_code();
        assert!(!access.use_code("") && !access.use_code(&code[1..]));
        assert!(access.use_code(&code));
        assert!(!access.use_code(&code));
    }

    #[test]
    fn codes_expire_and_are_bounded() {
        let access = access();
        let code = access.new_code();
        access.codes.lock()[0].1 = Instant::now().checked_sub(CODE_LIFE).unwrap();
        assert!(!access.use_code(&code));
        let first = access.new_code();
        for _ in 0..MOST_CODES {
            access.new_code();
        }
        assert_eq!(access.codes.lock().len(), MOST_CODES);
        assert!(!access.use_code(&first));
    }

    #[test]
    fn cookies_are_signed_and_expire() {
        let access = access();
        let cookie = access.new_cookie();
        assert!(access.is_cookie(&cookie));
        let other =
            Access::new(Token::new("another token of at least 32 ch.".replace(' ', "-").as_str()).unwrap());
        assert!(!other.is_cookie(&cookie), "signed with another token");
        let mut parts: Vec<&str> = cookie.split('.').collect();
        parts[1] = "99999999999";
        assert!(!access.is_cookie(&parts.join(".")), "another time");
        let claim = "AAAA.1";
        let old = format!("{claim}.{}", encoded(&access.token.tag("cookie", claim)));
        assert!(!access.is_cookie(&old), "signed, but long ago");
        let proof = access.token.proof(claim);
        assert!(!access.is_cookie(&format!("{claim}.{proof}")), "a proof is no signature of a cookie");
        for wrong in ["", ".", "a.b.c", &cookie[..cookie.len() - 1]] {
            assert!(!access.is_cookie(wrong), "{wrong}");
        }
    }

    #[test]
    fn tokens_are_shown_by_nothing() {
        let token = Token::new("0123456789abcdef0123456789abcdef").unwrap();
        assert_eq!(format!("{token:?}"), "Token(...)");
        assert!(!token.host_name().contains("0123"));
        assert!(Token::new("short").is_err() && Token::new(&" ".repeat(40)).is_err());
    }
}
