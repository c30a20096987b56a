//! A server that runs already, as another process of the same person speaks with it.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use stepwell_net::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use stepwell_net::{HttpClient, Timeouts};
use stepwell_server::Token;
use url::Url;
use url::form_urlencoded::byte_serialize;

use super::registry::{Entry, token_file};
use crate::report;
use crate::settings::Places;

const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(3),
    first_byte: Duration::from_secs(10),
    idle: Duration::from_secs(10),
};
/// Bytes of an answer at most.
const LARGEST_ANSWER: usize = 64 * 1024;

/// A server that has proven to know the token.
pub struct RunningServer {
    pub entry: Entry,
    secret: stepwell_mcp::http::Token,
    host_name: String,
    client: HttpClient,
}

impl RunningServer {
    /// Asks for a proof before anything secret is sent: somebody else may have taken the port.
    pub async fn verified(places: &Places, entry: Entry) -> anyhow::Result<Self> {
        let secret = read_token(places)?;
        let token = Token::new(secret.expose())?;
        let client = HttpClient::new(TIMEOUTS);
        let challenge = format!("{:032x}", rand::random::<u128>());
        let url = address(entry.port, &format!("/api/health?challenge={challenge}"))?;
        let health = async {
            let mut answer = client.get_json(&url, HeaderMap::new()).await?;
            anyhow::Ok(serde_json::from_slice::<Value>(&answer.bytes(LARGEST_ANSWER).await?)?)
        };
        let is_ours = matches!(health.await, Ok(health) if health["proof"] == token.proof(&challenge));
        if !is_ours {
            return Err(report::failed(
                format!("process {} is the server, but does not answer as it should", entry.pid),
                "`stepwell serve stop` ends it; then start it again",
            ));
        }
        Ok(Self { entry, host_name: token.host_name(), secret, client })
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.entry.port)
    }

    /// A link that signs a browser in and opens a folder.
    pub async fn link(&self, folder: &Path) -> anyhow::Result<String> {
        let answer = self.post("/api/links").await?;
        let path = answer["path"].as_str().unwrap_or_default();
        Ok(link(&self.host_name, self.entry.port, path, folder))
    }

    pub async fn stop(&self) -> anyhow::Result<()> {
        self.post("/api/stop").await.map(drop)
    }

    async fn post(&self, path: &str) -> anyhow::Result<Value> {
        let url = address(self.entry.port, path)?;
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.secret.expose()))?;
        value.set_sensitive(true);
        let headers = HeaderMap::from_iter([(AUTHORIZATION, value)]);
        let mut answer = self.client.post_json(&url, headers, "{}".into()).await?;
        let body = answer.bytes(LARGEST_ANSWER).await?;
        if !answer.is_success() {
            return Err(report::failed(
                format!("the server refused: {}", String::from_utf8_lossy(&body)),
                "`stepwell serve stop` ends it; then start it again",
            ));
        }
        Ok(serde_json::from_slice(&body)?)
    }
}

/// The link of a path that signs in, for the page of a folder.
pub fn link(host_name: &str, port: u16, login_path: &str, folder: &Path) -> String {
    let folder: String = byte_serialize(folder.to_string_lossy().as_bytes()).collect();
    // In this part of an address `+` is no space.
    let folder = folder.replace('+', "%20");
    format!("http://{host_name}:{port}{login_path}&workspace={folder}")
}

/// The token of this person, which is made where there is none.
pub fn read_token(places: &Places) -> anyhow::Result<stepwell_mcp::http::Token> {
    stepwell_mcp::http::Token::read_or_make(&token_file(places)).map_err(|error| {
        let hint = error.hint();
        report::usage(error.to_string(), hint)
    })
}

fn address(port: u16, path: &str) -> anyhow::Result<Url> {
    Ok(Url::parse(&format!("http://127.0.0.1:{port}{path}"))?)
}
