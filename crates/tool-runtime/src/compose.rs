//! One tool's output as another's input: whether they fit, how values are turned, and chains that run as one call.

mod chain;
mod fit;
mod transform;

pub use chain::{Chain, ChainError, ChainStep, StepReport};
pub use fit::{Misfit, compatibility};
pub use transform::{Aggregate, Condition, Filter, FilterOperator, Transform, TransformError, extract_path};
