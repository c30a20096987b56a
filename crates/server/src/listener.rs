//! Accepts connections: each has a while to say what it wants, and ends with the server.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::guard::{Hosts, Scheme};
use crate::server::Shared;
use crate::stream::Metered;

/// How long to wait when no connection can be accepted, as when too many files are open.
const NO_MORE: Duration = Duration::from_millis(100);

/// One address to serve at.
pub struct Listener {
    pub socket: TcpListener,
    pub tls: Option<Tls>,
    pub hosts: Hosts,
}

impl Listener {
    pub(crate) fn scheme(&self) -> Scheme {
        match (&self.tls, &self.hosts) {
            (Some(_), _) => Scheme::Https,
            (None, Hosts::Loopback { .. }) => Scheme::Http,
            (None, Hosts::Remote { .. }) => Scheme::Either,
        }
    }
}

/// A certificate with its key.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("the certificate is no PEM file with a certificate: {0}")]
    Certificate(rustls::pki_types::pem::Error),
    #[error("the key is no PEM file with a private key: {0}")]
    Key(rustls::pki_types::pem::Error),
    #[error("the certificate and the key cannot be used: {0}")]
    Pair(#[from] rustls::Error),
}

impl Tls {
    /// Reads a chain of certificates and a private key in PEM form.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(TlsError::Certificate)?;
        if chain.is_empty() {
            return Err(TlsError::Certificate(rustls::pki_types::pem::Error::NoItemsFound));
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::Key)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

/// Serves until `stop` is cancelled and every connection has ended. A connection whose headers do not come in time is
/// closed: whoever sends them byte by byte holds up nobody.
pub(crate) async fn serve(listener: Listener, router: Router, shared: Arc<Shared>, stop: CancellationToken) {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.socket.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::timeout(NO_MORE, stop.cancelled()).await.ok();
                continue;
            }
        };
        if connections.len() >= shared.limits.connections {
            tracing::debug!("a connection was dropped: there are too many");
            continue;
        }
        // Small messages are sent at once.
        stream.set_nodelay(true).ok();
        let (router, shared, stop, tls) =
            (router.clone(), Arc::clone(&shared), stop.clone(), listener.tls.clone());
        connections.spawn(async move {
            let _counted = shared.metrics.connections.count();
            let stream = Metered::new(stream, Arc::clone(&shared.metrics), shared.limits.stall);
            let ended = match tls {
                None => serve_connection(stream, router, &shared, &stop).await,
                Some(Tls(acceptor)) => {
                    let shaken = tokio::time::timeout(shared.limits.headers, acceptor.accept(stream)).await;
                    match shaken.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                        Ok(stream) => serve_connection(stream, router, &shared, &stop).await,
                        Err(error) => {
                            tracing::debug!(%error, "a TLS handshake failed");
                            return;
                        }
                    }
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }
    connections.close();
    connections.wait().await;
}

async fn serve_connection<S>(
    stream: S,
    router: Router,
    shared: &Shared,
    stop: &CancellationToken,
) -> Result<(), hyper::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(shared.limits.headers);
    let service = TowerToHyperService::new(router);
    let connection = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}
