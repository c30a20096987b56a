//! Notifications and requests from a server: loading progress, and questions to an editor.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Duration, Instant, timeout, timeout_at};

use super::client::{Listener, ServerError};
use super::table::ReadyBy;

/// After it has answered about a file, a server that reads more of the project begins to say so within this time.
const QUIET: Duration = Duration::from_millis(700);
/// Jobs that are told at the same time; more are not kept.
const MOST_JOBS: usize = 256;
const LONGEST_WORDS: usize = 300;

/// What is known of a server's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// Jobs that go on, by their tokens, with what was said of them last.
    jobs: HashMap<String, Job>,
    has_begun: bool,
    is_quiescent: bool,
    is_service_ready: bool,
    /// The last complaint: an error shown to the person, or a bad health.
    complaint: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Job {
    title: String,
    detail: String,
}

impl Job {
    /// gopls (0.5 to 0.20) keeps a job `Error loading workspace` open until the fault is mended, which may be never.
    fn is_fault(&self) -> bool {
        self.title.starts_with("Error")
    }

    fn words(&self) -> String {
        format!("{} {}", self.title, self.detail).trim().to_owned()
    }
}

impl State {
    fn is_ready(&self, by: ReadyBy) -> bool {
        match by {
            ReadyBy::Answering => true,
            ReadyBy::Progress => self.jobs.values().all(Job::is_fault),
            ReadyBy::ServerStatus => self.is_quiescent,
            ReadyBy::LanguageStatus => self.is_service_ready,
        }
    }

    /// What it is doing, in words.
    fn doing(&self) -> String {
        let jobs = self.jobs.values().filter(|job| !job.is_fault());
        let job = jobs.max_by_key(|job| job.detail.len());
        job.map_or_else(|| "the project".to_owned(), Job::words)
    }

    /// What it complains about.
    fn complaint(&self) -> Option<String> {
        let fault = || self.jobs.values().find(|job| job.is_fault()).map(|job| in_a_line(&job.words()));
        self.complaint.clone().or_else(fault)
    }
}

/// Hears a server.
#[derive(Debug)]
pub(crate) struct ServerListener {
    state: watch::Sender<State>,
    /// What it gets when it asks for its configuration.
    configuration: Value,
    folder: Value,
}

impl ServerListener {
    pub(crate) fn new(configuration: Value, folder: Value) -> Self {
        Self { state: watch::Sender::new(State::default()), configuration, folder }
    }

    pub(crate) fn complaint(&self) -> Option<String> {
        self.state.borrow().complaint()
    }

    /// Waits, a moment, for the server to say that it reads the project.
    pub(crate) async fn begun(&self, by: ReadyBy) {
        if by == ReadyBy::Progress {
            let mut state = self.state.subscribe();
            timeout(QUIET, state.wait_for(|state| state.has_begun)).await.ok();
        }
    }

    /// Waits until the server has read the project, or says how far it is.
    pub(crate) async fn ready(&self, by: ReadyBy, deadline: Instant) -> Result<(), ServerError> {
        let mut state = self.state.subscribe();
        match timeout_at(deadline, state.wait_for(|state| state.is_ready(by))).await {
            Ok(_) => Ok(()),
            Err(_late) => {
                let doing = self.state.borrow().doing();
                Err(ServerError::Late(format!("it is still reading {doing}")))
            }
        }
    }

    fn progress(&self, params: &Value) {
        let token = in_a_line(&params["token"].to_string());
        let value = &params["value"];
        let text = |name: &str| in_a_line(value[name].as_str().unwrap_or_default());
        self.state.send_modify(|state| match value["kind"].as_str() {
            Some("begin") => {
                state.has_begun = true;
                if state.jobs.len() < MOST_JOBS {
                    state.jobs.insert(token, Job { title: text("title"), detail: text("message") });
                }
            }
            Some("report") => {
                if let Some(job) = state.jobs.get_mut(&token) {
                    let percent = value["percentage"].as_u64().map(|percent| format!("({percent} %)"));
                    job.detail = format!("{} {}", text("message"), percent.unwrap_or_default());
                }
            }
            Some("end") => {
                state.jobs.remove(&token);
            }
            _ => {}
        });
    }
}

impl Listener for ServerListener {
    fn notification(&self, method: &str, params: &Value) {
        match method {
            "$/progress" => self.progress(params),
            "experimental/serverStatus" => self.state.send_modify(|state| {
                state.is_quiescent = params["quiescent"].as_bool().unwrap_or(true);
                let is_well = params["health"].as_str() == Some("ok");
                let words = params["message"].as_str().filter(|_| !is_well);
                state.complaint = words.map(in_a_line);
            }),
            "language/status" => {
                let kind = params["type"].as_str().unwrap_or_default();
                if matches!(kind, "Started" | "ServiceReady") {
                    self.state.send_modify(|state| state.is_service_ready = true);
                }
            }
            "window/showMessage" if params["type"].as_i64() == Some(1) => {
                let words = params["message"].as_str().map(in_a_line);
                self.state.send_modify(|state| state.complaint = words);
            }
            _ => {}
        }
    }

    fn request(&self, method: &str, params: &Value) -> Option<Value> {
        Some(match method {
            "workspace/configuration" => {
                let items = params["items"].as_array().map_or(&[][..], Vec::as_slice);
                items.iter().map(|item| self.section(item["section"].as_str().unwrap_or_default())).collect()
            }
            "workspace/workspaceFolders" => json!([self.folder]),
            "workspace/applyEdit" => json!({"applied": false, "failureReason": "nothing is edited here"}),
            "window/showDocument" => json!({"success": false}),
            "client/registerCapability"
            | "client/unregisterCapability"
            | "window/workDoneProgress/create"
            // A question to the person gets no choice.
            | "window/showMessageRequest" => Value::Null,
            refresh if refresh.starts_with("workspace/") && refresh.ends_with("/refresh") => Value::Null,
            _ => return None,
        })
    }

    fn closed(&self, _: &str) {
        // Nothing will come any more; who waits for a sign asks the client next and learns why.
        self.state.send_modify(|state| {
            state.jobs.clear();
            state.has_begun = true;
            state.is_quiescent = true;
            state.is_service_ready = true;
        });
    }
}

impl ServerListener {
    /// A part of the configuration by its name with dots. Where the name leads nowhere and is the server's own prefix,
    /// as `rust-analyzer` is, the whole is meant.
    fn section(&self, name: &str) -> Value {
        let path = name.split('.').try_fold(&self.configuration, |value, part| value.get(part));
        match path {
            Some(value) => value.clone(),
            None if !name.contains('.') => self.configuration.clone(),
            None => Value::Null,
        }
    }
}

/// What a server says, as a note has it: in one line that is not too long.
fn in_a_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_WORDS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}
