//! Views of a task: pure functions of its records, kept up to date record by record.
//!
//! Each fold starts empty and holds only what its own task's records gave it, so nothing of one task can reach
//! another. Applying a record costs the same at the tenth and at the ten-thousandth.

mod model;
mod person;
mod summary;
mod validity;

use stepwell_protocol::EventRecord;

pub use model::{HalfAnswer, ModelHistory, results_id};
pub use person::{PersonEntry, PersonHistory, PersonItem};
pub use summary::TaskSummary;
pub use validity::{HistoryFault, check_history};

/// The three views of one task together.
#[derive(Clone, Debug, Default)]
pub struct TaskFolds {
    pub model: ModelHistory,
    pub person: PersonHistory,
    pub summary: TaskSummary,
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
        self.person.apply(record);
        self.summary.apply(record);
    }
}
