//! Limits how much one sender may ask for: a token bucket.

use std::time::{Duration, Instant};

/// Fills at a steady rate up to its size; each message takes out what it costs.
#[derive(Debug)]
pub(crate) struct Bucket {
    level: f64,
    size: f64,
    per_second: f64,
    filled_at: Instant,
}

impl Bucket {
    pub(crate) fn new(size: u32, per_second: u32) -> Self {
        let size = f64::from(size);
        Self { level: size, size, per_second: f64::from(per_second), filled_at: Instant::now() }
    }

    /// Takes the cost out, and returns how long to wait until the debt it leaves is paid.
    pub(crate) fn take(&mut self, cost: u32) -> Option<Duration> {
        self.fill();
        self.level -= f64::from(cost);
        (self.level < 0.0).then(|| Duration::from_secs_f64(-self.level / self.per_second))
    }

    /// Takes the cost out if there is enough for it.
    pub(crate) fn try_take(&mut self, cost: u32) -> bool {
        self.fill();
        let is_enough = self.level >= f64::from(cost);
        if is_enough {
            self.level -= f64::from(cost);
        }
        is_enough
    }

    fn fill(&mut self) {
        let now = Instant::now();
        let gained = now.duration_since(self.filled_at).as_secs_f64() * self.per_second;
        self.level = (self.level + gained).min(self.size);
        self.filled_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_free_and_debts_are_waited_for() {
        let mut bucket = Bucket::new(10, 5);
        assert!((0..10).all(|_| bucket.take(1).is_none()));
        let wait = bucket.take(10).unwrap();
        assert!(wait > Duration::from_millis(1500) && wait <= Duration::from_secs(2), "{wait:?}");
        bucket.filled_at = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
        assert!(bucket.take(10).is_none(), "full again, and no more than full");
        assert!(!bucket.try_take(1));
    }
}
