//! Connections of the server: each has a while to say what it wants, and ends with the server.

use std::io;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long to wait when no connection can be accepted, as when too many files are open.
const NO_MORE: Duration = Duration::from_millis(100);

/// Serves until `stop` is cancelled and every connection has ended. A connection whose headers do not come within
/// `headers` is closed: whoever sends them byte by byte holds up nobody.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    headers: Duration,
    stop: CancellationToken,
) -> io::Result<()> {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::timeout(NO_MORE, stop.cancelled()).await.ok();
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(headers);
        let stop = stop.clone();
        connections.spawn(async move {
            let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stop.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }
    connections.close();
    connections.wait().await;
    Ok(())
}
