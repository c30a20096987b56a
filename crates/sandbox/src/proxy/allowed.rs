//! A list of hosts as a gate.

use async_trait::async_trait;

use super::HostGate;
use super::host::Host;

/// Ports that an entry without a port covers.
const USUAL_PORTS: [u16; 2] = [80, 443];

/// Hosts that are admitted without asking: `example.com`, `*.example.com` for everything below it, either with a
/// port (`example.com:8443`).
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    host: String,
    below: bool,
    port: Option<u16>,
}

impl AllowedHosts {
    /// Reads a list; `Err` names the entry that is none.
    pub fn parse<T: AsRef<str>>(entries: impl IntoIterator<Item = T>) -> Result<Self, String> {
        let entries: Result<Vec<Entry>, String> =
            entries.into_iter().map(|entry| Entry::parse(entry.as_ref())).collect();
        Ok(Self { entries: entries? })
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn covers(&self, host: &str, port: u16) -> bool {
        self.entries.iter().any(|entry| entry.covers(host, port))
    }
}

impl Entry {
    fn parse(text: &str) -> Result<Self, String> {
        let (pattern, below) = text.strip_prefix("*.").map_or((text, false), |rest| (rest, true));
        let (host, port) = match Host::with_port(pattern.as_bytes(), Some(0)) {
            Ok((host, port)) => (host, (port != 0).then_some(port)),
            Err(_) => (Host::parse(pattern.as_bytes())?, None),
        };
        // `*.com` would be half of the network.
        if below && !matches!(&host, Host::Name(name) if name.contains('.')) {
            return Err(format!("`{text}` covers too much; name a domain"));
        }
        Ok(Self { host: host.to_string(), below, port })
    }

    fn covers(&self, host: &str, port: u16) -> bool {
        let named = if self.below {
            host.strip_suffix(&self.host).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        } else {
            host == self.host
        };
        named && self.port.map_or(USUAL_PORTS.contains(&port), |only| only == port)
    }
}

#[async_trait]
impl HostGate for AllowedHosts {
    async fn admit(&self, host: &str, port: u16) -> Result<(), String> {
        if self.covers(host, port) {
            return Ok(());
        }
        Err(format!("`{host}` with port {port} is not among the allowed hosts"))
    }

    fn loopback_ports(&self) -> Vec<u16> {
        let is_loopback = |entry: &&Entry| matches!(&*entry.host, "localhost" | "127.0.0.1" | "::1");
        self.entries.iter().filter(is_loopback).filter_map(|entry| entry.port).collect()
    }
}
