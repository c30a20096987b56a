//! Trying again, only where that is safe: failures of the connection and time-outs of calls that change nothing.

use std::time::Duration;

use rand::RngExt;
use stepwell_protocol::{ErrorClass, Risk};
use tokio_util::sync::CancellationToken;

/// How often and after which waits a call is tried again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    pub connection_retries: u32,
    pub timeout_retries: u32,
    pub base: Duration,
    pub cap: Duration,
    /// Share by which a wait varies in either direction.
    pub jitter: f64,
}

impl RetryPolicy {
    pub const STANDARD: Self = Self {
        connection_retries: 3,
        timeout_retries: 2,
        base: Duration::from_secs(1),
        cap: Duration::from_secs(30),
        jitter: 0.25,
    };
    pub const NEVER: Self = Self { connection_retries: 0, timeout_retries: 0, ..Self::STANDARD };

    /// How often a call of this risk that failed in this way is tried again.
    pub fn limit(&self, class: ErrorClass, risk: Risk) -> u32 {
        match (class, risk) {
            (ErrorClass::ConnectionError, Risk::Read | Risk::Network) => self.connection_retries,
            // A request that timed out may have had its effect on the other side.
            (ErrorClass::TimeoutError, Risk::Read) => self.timeout_retries,
            _ => 0,
        }
    }

    /// The wait before retry number `attempt` (from 1), for a random number in 0..1.
    pub fn delay(&self, attempt: u32, random: f64) -> Duration {
        let doubled =
            self.base.saturating_mul(1u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
        let factor = 1.0 + self.jitter * (2.0 * random.clamp(0.0, 1.0) - 1.0);
        doubled.min(self.cap).mul_f64(factor.max(0.0))
    }

    pub(crate) fn random_delay(&self, attempt: u32) -> Duration {
        self.delay(attempt, rand::rng().random())
    }
}

/// Waits, unless the call is cancelled first; returns whether the wait was whole.
pub(crate) async fn wait(delay: Duration, cancel: &CancellationToken) -> bool {
    #[allow(clippy::disallowed_methods, reason = "the one place where waiting for time is the point")]
    let sleep = tokio::time::sleep(delay);
    tokio::select! {
        () = sleep => true,
        () = cancel.cancelled() => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap_and_vary_by_a_quarter() {
        let policy = RetryPolicy::STANDARD;
        let millis = |attempt, random| policy.delay(attempt, random).as_millis();
        assert_eq!([millis(1, 0.5), millis(2, 0.5), millis(3, 0.5)], [1000, 2000, 4000]);
        assert_eq!([millis(1, 0.0), millis(1, 1.0)], [750, 1250]);
        assert_eq!([millis(9, 0.5), millis(60, 0.5)], [30_000, 30_000]);
    }

    #[test]
    fn only_what_changes_nothing_is_tried_again() {
        let policy = RetryPolicy::STANDARD;
        for (class, risk, expected) in [
            (ErrorClass::ConnectionError, Risk::Read, 3),
            (ErrorClass::ConnectionError, Risk::Network, 3),
            (ErrorClass::TimeoutError, Risk::Read, 2),
            (ErrorClass::TimeoutError, Risk::Network, 0),
            (ErrorClass::ConnectionError, Risk::Write, 0),
            (ErrorClass::TimeoutError, Risk::Execute, 0),
            (ErrorClass::ExecutionError, Risk::Read, 0),
        ] {
            assert_eq!(policy.limit(class, risk), expected, "{class:?} {risk:?}");
        }
    }
}
