//! The host as a running tool sees it: what it shows live is redacted on the way.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use stepwell_protocol::{
    ApprovalAnswer, ApprovalRequest, ApprovalSource, Artifact, Event, Hypothesis, OutputStream, Part,
    Question, QuestionAnswer, SeenFile, TodoItem, ToolCallId,
};

use crate::redact::{Redactor, StreamRedactor};
use crate::{
    Host, HostError, PlanReply, PlanRequest, SampleAnswer, SampleRequest, SubtaskCheck, SubtaskRequest,
    SubtaskResult, SubtaskWorker,
};

pub(super) struct GuardedHost {
    inner: Arc<dyn Host>,
    redactor: Arc<Redactor>,
    streams: Mutex<Vec<LiveStream>>,
    /// After so many seconds a question is answered by its default.
    question_seconds: Option<u64>,
}

struct LiveStream {
    call_id: ToolCallId,
    stream: OutputStream,
    redactor: StreamRedactor,
}

impl GuardedHost {
    pub(super) fn new(inner: Arc<dyn Host>, redactor: &Arc<Redactor>, question_seconds: Option<u64>) -> Self {
        Self { inner, redactor: Arc::clone(redactor), streams: Mutex::default(), question_seconds }
    }

    /// Shows what the redactor still held back.
    pub(super) fn flush(&self) {
        let streams = std::mem::take(&mut *self.streams.lock());
        for mut live in streams {
            self.show_chunk(live.call_id, live.stream, live.redactor.finish());
        }
    }

    fn show_chunk(&self, call_id: ToolCallId, stream: OutputStream, chunk: String) {
        if !chunk.is_empty() {
            self.inner.show(Event::ToolOutput { call_id, stream, chunk });
        }
    }
}

#[async_trait]
impl Host for GuardedHost {
    async fn approve(&self, request: ApprovalRequest) -> (ApprovalAnswer, ApprovalSource) {
        self.inner.approve(request).await
    }

    async fn ask(&self, mut question: Question) -> QuestionAnswer {
        if let Some(seconds) = self.question_seconds {
            question.timeout_seconds = Some(question.timeout_seconds.map_or(seconds, |own| own.min(seconds)));
        }
        self.inner.ask(question).await
    }

    fn show(&self, event: Event) {
        match event {
            Event::ToolOutput { call_id, stream, chunk } => {
                let chunk = {
                    let mut streams = self.streams.lock();
                    let known =
                        streams.iter_mut().find(|live| live.call_id == call_id && live.stream == stream);
                    if let Some(live) = known {
                        live.redactor.push(&chunk)
                    } else {
                        let mut redactor = self.redactor.stream();
                        let chunk = redactor.push(&chunk);
                        streams.push(LiveStream { call_id: call_id.clone(), stream, redactor });
                        chunk
                    }
                };
                self.show_chunk(call_id, stream, chunk);
            }
            Event::ToolProgress { call_id, text } => {
                let text = self.redactor.redact(&text).into_owned();
                self.inner.show(Event::ToolProgress { call_id, text });
            }
            Event::Retrying { attempt, limit, delay_ms, reason } => {
                let reason = self.redactor.redact(&reason).into_owned();
                self.inner.show(Event::Retrying { attempt, limit, delay_ms, reason });
            }
            other => self.inner.show(other),
        }
    }

    async fn record(&self, event: Event) -> Result<(), HostError> {
        self.inner.record(event).await
    }

    fn todo(&self) -> Vec<TodoItem> {
        self.inner.todo()
    }

    fn hypotheses(&self) -> Vec<Hypothesis> {
        self.inner.hypotheses()
    }

    fn seen_in_result(&self, text: &str) -> Option<ToolCallId> {
        self.inner.seen_in_result(text)
    }

    fn seen(&self) -> Vec<SeenFile> {
        self.inner.seen()
    }

    async fn artifact_dir(&self) -> Result<PathBuf, HostError> {
        self.inner.artifact_dir().await
    }

    fn artifact_added(&self, artifact: &Artifact) {
        self.inner.artifact_added(artifact);
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanReply, HostError> {
        self.inner.plan(redacted(request, &self.redactor)).await
    }

    async fn switch_mode(&self, mode: &str, reason: Option<String>) -> Result<(), HostError> {
        let reason = reason.map(|reason| self.redactor.redact(&reason).into_owned());
        self.inner.switch_mode(mode, reason).await
    }

    fn check_subtask(&self, call_id: &ToolCallId, worker: &SubtaskWorker) -> Result<SubtaskCheck, HostError> {
        self.inner.check_subtask(call_id, worker)
    }

    async fn run_subtask(&self, request: SubtaskRequest) -> Result<SubtaskResult, HostError> {
        self.inner.run_subtask(request).await
    }

    async fn sample(&self, mut request: SampleRequest) -> Result<SampleAnswer, HostError> {
        request.system = self.redactor.redact(&request.system).into_owned();
        for part in request.messages.iter_mut().flat_map(|message| &mut message.parts) {
            if let Part::Text { text } = part {
                *text = self.redactor.redact(text).into_owned();
            }
        }
        self.inner.sample(request).await
    }

    fn complete(&self, result: String) {
        self.inner.complete(self.redactor.redact(&result).into_owned());
    }
}

/// A plan without keys in its texts: they go to the log and into a document.
fn redacted(mut request: PlanRequest, redactor: &Redactor) -> PlanRequest {
    let redact = |text: &mut String| *text = redactor.redact(text).into_owned();
    match &mut request {
        PlanRequest::Enter { title, description } => {
            redact(title);
            description.iter_mut().for_each(redact);
        }
        PlanRequest::Update(update) => update.content.iter_mut().for_each(redact),
        PlanRequest::Exit { summary, .. } => summary.iter_mut().for_each(redact),
        PlanRequest::EndStep { result, evidence, .. } => {
            redact(result);
            evidence.iter_mut().for_each(redact);
        }
    }
    request
}
