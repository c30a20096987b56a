//! A model's server that says what a test tells it to say.
//!
//! It runs on a thread and a runtime of its own, so that it serves tests with or without a runtime, tests whose
//! clock stands still and child processes alike. Dropping it closes every connection.

mod answers;
mod connection;
mod recorded;
mod turn;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub use recorded::{RecordedRequest, SeenCall, SeenMessage, SeenResult, WireFormat};
pub use turn::{Gate, ScriptedCall, Turn, call};

type Responder = Arc<dyn Fn(&RecordedRequest) -> Turn + Send + Sync>;

/// The server. See the crate's example.
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    books: Mutex<Books>,
    changed: Condvar,
}

#[derive(Default)]
struct Books {
    script: VecDeque<Turn>,
    responder: Option<Responder>,
    requests: Vec<RecordedRequest>,
    unscripted: Vec<String>,
    connections: usize,
    models: Vec<String>,
    /// What addresses outside the model API answer.
    answers: HashMap<String, Value>,
}

impl ModelServer {
    /// Starts a server on a free port of this machine.
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
        listener.set_nonblocking(true).expect("a socket that does not block");
        let address = listener.local_addr().expect("the address just bound");
        let state = Arc::new(State::default());
        state.books.lock().models = vec!["scripted".to_owned()];
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&state);
        let serve = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime for the model server");
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).expect("a listener on this runtime");
                tokio::select! {
                    () = accept(listener, shared) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new()
            .name("model-server".into())
            .spawn(serve)
            .expect("a thread for the model server");
        Self { address, state, stop: Some(stop), thread: Some(thread) }
    }

    /// Adds turns to the script; each model request takes the next one.
    pub fn script(&self, turns: impl IntoIterator<Item = Turn>) {
        self.state.books.lock().script.extend(turns);
    }

    /// Answers requests for which the script has nothing.
    pub fn respond_with(&self, responder: impl Fn(&RecordedRequest) -> Turn + Send + Sync + 'static) {
        self.state.books.lock().responder = Some(Arc::new(responder));
    }

    /// What `GET /models` lists.
    pub fn set_models(&self, names: &[&str]) {
        self.state.books.lock().models = names.iter().map(ToString::to_string).collect();
    }

    /// What another address of the server answers, such as llama.cpp's `/props`.
    pub fn set_answer(&self, path: &str, body: Value) {
        self.state.books.lock().answers.insert(path.to_owned(), body);
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL for `openai-chat` and `openai-responses`.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL for `anthropic`.
    pub fn anthropic_url(&self) -> String {
        self.openai_url()
    }

    /// The base URL for `gemini`.
    pub fn gemini_url(&self) -> String {
        format!("http://{}/v1beta", self.address)
    }

    /// The model requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.books.lock().requests.clone()
    }

    pub fn last_request(&self) -> RecordedRequest {
        self.state
            .books
            .lock()
            .requests
            .last()
            .cloned()
            .expect("at least one request reached the model server")
    }

    /// How many connections were opened: one, if they are kept open between requests.
    pub fn connections(&self) -> usize {
        self.state.books.lock().connections
    }

    /// Blocks until that many requests have arrived; fails the test after `deadline`.
    pub fn wait_for_requests(&self, count: usize, deadline: Duration) -> Vec<RecordedRequest> {
        let mut books = self.state.books.lock();
        let until = std::time::Instant::now() + deadline;
        while books.requests.len() < count {
            let timed_out = self.state.changed.wait_until(&mut books, until).timed_out();
            assert!(
                !timed_out || books.requests.len() >= count,
                "{} of {count} requests reached the model server within {deadline:?}",
                books.requests.len()
            );
        }
        books.requests.clone()
    }

    /// Asserts that the script was used up and that nothing was asked beyond it.
    pub fn finish(&self) {
        let books = self.state.books.lock();
        assert!(books.unscripted.is_empty(), "requests without a scripted turn: {:#?}", books.unscripted);
        assert!(books.script.is_empty(), "{} scripted turns were never asked for", books.script.len());
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server's thread has been reported on its own.
            drop(thread.join());
        }
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    // Ends with its connections: dropping the set aborts them.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        state.books.lock().connections += 1;
        connections.spawn(connection::serve(socket, Arc::clone(&state)));
    }
}

impl State {
    /// Writes the request down and chooses its answer.
    fn next_turn(&self, request: RecordedRequest) -> Turn {
        let mut books = self.books.lock();
        books.requests.push(request.clone());
        self.changed.notify_all();
        if let Some(turn) = books.script.pop_front() {
            return turn;
        }
        if let Some(responder) = books.responder.clone() {
            drop(books);
            return responder(&request);
        }
        let text = format!("request {} to {} has no scripted turn", books.requests.len(), request.path);
        books.unscripted.push(text.clone());
        Turn::error(500, &text)
    }

    fn answer_of(&self, path: &str) -> Option<Value> {
        self.books.lock().answers.get(path).cloned()
    }

    fn models(&self) -> Vec<String> {
        self.books.lock().models.clone()
    }

    fn note_unscripted(&self, text: String) {
        self.books.lock().unscripted.push(text);
    }
}

#[cfg(test)]
#[path = "model_server_tests.rs"]
mod tests;
