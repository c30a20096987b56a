//! OAuth for HTTP servers: the person logs in once in a browser, and the tokens are kept in a private file.
//!
//! The SDK finds the authorization server, registers this client, makes the PKCE challenge and renews tokens. This file
//! keeps the tokens and waits for the browser on a loopback port.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::ServiceExt;
use rmcp::model::{ClientConfig, ProtocolVersion};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, CredentialStore,
    StoredCredentials,
};
use stepwell_net::HttpClient;
use stepwell_workspace::files::{self, Privacy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

use super::config::HttpConfig;
use super::connection::{http_client, http_transport_config};
use super::tool::{clean, short_hash};

/// How long the person may take in the browser.
const PERSON_LIMIT: Duration = Duration::from_mins(10);
/// How long a browser may take to send its request.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Bytes of a browser's request that are read.
const LONGEST_REQUEST: usize = 16 * 1024;
/// How long one step with the authorization server may take.
const STEP_LIMIT: Duration = Duration::from_secs(60);
const CALLBACK: &str = "/callback";
const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Stepwell</title>\
    <p>Stepwell has received the answer. You can close this page.";

/// Why a login failed.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error("the server's authorization cannot be used: {0}")]
    Authorization(String),
    #[error("the server asks for no login")]
    NotNeeded,
    #[error("cannot listen for the browser: {0}")]
    Listen(std::io::Error),
    #[error("nobody logged in within {} minutes", .0.as_secs() / 60)]
    Late(Duration),
    #[error("the tokens cannot be kept: {0}")]
    Keep(String),
}

/// The file with the tokens of a server. Another address is another server.
pub(crate) fn token_file(folder: &Path, server: &str, url: &Url) -> PathBuf {
    folder.join(format!("{}-{}.json", clean(server), short_hash(url.as_str())))
}

/// Logs in: `show` gets the address that the person opens in a browser. Returns where the tokens are kept.
pub async fn login(
    server: &str,
    http: &HttpConfig,
    client: &HttpClient,
    folder: &Path,
    show: impl FnOnce(&str),
) -> Result<PathBuf, LoginError> {
    let refused = |error: AuthError| LoginError::Authorization(error.to_string());
    let late = |_| LoginError::Authorization(format!("no answer within {} s", STEP_LIMIT.as_secs()));
    let knocked = knock(http, client).await?;
    files::create_private_dir(folder).map_err(|error| LoginError::Keep(error.to_string()))?;
    let file = token_file(folder, server, &http.url);
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(LoginError::Listen)?;
    let address = listener.local_addr().map_err(LoginError::Listen)?;
    let redirect = format!("http://{address}{CALLBACK}");
    let beginning = async {
        let mut manager = AuthorizationManager::new(http.url.clone()).await.map_err(refused)?;
        manager.set_credential_store(TokenFile(file.clone()));
        let resolution =
            manager.resolve_metadata_from_challenge(knocked.challenge()).await.map_err(refused)?;
        // Some servers let everybody in and ask for a login at the first call.
        if knocked == Knocked::Open && !resolution.source.is_discovered() {
            return Err(LoginError::NotNeeded);
        }
        manager.set_metadata(resolution.metadata);
        let request =
            AuthorizationRequest::new(redirect).with_client_name("Stepwell").with_initial_scope_selection();
        AuthorizationSession::new(manager, request).await.map_err(|(_, error)| refused(error))
    };
    let session = timeout(STEP_LIMIT, beginning).await.map_err(late)??;
    show(session.get_authorization_url());
    let callback = timeout(PERSON_LIMIT, callback(&listener)).await;
    let path = callback.map_err(|_| LoginError::Late(PERSON_LIMIT))?.map_err(LoginError::Listen)?;
    let answer = format!("http://{address}{path}");
    timeout(STEP_LIMIT, session.handle_callback_url(&answer)).await.map_err(late)?.map_err(refused)?;
    Ok(file)
}

/// How a server answers without a token.
#[derive(PartialEq, Eq)]
enum Knocked {
    Open,
    /// The refusal may say where the authorization server is and which scopes are wanted.
    Refused(Option<String>),
}

impl Knocked {
    fn challenge(&self) -> Option<&str> {
        match self {
            Self::Open => None,
            Self::Refused(challenge) => challenge.as_deref(),
        }
    }
}

/// Connects without a token.
async fn knock(http: &HttpConfig, client: &HttpClient) -> Result<Knocked, LoginError> {
    let connections =
        http_client(http, client).map_err(|error| LoginError::Authorization(error.to_string()))?;
    let transport = StreamableHttpClientTransport::with_client(connections, http_transport_config(http));
    let mut config = ClientConfig::default();
    config.protocol_version = ProtocolVersion::V_2025_11_25;
    match timeout(STEP_LIMIT, config.serve(transport)).await {
        Err(_) => Err(LoginError::Authorization(format!("no answer within {} s", STEP_LIMIT.as_secs()))),
        Ok(Ok(running)) => {
            timeout(REQUEST_LIMIT, running.cancel()).await.ok();
            Ok(Knocked::Open)
        }
        Ok(Err(error)) if error.is_authorization_required() => {
            Ok(Knocked::Refused(error.auth_challenge().map(str::to_owned)))
        }
        Ok(Err(error)) => Err(LoginError::Authorization(error.to_string())),
    }
}

/// Waits for the browser to come back, and returns the path with its query.
async fn callback(listener: &TcpListener) -> std::io::Result<String> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let Ok(Some(path)) = timeout(REQUEST_LIMIT, requested_path(&mut stream)).await else { continue };
        let found = path.starts_with(CALLBACK);
        // Browsers ask for an icon too.
        let (status, body) = if found { ("200 OK", PAGE) } else { ("404 Not Found", "") };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        timeout(REQUEST_LIMIT, stream.write_all(answer.as_bytes())).await.ok();
        if found {
            return Ok(path);
        }
    }
}

async fn requested_path(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(&buffer[..read]);
        if head.len() > LONGEST_REQUEST {
            return None;
        }
    }
    let text = String::from_utf8_lossy(&head);
    let mut words = text.lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned)).flatten()
}

/// A manager with the tokens of an earlier login; `None` where there was none.
pub(crate) async fn stored_login(
    server: &str,
    http: &HttpConfig,
    folder: &Path,
) -> Result<Option<AuthorizationManager>, AuthError> {
    let file = token_file(folder, server, &http.url);
    if !file.is_file() {
        return Ok(None);
    }
    let mut manager = AuthorizationManager::new(http.url.clone()).await?;
    manager.set_credential_store(TokenFile(file));
    Ok(manager.initialize_from_store().await?.then_some(manager))
}

/// Tokens in a file that only its owner may read.
struct TokenFile(PathBuf);

#[async_trait]
impl CredentialStore for TokenFile {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let text = files::read_if_exists(&self.0).map_err(store_error)?;
        text.map(|text| serde_json::from_str(&text)).transpose().map_err(store_error)
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let text = serde_json::to_vec(&credentials).map_err(store_error)?;
        files::write_atomic(&self.0, &text, Privacy::Private).map_err(store_error)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        files::remove_file(&self.0).map_err(store_error)
    }
}

fn store_error(error: impl std::fmt::Display) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}
