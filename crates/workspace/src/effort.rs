//! What a piece of work costs this thread: the processor's time, which does not run while other programs have it.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Work that was begun on this thread. It must be asked there, too.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// What the thread had had of the processor.
    thread: Duration,
    wall: Instant,
}

impl Effort {
    pub fn begin() -> Self {
        Self { thread: thread_time(), wall: Instant::now() }
    }

    /// Whether the thread has had more than this time since. A thread never has more than has passed, which is asked
    /// first: it costs a fiftieth of asking for the thread's own time, and work asks often.
    pub fn exceeds(self, time: Duration) -> bool {
        self.wall.elapsed() > time && thread_time().saturating_sub(self.thread) > time
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
        const WAITED: Duration = Duration::from_millis(300);
        let effort = Effort::begin();
        let (_never, waited) = std::sync::mpsc::channel::<()>();
        assert!(waited.recv_timeout(WAITED).is_err());
        assert!(effort.wall.elapsed() >= WAITED);
        assert!(!effort.exceeds(WAITED));
        // Ends only if the clock goes on while work is done.
        while !effort.exceeds(Duration::from_millis(5)) {
            std::hint::spin_loop();
        }
    }
}
