//! A login at a server that asks for one: discovery, registration, PKCE, the browser's way back, renewal.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use stepwell_mcp::client::{Origin, ServerConfig, ServerEntry, ServerState, Transport, login};
use stepwell_net::{HttpClient, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::client_world::{ClientWorld, DEADLINE};

/// An MCP server with an authorization server of its own.
#[derive(Default)]
struct Protected {
    address: Mutex<String>,
    /// What was asked of it, in order.
    asked: Mutex<Vec<String>>,
    challenge: Mutex<String>,
    /// The token that is accepted now.
    token: Mutex<String>,
    /// The scope that a call needs; none by default.
    needed_scope: Mutex<Option<String>>,
    /// The scopes that were granted last.
    granted: Mutex<String>,
    /// The `Authorization` header of the last request for a token.
    client: Mutex<Option<String>>,
}

impl Protected {
    async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Arc::new(Self::default());
        *server.address.lock() = format!("http://{}", listener.local_addr().unwrap());
        server.token.lock().push_str("first-token");
        let serving = Arc::clone(&server);
        let router = Router::new().fallback(move |request: Request| {
            let server = Arc::clone(&serving);
            async move { server.answer(request).await }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    async fn answer(&self, request: Request) -> Response<Body> {
        let base = self.address.lock().clone();
        let path = request.uri().path().to_owned();
        let authorization =
            request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned());
        let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
        let body = String::from_utf8_lossy(&body).into_owned();
        let field = |name: &str| {
            let found = url::form_urlencoded::parse(body.as_bytes()).find(|(key, _)| key == name);
            found.map(|(_, value)| value.into_owned()).unwrap_or_default()
        };
        match path.as_str() {
            path if path.starts_with("/.well-known/oauth-protected-resource") => {
                json_answer(&json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]}))
            }
            "/.well-known/oauth-authorization-server" => json_answer(&json!({
                "issuer": base,
                "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            })),
            "/register" => {
                let asked: Value = serde_json::from_str(&body).unwrap();
                self.asked.lock().push("register".to_owned());
                json_answer(&json!({"client_id": "client-1", "redirect_uris": asked["redirect_uris"]}))
            }
            "/token" => {
                let grant = field("grant_type");
                self.client.lock().clone_from(&authorization);
                self.asked.lock().push(grant.clone());
                let proven = URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier").as_bytes()));
                if grant == "authorization_code" && proven != *self.challenge.lock() {
                    return status(StatusCode::BAD_REQUEST, "the verifier does not fit the challenge");
                }
                let token = self.token.lock().clone();
                json_answer(&json!({
                    "access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "renew-me"
                }))
            }
            "/mcp" => {
                if authorization != Some(format!("Bearer {}", self.token.lock())) {
                    let mut refused = status(StatusCode::UNAUTHORIZED, "");
                    let challenge =
                        format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource\"");
                    refused.headers_mut().insert("www-authenticate", challenge.parse().unwrap());
                    return refused;
                }
                let message: Value = serde_json::from_str(&body).unwrap_or_default();
                if let Some(needed) = &*self.needed_scope.lock()
                    && message["method"] == "tools/call"
                    && !self.granted.lock().split(' ').any(|scope| scope == needed)
                {
                    let mut refused = status(StatusCode::FORBIDDEN, "");
                    let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{needed}\"");
                    refused.headers_mut().insert("www-authenticate", challenge.parse().unwrap());
                    return refused;
                }
                let result = match message["method"].as_str() {
                    Some("initialize") => json!({
                        "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                        "serverInfo": {"name": "protected", "version": "1"}
                    }),
                    Some("tools/list") => {
                        json!({"tools": [{"name": "secret", "inputSchema": {"type": "object"}}]})
                    }
                    Some("tools/call") => json!({"content": [{"type": "text", "text": "you are in"}]}),
                    _ if message.get("id").is_none() => return status(StatusCode::ACCEPTED, ""),
                    _ => return status(StatusCode::METHOD_NOT_ALLOWED, ""),
                };
                json_answer(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
            }
            _ => status(StatusCode::NOT_FOUND, ""),
        }
    }

    /// Does what a browser does with the address: the person agrees, and is sent back with a code.
    async fn browse(&self, address: &str) {
        let url = Url::parse(address).unwrap();
        let query = |name: &str| url.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
        let scope = url.query_pairs().find(|(key, _)| key == "scope").map(|(_, scope)| scope.into_owned());
        *self.granted.lock() = scope.unwrap_or_default();
        assert!(["client-1", "fixed"].contains(&query("client_id").as_str()));
        assert_eq!(query("code_challenge_method"), "S256");
        *self.challenge.lock() = query("code_challenge");
        let back = Url::parse(&query("redirect_uri")).unwrap();
        let state: String = url::form_urlencoded::byte_serialize(query("state").as_bytes()).collect();
        let issuer: String = url::form_urlencoded::byte_serialize(self.address.lock().as_bytes()).collect();
        let port = back.port().unwrap();
        // A browser asks for other things too.
        for path in
            ["/favicon.ico".to_owned(), format!("{}?code=yes&state={state}&iss={issuer}", back.path())]
        {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert_eq!(answer.contains("You can close this page"), path.contains("code"), "{answer}");
        }
    }
}

fn json_answer(value: &Value) -> Response<Body> {
    Response::builder().header("content-type", "application/json").body(value.to_string().into()).unwrap()
}

fn status(status: StatusCode, text: &str) -> Response<Body> {
    Response::builder().status(status).body(text.to_owned().into()).unwrap()
}

#[tokio::test]
async fn a_login_in_the_browser_opens_the_server_for_later_runs() {
    let server = Protected::start().await;
    let world = ClientWorld::new();
    let entry: ServerEntry =
        serde_json::from_value(json!({"url": format!("{}/mcp", server.address.lock())})).unwrap();
    let config = world.config("vault", &entry, Origin::User);
    world.servers.apply(vec![config.clone()]);
    world.servers.settled().await;
    assert!(matches!(world.state(), ServerState::NeedsLogin));

    let Transport::Http(http) = &config.transport else { panic!() };
    let (tell, shown) = tokio::sync::oneshot::channel::<String>();
    let connections = HttpClient::new(Timeouts::STANDARD);
    let folder = world.folder.path().join("tokens");
    let logging_in = login("vault", http, &connections, &folder, |address| {
        tell.send(address.to_owned()).unwrap();
    });
    let browsing = async { server.browse(&shown.await.unwrap()).await };
    let both = async { tokio::join!(logging_in, browsing) };
    let (kept, ()) = tokio::time::timeout(DEADLINE, Box::pin(both)).await.unwrap();
    let kept = kept.unwrap();
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(*server.asked.lock(), ["register", "authorization_code"]);

    // Another start of the program finds the tokens.
    world.servers.apply(Vec::new());
    world.servers.apply(vec![config.clone()]);
    world.servers.settled().await;
    assert!(matches!(world.state(), ServerState::Ready { tools: 1, .. }));
    assert_eq!(world.text("mcp__vault__secret", json!({"any": "argument"})).await, "you are in");

    // A token that is not accepted any more is renewed without the person.
    server.token.lock().replace_range(.., "second-token");
    world.servers.apply(Vec::new());
    world.servers.apply(vec![config]);
    world.servers.settled().await;
    assert!(matches!(world.state(), ServerState::Ready { .. }));
    assert_eq!(server.asked.lock().last().unwrap(), "refresh_token");
    assert_eq!(world.text("mcp__vault__secret", json!({})).await, "you are in");
}

/// Logs in as a person does, and returns the file of the tokens.
async fn log_in(world: &ClientWorld, server: &Protected, config: &ServerConfig) -> PathBuf {
    let Transport::Http(http) = &config.transport else { panic!() };
    let (tell, shown) = tokio::sync::oneshot::channel::<String>();
    let connections = HttpClient::new(Timeouts::STANDARD);
    let folder = world.folder.path().join("tokens");
    let logging_in = login("vault", http, &connections, &folder, |address| {
        tell.send(address.to_owned()).unwrap();
    });
    let browsing = async { server.browse(&shown.await.unwrap()).await };
    let both = async { tokio::join!(logging_in, browsing) };
    tokio::time::timeout(DEADLINE, Box::pin(both)).await.unwrap().0.unwrap()
}

#[tokio::test]
async fn a_call_that_lacks_a_scope_names_the_login_that_asks_for_it() {
    let server = Protected::start().await;
    let world = ClientWorld::new();
    let entry = json!({"url": format!("{}/mcp", server.address.lock())});
    let entry: ServerEntry = serde_json::from_value(entry).unwrap();
    let config = world.config("vault", &entry, Origin::User);
    log_in(&world, &server, &config).await;
    *server.needed_scope.lock() = Some("vault:write".to_owned());
    world.servers.apply(vec![config.clone()]);
    world.servers.settled().await;
    assert_eq!(
        world.text("mcp__vault__secret", json!({})).await,
        "the login at the MCP server `vault` does not allow this; log in again for more rights (vault:write): `stepwell \
         mcp login vault`"
    );
    // The running connection uses the new token.
    log_in(&world, &server, &config).await;
    assert_eq!(*server.granted.lock(), "vault:write");
    assert_eq!(world.text("mcp__vault__secret", json!({})).await, "you are in");
    // Scopes that were granted are not asked for as missing again.
    log_in(&world, &server, &config).await;
    assert_eq!(*server.granted.lock(), "");
}

#[tokio::test]
async fn a_fixed_client_proves_itself_and_its_secret_is_not_kept() {
    let server = Protected::start().await;
    let world = ClientWorld::new();
    let entry = json!({
        "url": format!("{}/mcp", server.address.lock()), "client_id": "fixed", "client_secret_env": "VAULT_SECRET"
    });
    let entry: ServerEntry = serde_json::from_value(entry).unwrap();
    let secret = |name: &str| (name == "VAULT_SECRET").then(|| "s3cret".to_owned());
    let config = entry.resolve("vault", Origin::User, world.folder.path(), secret).unwrap();
    let kept = log_in(&world, &server, &config).await;
    let basic = format!("Basic {}", STANDARD.encode("fixed:s3cret"));
    assert_eq!(server.client.lock().take(), Some(basic.clone()));
    assert_eq!(*server.asked.lock(), ["authorization_code"], "it does not register itself");
    assert!(!std::fs::read_to_string(kept).unwrap().contains("s3cret"));

    // Renewing a token needs the secret too.
    server.token.lock().replace_range(.., "second-token");
    world.servers.apply(vec![config]);
    world.servers.settled().await;
    assert!(matches!(world.state(), ServerState::Ready { .. }));
    assert_eq!(server.asked.lock().last().unwrap(), "refresh_token");
    assert_eq!(server.client.lock().take(), Some(basic));
}
