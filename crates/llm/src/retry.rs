//! Asking again: what failed on the way is repeated, what was refused is not.
//!
//! A failed connection, also one lost in the middle of an answer, is tried again three times; a rate limit five
//! times with growing pauses, or as long as the server asks. What the failed attempt streamed stands until the
//! next one has something better: only then comes [`Delta::Restarted`].

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};
use rand::RngExt;
use stepwell_protocol::ErrorKind;

use crate::model::{Delta, DeltaStream, Error, Model, ModelInfo, Request};
use crate::window::WindowSize;

/// How often and after which pauses a request is repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    pub connection_retries: u32,
    pub rate_limit_retries: u32,
    /// The first pause after a lost connection; each further one doubles.
    pub connection_delay: Duration,
    /// The first pause after a rate limit; each further one doubles.
    pub rate_limit_delay: Duration,
    pub longest_delay: Duration,
    /// A server that asks for more than this is not waited for: the person decides.
    pub longest_retry_after: Duration,
    /// Pauses vary by this share, so that many clients do not come back at the same moment.
    pub jitter: f64,
}

impl RetryPolicy {
    pub const STANDARD: Self = Self {
        connection_retries: 3,
        rate_limit_retries: 5,
        connection_delay: Duration::from_millis(500),
        rate_limit_delay: Duration::from_secs(2),
        longest_delay: Duration::from_mins(1),
        longest_retry_after: Duration::from_mins(5),
        jitter: 0.25,
    };

    /// Tests wait for nothing.
    pub const IMMEDIATE: Self = Self {
        connection_delay: Duration::ZERO,
        rate_limit_delay: Duration::ZERO,
        longest_delay: Duration::ZERO,
        jitter: 0.0,
        ..Self::STANDARD
    };

    fn pause(&self, base: Duration, attempt: u32, random: f64) -> Duration {
        let doubled = base.saturating_mul(1u32.checked_shl(attempt).unwrap_or(u32::MAX));
        let varied = doubled.mul_f64(1.0 + self.jitter * (2.0 * random - 1.0));
        varied.min(self.longest_delay)
    }
}

/// A model that asks again.
pub struct RetryModel {
    inner: Arc<dyn Model>,
    policy: RetryPolicy,
}

impl RetryModel {
    pub fn new(inner: Arc<dyn Model>, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

impl Model for RetryModel {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn window(&self) -> BoxFuture<'_, WindowSize> {
        self.inner.window()
    }

    fn stream(&self, request: Request) -> DeltaStream {
        Box::pin(RetryStream {
            attempt: self.inner.stream(request.clone()),
            model: Arc::clone(&self.inner),
            request,
            policy: self.policy,
            connection_failures: 0,
            rate_limits: 0,
            streamed: false,
            restart_due: false,
            held: None,
            pause: None,
            over: false,
        })
    }
}

struct RetryStream {
    model: Arc<dyn Model>,
    request: Request,
    policy: RetryPolicy,
    attempt: DeltaStream,
    connection_failures: u32,
    rate_limits: u32,
    /// The current attempt has streamed something.
    streamed: bool,
    /// An earlier attempt has, so the next delta comes after [`Delta::Restarted`].
    restart_due: bool,
    held: Option<Delta>,
    pause: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    over: bool,
}

impl Stream for RetryStream {
    type Item = Result<Delta, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(delta) = this.held.take() {
            return Poll::Ready(Some(Ok(delta)));
        }
        if this.over {
            return Poll::Ready(None);
        }
        if let Some(pause) = &mut this.pause {
            if pause.poll_unpin(cx).is_pending() {
                return Poll::Pending;
            }
            this.pause = None;
            this.attempt = this.model.stream(this.request.clone());
        }
        match this.attempt.poll_next_unpin(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                this.over = true;
                Poll::Ready(None)
            }
            Poll::Ready(Some(Ok(delta))) => {
                this.streamed = true;
                this.over = matches!(delta, Delta::Stop(_));
                if std::mem::take(&mut this.restart_due) {
                    this.held = Some(delta);
                    return Poll::Ready(Some(Ok(Delta::Restarted)));
                }
                Poll::Ready(Some(Ok(delta)))
            }
            Poll::Ready(Some(Err(error))) => {
                let again = this.again(&error);
                this.over = again.is_none();
                Poll::Ready(Some(again.ok_or(error)))
            }
        }
    }
}

impl RetryStream {
    /// Whether and when the request is repeated after this failure.
    fn again(&mut self, error: &Error) -> Option<Delta> {
        let policy = &self.policy;
        let (done, limit, base) = match error.kind {
            ErrorKind::LlmConnection => {
                (&mut self.connection_failures, policy.connection_retries, policy.connection_delay)
            }
            ErrorKind::LlmRateLimit => {
                (&mut self.rate_limits, policy.rate_limit_retries, policy.rate_limit_delay)
            }
            _ => return None,
        };
        if *done >= limit {
            return None;
        }
        let delay = match error.retry_after {
            Some(asked) if asked > policy.longest_retry_after => return None,
            Some(asked) => asked,
            None => policy.pause(base, *done, rand::rng().random()),
        };
        *done += 1;
        let attempt = *done;
        let pause_ms = delay.as_millis() as u64;
        tracing::warn!(kind = ?error.kind, attempt, limit, pause_ms, "model request failed; trying again");
        self.restart_due |= std::mem::take(&mut self.streamed);
        #[allow(
            clippy::disallowed_methods,
            reason = "the pause between two attempts is the one wait for a time"
        )]
        {
            self.pause = Some(Box::pin(tokio::time::sleep(delay)));
        }
        Some(Delta::Retrying { attempt, limit, delay, reason: error.message.clone() })
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
