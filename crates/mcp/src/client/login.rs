//! OAuth for HTTP servers: the person logs in once in a browser, and the tokens are kept in a private file.
//!
//! The SDK finds the authorization server, registers this client, makes the PKCE challenge and renews tokens. This file
//! chooses client and scopes, and waits for the browser on a loopback port.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{ClientConfig, ProtocolVersion};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession};
use stepwell_net::HttpClient;
use stepwell_workspace::files;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::config::HttpConfig;
use super::connection::{http_client, http_transport_config};
use super::refusal::Refusal;
use super::tokens::{LoginFiles, discover};

/// How long the person may take in the browser.
const PERSON_LIMIT: Duration = Duration::from_mins(10);
/// How long a browser may take to send its request.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Bytes of a browser's request that are read.
const LONGEST_REQUEST: usize = 16 * 1024;
/// How long one step with the authorization server may take.
const STEP_LIMIT: Duration = Duration::from_secs(60);
const CLIENT_NAME: &str = "Stepwell";
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
    let login_files = LoginFiles::new(folder, server, &http.url);
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(LoginError::Listen)?;
    let address = listener.local_addr().map_err(LoginError::Listen)?;
    let redirect = format!("http://{address}{CALLBACK}");
    let beginning = async {
        let (manager, source) = discover(http, client, knocked.challenge()).await.map_err(refused)?;
        // Some servers let everybody in and ask for a login at the first call.
        if knocked == Knocked::Open && !source.is_discovered() {
            return Err(LoginError::NotNeeded);
        }
        begin(manager, http, &login_files, redirect).await.map_err(refused)
    };
    let session = timeout(STEP_LIMIT, beginning).await.map_err(late)??;
    show(session.get_authorization_url());
    let callback = timeout(PERSON_LIMIT, callback(&listener)).await;
    let path = callback.map_err(|_| LoginError::Late(PERSON_LIMIT))?.map_err(LoginError::Listen)?;
    let answer = format!("http://{address}{path}");
    timeout(STEP_LIMIT, session.handle_callback_url(&answer)).await.map_err(late)?.map_err(refused)?;
    login_files.forget_scopes();
    Ok(login_files.tokens)
}

/// Begins a login as the client of the settings, or as one that registers itself now.
async fn begin(
    mut manager: AuthorizationManager,
    http: &HttpConfig,
    files: &LoginFiles,
    redirect: String,
) -> Result<AuthorizationSession, AuthError> {
    let mut scopes = files.scopes_to_add().await?;
    if scopes.is_empty() {
        scopes = manager.select_initial_scopes(&[]).await;
    }
    let (id, secret) = if let Some(id) = &http.oauth.id {
        (id.clone(), http.oauth.secret.clone())
    } else {
        let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = manager.register_client(CLIENT_NAME, &redirect, &asked).await?;
        (client.client_id, client.client_secret)
    };
    // The secret of the settings stays in its variable.
    let kept_secret = if http.oauth.id.is_none() { secret.clone() } else { None };
    manager.set_credential_store(files.store(kept_secret));
    let mut request = AuthorizationRequest::new(redirect)
        .with_preregistered_client(id)
        .with_initial_scope_selection()
        .with_scopes(scopes);
    request.client_secret = secret;
    AuthorizationSession::new(manager, request).await.map_err(|(_, error)| error)
}

/// How a server answers without a token.
#[derive(PartialEq, Eq)]
enum Knocked {
    Open,
    /// The refusal may say where the authorization server is and which scopes are wanted.
    Refused(Refusal),
}

impl Knocked {
    fn challenge(&self) -> Option<&str> {
        match self {
            Self::Open => None,
            Self::Refused(refusal) => refusal.challenge(),
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
            // Some servers greet everybody and refuse the first request.
            let listed = timeout(STEP_LIMIT, running.peer().list_tools(None)).await;
            timeout(REQUEST_LIMIT, running.cancel()).await.ok();
            let refusal = match &listed {
                Ok(Err(error)) => Refusal::of_request(error),
                _ => None,
            };
            Ok(refusal.map_or(Knocked::Open, Knocked::Refused))
        }
        Ok(Err(error)) => match Refusal::of_handshake(&error) {
            Some(refusal) => Ok(Knocked::Refused(refusal)),
            None => Err(LoginError::Authorization(error.to_string())),
        },
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
