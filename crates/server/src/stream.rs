//! A connection that counts its bytes and gives up on a peer that does not read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::metrics::Metrics;

/// Wraps a connection. A write that makes no progress for `longest_stall` fails.
pub(crate) struct Metered<S> {
    inner: S,
    metrics: Arc<Metrics>,
    longest_stall: Duration,
    /// Runs while a write waits.
    stall: Option<Pin<Box<Sleep>>>,
}

impl<S> Metered<S> {
    pub(crate) fn new(inner: S, metrics: Arc<Metrics>, longest_stall: Duration) -> Self {
        Self { inner, metrics, longest_stall, stall: None }
    }

    /// Fails once the peer has taken nothing for too long.
    fn watch<T>(&mut self, ctx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stall = None;
            return polled;
        }
        let deadline = Instant::now() + self.longest_stall;
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if stall.as_mut().poll(ctx).is_ready() {
            self.metrics.stalled.add(1);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read")));
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(ctx, buffer);
        self.metrics.bytes_received.add((buffer.filled().len() - before) as u64);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, ctx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(ctx, bytes);
        if let Poll::Ready(Ok(written)) = polled {
            self.metrics.bytes_sent.add(written as u64);
        }
        self.watch(ctx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write_vectored(ctx, slices);
        if let Poll::Ready(Ok(written)) = polled {
            self.metrics.bytes_sent.add(written as u64);
        }
        self.watch(ctx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_flush(ctx);
        self.watch(ctx, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_shutdown(ctx);
        self.watch(ctx, polled)
    }
}
