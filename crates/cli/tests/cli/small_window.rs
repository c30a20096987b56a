//! A server with a window of 2,048 tokens, and all the tools the binary has.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use stepwell_test_support::{RecordedRequest, Turn, call};

use crate::world::World;

const WINDOW: usize = 2_048;
const READS: usize = 6;

/// A token is four bytes of the request.
fn tokens(request: &RecordedRequest) -> usize {
    request.raw_body.len() / 4
}

#[test]
fn a_task_on_a_server_of_2048_tokens_ends_well() {
    for tells_window in [true, false] {
        let world = World::new([]);
        for number in 0..READS {
            world.write(&format!("{number}.txt"), &format!("line of {number}\n").repeat(300));
        }
        if tells_window {
            let props = json!({"default_generation_settings": {"n_ctx": WINDOW}});
            world.server.set_answer("/props", props);
        }
        let answered = Arc::new(AtomicUsize::new(0));
        let answers = Arc::clone(&answered);
        world.server.respond_with(move |request| {
            let sent = tokens(request);
            if sent > WINDOW {
                let refusal = json!({"error": {
                    "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": sent, "n_ctx": WINDOW,
                    "message": format!("request ({sent} tokens) exceeds the available context size ({WINDOW} tokens)"),
                }});
                return Turn::raw(400, "application/json", refusal.to_string());
            }
            match answers.fetch_add(1, Ordering::SeqCst) {
                number if number < READS => {
                    Turn::calls([call("read", json!({"file_path": format!("{number}.txt")}))])
                        .with_usage(sent as u64, 10)
                }
                _ => Turn::text("All six are read.").with_usage(sent as u64, 10),
            }
        });
        let output = world.output(&["run", "--quiet", "--max-turns", "7", "read the six files"]);
        assert_eq!(world.show(&output), "exit code: 0\n--- stdout\nAll six are read.\n", "{tells_window}");
        assert_eq!(answered.load(Ordering::SeqCst), READS + 1);
        let sent: Vec<usize> = world.server.requests().iter().map(tokens).collect();
        assert!(sent.len() - (READS + 1) <= 4, "window told: {tells_window}; sent {sent:?}");
        let last = world.server.last_request();
        let offered: Vec<String> = last.body["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["function"]["name"].as_str().map(ToOwned::to_owned))
            .collect();
        assert_eq!(offered, ["bash", "edit", "grep", "list", "read", "write"], "{tells_window}");
    }
}
