//! Tokens for HTTP servers (OAuth): where they are kept, how they are got without a person, and which scopes are missing.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
    ClientCredentialsConfig, CredentialStore, OAuthClientConfig, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use stepwell_net::HttpClient;
use stepwell_net::header::HeaderMap;
use stepwell_workspace::files::{self, Privacy};
use url::Url;

use super::config::HttpConfig;
use super::entry::Grant;
use super::tool::{clean, short_hash};

/// Bytes of an authorization server's description of itself.
const LONGEST_METADATA: usize = 256 * 1024;
/// Scopes that a server may ask for, and characters of one.
const MOST_SCOPES: usize = 50;
const LONGEST_SCOPE: usize = 200;

/// The files of a server's login. Another address is another server.
#[derive(Clone)]
pub(crate) struct LoginFiles {
    /// The tokens.
    pub tokens: PathBuf,
    /// Scopes that a call was refused for want of; the next login asks for them.
    wanted_scopes: PathBuf,
}

impl LoginFiles {
    pub fn new(folder: &Path, server: &str, url: &Url) -> Self {
        let name = format!("{}-{}", clean(server), short_hash(url.as_str()));
        Self {
            tokens: folder.join(format!("{name}.json")),
            wanted_scopes: folder.join(format!("{name}.scopes")),
        }
    }

    /// Notes what the next login must ask for.
    pub fn want_scopes(&self, scopes: &[String]) {
        let folder = self.wanted_scopes.parent().map_or(Ok(()), files::create_private_dir);
        let noted = folder.and_then(|()| {
            files::write_atomic(&self.wanted_scopes, scopes.join(" ").as_bytes(), Privacy::Private)
        });
        if let Err(error) = noted {
            tracing::warn!("the scopes that an MCP server asks for cannot be noted: {error}");
        }
    }

    /// The scopes to ask for in addition to those of the login before; none when no call was refused.
    pub async fn scopes_to_add(&self) -> Result<Vec<String>, AuthError> {
        let wanted = files::read_if_exists(&self.wanted_scopes).map_err(store_error)?.unwrap_or_default();
        let wanted = scopes_in(&wanted);
        if wanted.is_empty() {
            return Ok(wanted);
        }
        let before = self.store(None).load().await?.map(|kept| kept.granted_scopes).unwrap_or_default();
        let mut all = before;
        all.extend(wanted);
        let mut seen = std::collections::HashSet::new();
        all.retain(|scope| seen.insert(scope.clone()));
        Ok(all)
    }

    /// Forgets the scopes that were missing, once a login has asked for them.
    pub fn forget_scopes(&self) {
        if self.wanted_scopes.is_file()
            && let Err(error) = files::remove_file(&self.wanted_scopes)
        {
            tracing::warn!("the file of missing scopes cannot be removed: {error}");
        }
    }

    /// The store of the tokens. A secret that the client got at registration is kept with them.
    pub fn store(&self, client_secret: Option<String>) -> TokenFile {
        TokenFile { path: self.tokens.clone(), client_secret }
    }
}

/// Reads a list of scopes, bounded.
pub(crate) fn scopes_in(text: &str) -> Vec<String> {
    let short = |scope: &&str| scope.len() <= LONGEST_SCOPE;
    text.split_whitespace().filter(short).take(MOST_SCOPES).map(str::to_owned).collect()
}

/// A manager that knows the authorization server, and how it was found.
pub(crate) async fn discover(
    http: &HttpConfig,
    client: &HttpClient,
    challenge: Option<&str>,
) -> Result<(AuthorizationManager, AuthorizationMetadataSource), AuthError> {
    let mut manager = AuthorizationManager::new(http.url.clone()).await?;
    let (metadata, source) = match manager.resolve_metadata_from_challenge(challenge).await {
        Ok(resolution) => (resolution.metadata, resolution.source),
        Err(AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer }) => {
            let metadata = own_metadata(http, client, &expected_issuer, &received_issuer).await;
            let mismatch = AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer };
            (metadata.ok_or(mismatch)?, AuthorizationMetadataSource::AuthorizationServerMetadata)
        }
        Err(error) => return Err(error),
    };
    manager.set_metadata(metadata);
    Ok((manager, source))
}

