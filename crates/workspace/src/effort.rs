//! What a piece of work costs this thread: the processor's time, which does not run while other programs have it.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Work that was begun on this thread. It must be asked there, too.
#[derive(Clone, Copy, Debug)]
pub struct Effort(Duration);

impl Effort {
    pub fn begin() -> Self {
        Self(thread_time())
    }

    /// The time the thread has had since.
    pub fn spent(self) -> Duration {
        thread_time().saturating_sub(self.0)
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_and_waiting_does_not() {
        let effort = Effort::begin();
        let (_never, waited) = std::sync::mpsc::channel::<()>();
        assert!(waited.recv_timeout(Duration::from_millis(300)).is_err());
        assert!(effort.spent() < Duration::from_millis(300));
        // Ends only if the clock goes on while work is done.
        while effort.spent() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
    }
}
