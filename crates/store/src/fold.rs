//! Views of a task: pure functions of its records, kept up to date record by record.
//!
//! Each fold starts empty and holds only what its own task's records gave it, so nothing of one task can reach
//! another. Applying a record costs the same at the tenth and at the ten-thousandth.

mod condensed;
mod model;
mod validity;

use stepwell_protocol::EventRecord;
use stepwell_transcript::Transcript;

pub use model::{HalfAnswer, ModelHistory, results_id};
pub use validity::{HistoryFault, check_history};

/// What the model saw and what the person saw of one task.
#[derive(Clone, Debug, Default)]
pub struct TaskFolds {
    pub model: ModelHistory,
    pub transcript: Transcript,
}

impl TaskFolds {
    pub fn of(records: &[EventRecord]) -> Self {
        let mut folds = Self::default();
        for record in records {
            folds.apply(record);
        }
        folds
    }

    pub fn apply(&mut self, record: &EventRecord) {
        self.model.apply(record);
        self.transcript.apply(record);
    }
}