/// The metadata of a server that is its own authorization server, as 2025-03-26 has it. Such servers may name an issuer
/// below the root of their host, which newer versions forbid. It is accepted where issuer and endpoints are on that host.
async fn own_metadata(
    http: &HttpConfig,
    client: &HttpClient,
    expected: &str,
    received: &str,
) -> Option<AuthorizationMetadata> {
    let is_own = |address: &str| Url::parse(address).is_ok_and(|url| url.origin() == http.url.origin());
    if !is_own(expected) || !is_own(received) {
        return None;
    }
    let url = http.url.join("/.well-known/oauth-authorization-server").ok()?;
    let mut response = client.get_json(&url, HeaderMap::new()).await.ok()?;
    if !response.is_success() {
        return None;
    }
    let body = response.bytes(LONGEST_METADATA).await.ok()?;
    let metadata: AuthorizationMetadata = serde_json::from_slice(&body).ok()?;
    let endpoints = [&metadata.authorization_endpoint, &metadata.token_endpoint];
    let are_own = endpoints.into_iter().chain(&metadata.registration_endpoint).all(|url| is_own(url));
    are_own.then_some(metadata)
}

/// A manager with the token of an earlier login, or one got with the client's own credentials; `None` where a person has
/// to log in first.
pub(crate) async fn stored_login(
    files: &LoginFiles,
    http: &HttpConfig,
    client: &HttpClient,
) -> Result<Option<AuthorizationManager>, AuthError> {
    if http.oauth.grant == Grant::ClientCredentials {
        return client_credentials(http, client).await.map(Some);
    }
    if !files.tokens.is_file() {
        return Ok(None);
    }
    let (mut manager, _) = discover(http, client, None).await?;
    let kept = Kept::read(&files.tokens)?;
    let secret = http.oauth.secret.clone().or_else(|| kept.as_ref()?.client_secret.clone());
    manager.set_credential_store(files.store(secret.clone()));
    if !manager.initialize_from_store().await? {
        return Ok(None);
    }
    // The SDK forgets the secret of the client, which renewing a token needs.
    if let (Some(kept), Some(secret)) = (kept, secret) {
        let client = OAuthClientConfig::new(kept.credentials.client_id, http.url.as_str());
        manager.configure_client(client.with_client_secret(secret))?;
    }
    Ok(Some(manager))
}

/// Gets a token with the client's id and secret. It is kept in memory only.
async fn client_credentials(
    http: &HttpConfig,
    client: &HttpClient,
) -> Result<AuthorizationManager, AuthError> {
    let (mut manager, _) = discover(http, client, None).await?;
    let config = ClientCredentialsConfig::ClientSecret {
        client_id: http.oauth.id.clone().unwrap_or_default(),
        client_secret: http.oauth.secret.clone().unwrap_or_default(),
        scopes: manager.select_initial_scopes(&[]).await,
        resource: Some(http.url.to_string()),
    };
    manager.validate_client_credentials_metadata(&config)?;
    manager.configure_client_credentials(&config)?;
    manager.exchange_client_credentials(&config).await?;
    Ok(manager)
}

/// Tokens in a file that only its owner may read.
pub(crate) struct TokenFile {
    path: PathBuf,
    client_secret: Option<String>,
}

/// What a token file holds.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    credentials: StoredCredentials,
    /// The secret that the authorization server gave this client when it registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
}

impl Kept {
    fn read(path: &Path) -> Result<Option<Self>, AuthError> {
        let text = files::read_if_exists(path).map_err(store_error)?;
        text.map(|text| serde_json::from_str(&text)).transpose().map_err(store_error)
    }
}

#[async_trait]
impl CredentialStore for TokenFile {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(Kept::read(&self.path)?.map(|kept| kept.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let kept = Kept { credentials, client_secret: self.client_secret.clone() };
        let text = serde_json::to_vec(&kept).map_err(store_error)?;
        files::write_atomic(&self.path, &text, Privacy::Private).map_err(store_error)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        files::remove_file(&self.path).map_err(store_error)
    }
}

fn store_error(error: impl std::fmt::Display) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}
