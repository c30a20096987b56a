//! Requests of tools to the task's model: answered by it, and paid from the task's budget.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use stepwell_llm::{Delta, Request, RequestOptions, StopReason};
use stepwell_protocol::{Event, Usage};
use stepwell_tool_runtime::{HostError, SampleAnswer, SampleRequest};

use crate::host::SessionHost;

/// How long the model may take.
const DEADLINE: Duration = Duration::from_mins(3);
/// Bytes of an answer; a model that ignores its limit of tokens is cut off here.
const LONGEST_ANSWER: usize = 256 * 1024;

/// What has arrived of an answer.
#[derive(Default)]
struct Received {
    text: String,
    usage: Option<Usage>,
    is_cut: bool,
    failure: Option<String>,
}

impl SessionHost {
    /// Asks the model of the task. A budget that is used up refuses; what the request costs is counted.
    pub(crate) async fn ask_model(&self, request: SampleRequest) -> Result<SampleAnswer, HostError> {
        let exhausted = self.session.check_share().and_then(|()| self.session.tree.ledger.check());
        if let Err(exhausted) = exhausted {
            return Err(HostError(format!("the budget is used up: {exhausted}")));
        }
        let name = self.session.read_summary(|summary| summary.model.clone());
        let workspace = self.engine.workspace_of(&self.session).await;
        let workspace = workspace.map_err(|error| HostError(error.to_string()))?;
        let model = workspace.models.connect(&name).map_err(|error| HostError(error.message))?;
        let stream = model.stream(Request {
            system: request.system.into(),
            messages: request.messages.into_iter().map(Arc::new).collect(),
            tools: Arc::new([]),
            deferred: Arc::new([]),
            options: RequestOptions {
                max_output_tokens: Some(request.max_tokens),
                temperature: request.temperature,
                stop: request.stop,
                ..RequestOptions::default()
            },
        });
        let mut received = Received::default();
        let stopped = tokio::select! {
            () = self.cancel.cancelled() => Some("the run was cancelled".to_owned()),
            collected = tokio::time::timeout(DEADLINE, received.collect(stream)) => {
                collected.err().map(|_| format!("the model did not answer within {} s", DEADLINE.as_secs()))
            }
        };
        // A request that failed may have cost something too.
        if let Some(usage) = received.usage {
            self.session.spend(usage);
            if let Some(judge) = self.session.judge() {
                judge.spent(usage.cost_usd.unwrap_or(0.0));
            }
            let event = Event::Usage { model: name.clone(), usage };
            self.session.record(vec![event]).await.map_err(|error| HostError(error.to_string()))?;
        }
        match stopped.or(received.failure) {
            Some(reason) => Err(HostError(reason)),
            None => Ok(SampleAnswer { model: name, text: received.text, is_cut: received.is_cut }),
        }
    }
}

impl Received {
    async fn collect(&mut self, mut stream: stepwell_llm::DeltaStream) {
        while let Some(delta) = stream.next().await {
            match delta {
                Ok(Delta::Text(more)) => self.text.push_str(&more),
                Ok(Delta::Usage(usage)) => self.usage = Some(usage),
                Ok(Delta::Restarted) => self.text.clear(),
                Ok(Delta::Stop(reason)) => self.is_cut |= reason == StopReason::MaxTokens,
                Ok(_) => {}
                Err(error) => {
                    self.failure = Some(error.message);
                    return;
                }
            }
            if self.text.len() > LONGEST_ANSWER {
                self.text.truncate(self.text.floor_char_boundary(LONGEST_ANSWER));
                self.is_cut = true;
                return;
            }
        }
    }
}
