//! Code found by what it means, with a server that the settings name.

use serde_json::Value;
use stepwell_test_support::{Embedded, EmbeddingRequest, EmbeddingServer};

use crate::world::World;

/// Texts about taking away point one way, all others another.
fn vectors(request: &EmbeddingRequest) -> Embedded {
    let about_removal = |text: &String| text.contains("prune") || text.contains("get rid");
    let vector = |text: &String| if about_removal(text) { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
    Embedded::Vectors(request.texts().iter().map(vector).collect())
}

fn world(server: &EmbeddingServer) -> World {
    let world = World::new([]);
    world.write(
        "store.py",
        "def prune(old):\n    key = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB'\n    return old[1:]\n",
    );
    world.write("sky.py", "def rain():\n    return 'wet'\n");
    world.write("secrets.py", "def rotate():\n    return 'prune'\n");
    world.write("hidden/plan.py", "def plan():\n    return 'prune'\n");
    world.set_config(&format!(
        "permissions.deny = [\"read(./hidden/**)\"]\n[code.embeddings]\nendpoint = \"{}\"\nmodel = \"small\"\napi_key_env = \"MOCK_KEY\"\n",
        server.url()
    ));
    world
}

const QUESTION: [&str; 4] = ["index", "search", "get rid of", "stale ones"];

fn search(world: &World) -> String {
    let output = world.output(&QUESTION);
    assert!(output.status.success(), "{}", world.show(&output));
    world.show(&output)
}

#[test]
fn a_search_finds_what_no_word_names() {
    let server = EmbeddingServer::start(vectors);
    let world = world(&server);
    let shown = search(&world);
    assert!(shown.contains("store.py:1: prune") && !shown.contains("note:"), "{shown}");
    let build = world.output(&["index", "build"]);
    assert!(build.status.success(), "{}", world.show(&build));
    let tool = world.output(&["tool", "call", "codebase_search", r#"{"query": "get rid of stale ones"}"#]);
    let tool = world.show(&tool);
    assert!(tool.contains("store.py:1-3: prune"), "{tool}");
    let requests = server.requests();
    assert!(requests.iter().all(|one| one.authorization.as_deref() == Some("Bearer mock-key-value")));
    let sent: Vec<String> = requests.iter().flat_map(EmbeddingRequest::texts).collect();
    let code = sent.iter().filter(|text| text.contains("def prune")).count();
    assert_eq!(code, 1, "what is kept is not sent again: {sent:?}");
    // Neither secrets, nor files that speak of them, nor what the rules hide.
    for kept_back in ["ghp_0123456789", "rotate", "def plan"] {
        assert!(!sent.iter().any(|text| text.contains(kept_back)), "{kept_back}: {sent:?}");
    }
}

#[test]
fn without_vectors_words_are_searched_for_and_the_answer_says_so() {
    let server = EmbeddingServer::start(|_| Embedded::Status(500, "{}".to_owned()));
    let world = world(&server);
    let search_rain = |expected: &str| {
        let output = world.output(&["index", "--json", "search", "rain"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["hits"][0]["path"], "rain");
        let note = answer["note"].as_str().unwrap_or_default();
        assert!(note.contains(expected), "{expected}: {note}");
        let tool = world.output(&["tool", "call", "codebase_search", r#"{"query": "rain"}"#]);
        let tool = world.show(&tool);
        assert!(tool.contains("sky.py:1-2: rain") && tool.contains("note: "), "{tool}");
    };
    search_rain("the search went without embeddings");
    server.respond_with(|request| Embedded::Vectors(vec![vec![1.0]; request.texts().len() + 1]));
    search_rain("came for 1 texts");
    // The question can be asked, the code cannot.
    server.respond_with(|request| match request.texts().first() {
        Some(text) if text.contains("def ") => Embedded::Status(429, "{}".to_owned()),
        _ => vectors(request),
    });
    search_rain("embeddings of what changed could not be made");
    let build = world.output(&["index", "build"]);
    let build = world.show(&build);
    assert!(build.contains("exit code: 1") && build.contains("embeddings could not be made"), "{build}");
}

#[test]
fn nothing_is_sent_unless_the_person_names_a_server() {
    let server = EmbeddingServer::start(vectors);
    let world = world(&server);
    let own = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config("");
    world.write(".stepwell/config.toml", &own);
    let shown = search(&world);
    assert!(!shown.contains("store.py"), "{shown}");
    world.output(&["index", "build"]);
    assert!(server.requests().is_empty(), "{:?}", server.requests());
    for (text, expected) in [
        ("endpoint = \"nowhere\"\nmodel = \"m\"", "code.embeddings: `nowhere` is no base URL"),
        ("model = \"m\"", "missing field `endpoint`"),
        (
            "endpoint = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\napi_key_env = \"NOT_SET\"",
            "there is no key for the server of `code.embeddings`",
        ),
    ] {
        world.set_config(&format!("[code.embeddings]\n{text}\n"));
        let output = world.output(&QUESTION);
        let shown = world.show(&output);
        assert!(output.status.code() == Some(2) && shown.contains(expected), "{text}: {shown}");
    }
}

#[test]
fn its_key_is_kept_like_those_of_models() {
    let server = EmbeddingServer::start(vectors);
    let world = world(&server);
    world.set_config(&format!("[code.embeddings]\nendpoint = \"{}\"\nmodel = \"small\"\n", server.url()));
    assert!(world.given(&["config", "set-key", "embeddings"], "key-for-vectors\n").status.success());
    search(&world);
    let requests = server.requests();
    assert!(!requests.is_empty());
    assert!(requests.iter().all(|one| one.authorization.as_deref() == Some("Bearer key-for-vectors")));
}
