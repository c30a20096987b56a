//! A tool's request to the model of its task, such as a sampling request of an MCP server.

use stepwell_protocol::Message;

/// What the model is asked. It sees nothing of the task.
#[derive(Clone, Debug)]
pub struct SampleRequest {
    pub system: String,
    pub messages: Vec<Message>,
    pub max_tokens: u64,
    pub temperature: Option<f64>,
    pub stop: Vec<String>,
}

/// What the model answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleAnswer {
    /// The model, as `PROVIDER/MODEL`.
    pub model: String,
    pub text: String,
    /// Whether the answer was cut off at `max_tokens`.
    pub is_cut: bool,
}
