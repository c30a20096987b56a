//! Exit codes, decided in one place.

use std::process::ExitCode;

use stepwell_protocol::{ErrorKind, RunEnd};

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    Usage,
    Refused,
    LimitReached,
    /// The answer does not fit the schema it had to fit.
    Unfit,
    Interrupted,
    /// As the command ended that the person ran through us.
    Command(u8),
}

impl Exit {
    pub fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::LimitReached => 4,
            Self::Unfit => 5,
            Self::Interrupted => 130,
            Self::Command(code) => code,
        }
    }

    /// What a run's end means for who called it. A refused approval outweighs an answer that was given
    /// without it, because something that was wanted did not happen.
    pub fn of_run(end: &RunEnd, approval_refused: bool) -> Self {
        match end {
            RunEnd::Cancelled => Self::Interrupted,
            RunEnd::Stopped { error }
                if matches!(
                    error.kind,
                    ErrorKind::MaxIterations | ErrorKind::Budget | ErrorKind::TokenBudget
                ) =>
            {
                Self::LimitReached
            }
            // A plan that waits for its approval.
            RunEnd::Stopped { error } if error.kind == ErrorKind::NeedsPerson => Self::Refused,
            _ if approval_refused => Self::Refused,
            RunEnd::Answered | RunEnd::Paused => Self::Done,
            RunEnd::Stopped { .. } | RunEnd::Failed { .. } => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}
