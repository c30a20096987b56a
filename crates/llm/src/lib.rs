//! One stream of deltas from any model.

mod model;

pub use model::{
    Delta, DeltaStream, Effort, Error, Model, ModelInfo, Price, Request, RequestOptions, StopReason,
    ToolChoice,
};
