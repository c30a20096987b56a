//! What a person sees of a task, folded from its events.
//!
//! [`Transcript`] takes durable and transient events in the order in which they come and holds what a screen shows:
//! messages, tool cards, approvals, plan, todo list, totals, the state of the debugger. Whoever joins late folds the
//! log and the events after it, and sees the same. Screens, `stepwell run` and the exports share this fold.
//!
//! ```
//! use stepwell_protocol::{Event, EventRecord, MessageId, Seq, Timestamp};
//! use stepwell_transcript::{Entry, Transcript};
//!
//! let token = |offset, content: &str| EventRecord {
//!     seq: Seq(1),
//!     ts: Timestamp(0),
//!     event: Event::Token { message_id: MessageId::new("m1"), offset, content: content.into() },
//! };
//! let mut transcript = Transcript::default();
//! transcript.apply(&token(0, "Hel"));
//! transcript.apply(&token(3, "lo"));
//! let Entry::Answer { content, unfinished, .. } = &transcript.items()[0].entry else { panic!() };
//! assert_eq!((content.as_str(), *unfinished), ("Hello", true));
//! ```

mod activity;
mod evidence;
mod summary;
mod transcript;

pub use activity::{Activity, FormingCall, Retrying};
pub use evidence::{evidence_of, runs_a_program};
pub use summary::{OpenSubtask, TaskSummary};
pub use transcript::{CheckpointMark, Entry, Item, ToolCard, Transcript};
