//! `ask_clarification` and `request_decision`: questions to the person.

mod answer;
mod clarification;
mod decision;

pub use clarification::Clarification;
pub use decision::Decision;
