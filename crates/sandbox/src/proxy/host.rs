//! Hosts as a command names them: one spelling each, or none.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host in its only spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Name(String),
    Address(IpAddr),
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

impl Host {
    /// Whether it is this machine's loopback by one of its own names. A name that resolves to it is not.
    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::Address(address) => {
                *address == IpAddr::V4(Ipv4Addr::LOCALHOST) || *address == IpAddr::V6(Ipv6Addr::LOCALHOST)
            }
        }
    }

    /// Reads a host. What resolvers could read in another way than this code is refused: a NUL, an escape, a
    /// letter beyond ASCII, a number in a base of its own.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let odd = |why: &str| format!("`{}` is no host name: {why}", text.escape_ascii());
        let text = std::str::from_utf8(text).map_err(|_| odd("it is no text"))?;
        if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            return inner
                .parse::<Ipv6Addr>()
                .map(|address| Self::Address(address.into()))
                .map_err(|_| odd("no IPv6 address"));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.is_empty() || name.len() > 253 {
            return Err(odd("its length"));
        }
        let is_label = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        if !name.split('.').all(is_label) {
            return Err(odd("only letters, digits, `-`, `_` and single dots are allowed"));
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_numeric = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
        if !is_numeric {
            return Ok(Self::Name(name));
        }
        // The library's reader takes four plain decimal numbers and nothing else.
        name.parse::<Ipv4Addr>()
            .map(|address| Self::Address(address.into()))
            .map_err(|_| odd("write addresses as four decimal numbers"))
    }

    /// Reads `host:port`, with `default` where no port is given.
    pub(super) fn with_port(text: &[u8], default: Option<u16>) -> Result<(Self, u16), String> {
        let odd = || format!("`{}` is no host and port", text.escape_ascii());
        let colon = text.iter().rposition(|byte| *byte == b':').filter(|at| !text[*at..].contains(&b']'));
        let (host, port) = match colon {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let port = match port {
            None => default.ok_or_else(odd)?,
            Some(digits) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or_else(odd)?
            }
            Some(_) => return Err(odd()),
        };
        if port == 0 {
            return Err(odd());
        }
        Ok((Self::parse(host)?, port))
    }
}
