//! A history as it is sent after condensing: the goal, a summary, and the newest messages as they were.

use std::collections::HashMap;
use std::sync::Arc;

use stepwell_protocol::{Condensing, DroppedOutput, Message, MessageId, Part, Role, Timestamp, ToolCallId};

/// What was made shorter, in the order in which it was. The last step can be undone.
#[derive(Clone, Debug, Default)]
pub(super) struct Condensed {
    steps: Vec<Step>,
    /// Messages with outputs left out, by their ids. Made once, so that a message stays the same object.
    shortened: HashMap<MessageId, Arc<Message>>,
}

#[derive(Clone, Debug)]
enum Step {
    Summary { message: Arc<Message>, kept_from: Option<MessageId> },
    Outputs(Vec<DroppedOutput>),
}

impl Condensed {
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(super) fn summarise(&mut self, ts: Timestamp, condensing: &Condensing) {
        let message = Message {
            id: condensing.message_id.clone(),
            role: Role::User,
            parts: vec![Part::text(text_of(condensing))],
            ts,
            interrupted: false,
        };
        let kept_from = condensing.kept_from.clone();
        self.steps.push(Step::Summary { message: Arc::new(message), kept_from });
    }

    pub(super) fn drop_outputs(&mut self, outputs: &[DroppedOutput], messages: &[Arc<Message>]) {
        self.steps.push(Step::Outputs(outputs.to_vec()));
        self.shorten(messages);
    }

    /// Takes the last step back; `false` when there is none.
    pub(super) fn undo(&mut self, messages: &[Arc<Message>]) -> bool {
        let undone = self.steps.pop().is_some();
        self.shorten(messages);
        undone
    }

    /// Forgets steps about messages that are no longer there.
    pub(super) fn rewound(&mut self, messages: &[Arc<Message>]) {
        self.steps.retain(|step| match step {
            Step::Summary { kept_from: Some(id), .. } => messages.iter().any(|message| message.id == *id),
            Step::Summary { kept_from: None, .. } => false,
            Step::Outputs(_) => true,
        });
        self.shorten(messages);
    }

    fn shorten(&mut self, messages: &[Arc<Message>]) {
        let outputs: HashMap<&ToolCallId, &DroppedOutput> = self
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Outputs(outputs) => Some(outputs),
                Step::Summary { .. } => None,
            })
            .flatten()
            .map(|output| (&output.call_id, output))
            .collect();
        let mut shortened = HashMap::new();
        for message in messages.iter().filter(|message| message.role == Role::Tool) {
            if !message.tool_results().any(|result| outputs.contains_key(&result.call_id)) {
                continue;
            }
            let mut short = Message::clone(message);
            for part in &mut short.parts {
                if let Part::ToolResult { result } = part
                    && let Some(output) = outputs.get(&result.call_id)
                {
                    result.output = format!(
                        "[The output of this call, {} bytes, was left out to save space. It can be read again: {}]",
                        output.bytes, output.path
                    );
                    result.images.clear();
                    result.detail = None;
                }
            }
            // A message that was shortened the same way before stays the same object.
            let same = self.shortened.get(&message.id).filter(|known| ***known == short);
            shortened.insert(message.id.clone(), same.cloned().unwrap_or_else(|| Arc::new(short)));
        }
        self.shortened = shortened;
    }

    /// The messages as they are sent.
    pub(super) fn view(&self, messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
        let summary = self.steps.iter().rev().find_map(|step| match step {
            Step::Summary { message, kept_from } => Some((message, kept_from)),
            Step::Outputs(_) => None,
        });
        let as_sent = |message: &Arc<Message>| Arc::clone(self.shortened.get(&message.id).unwrap_or(message));
        let Some((summary, kept_from)) = summary else { return messages.iter().map(as_sent).collect() };
        let kept = kept_from.as_ref().and_then(|id| messages.iter().position(|message| message.id == *id));
        let kept = kept.unwrap_or(messages.len());
        let goal = messages[..kept].iter().find(|message| message.role == Role::User).cloned();
        let head = goal.into_iter().chain([Arc::clone(summary)]);
        head.chain(messages[kept..].iter().map(as_sent)).collect()
    }
}

/// What the model reads in place of the older messages.
fn text_of(condensing: &Condensing) -> String {
    let mut text = String::from(
        "[Condensed: this stands for the messages between the goal above and the ones below, which are no longer shown.]\n",
    );
    if !condensing.pinned.trim().is_empty() {
        text.push('\n');
        text.push_str(condensing.pinned.trim_end());
        text.push('\n');
    }
    text.push_str("\n# Summary of the work so far\n");
    text.push_str(condensing.summary.trim());
    text
}
