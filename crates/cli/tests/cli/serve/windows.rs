//! Windows on one task: what they see when they drop, when the server dies, and when several answer.

use serde_json::json;
use stepwell_protocol::TaskId;
use stepwell_test_support::{Turn, call};
use stepwell_transcript::Transcript;

use super::server::Server;
use crate::world::World;

fn shown(transcript: &Transcript) -> String {
    format!("{:?}", transcript.items())
}

const ANSWER: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";

#[test]
fn a_window_that_drops_in_the_middle_of_an_answer_sees_all_of_it() {
    let (turn, gate) = Turn::text(ANSWER).chunk_size(4).gated();
    let world = World::new([turn]);
    let server = Server::start(&world, &["--port", "0"]);
    let mut window = server.window("first");
    window.start_task(&world, "one", "bypassPermissions");
    gate.release(8);
    window.until("token");
    let seen = std::mem::take(&mut window.seen).kept();
    drop(window);
    let mut window = server.window("first");
    window.seen = seen;
    window.follow("one");
    gate.release(4);
    window.until("token");
    gate.open();
    window.until("run_ended");
    let log = world.log(&TaskId::new("one"));
    assert_eq!(window.seen.durable, log, "nothing lost, nothing doubled");
    assert_eq!(shown(&window.seen.transcript), shown(&Transcript::of(&log)));
    assert!(shown(&window.seen.transcript).contains(ANSWER));
    server.end();
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_an_answer_goes_on_from_the_log() {
    let (turn, gate) = Turn::text(ANSWER).chunk_size(4).gated();
    let world = World::new([turn, Turn::text("all of it")]);
    let mut server = Server::start(&world, &["--port", "0"]);
    let mut window = server.window("first");
    window.start_task(&world, "one", "bypassPermissions");
    gate.release(10);
    window.until("token");
    server.kill();
    while window.receive().is_some() {}
    // The same port: the page comes back by itself.
    let server = Server::start(&world, &["--port", server.port()]);
    let mut again = server.window("first");
    again.seen = window.seen.kept();
    let reply = again.command(json!({"type": "resume_task", "task": "one"}));
    assert_ne!(reply["result"], "failed", "{reply}");
    again.follow("one");
    gate.open();
    again.until("run_ended");
    let log = world.log(&TaskId::new("one"));
    assert_eq!(again.seen.durable, log, "nothing lost, nothing doubled");
    assert_eq!(shown(&again.seen.transcript), shown(&Transcript::of(&log)));
    assert!(shown(&again.seen.transcript).contains("all of it"));
    server.end();
}

#[test]
fn the_first_answer_to_an_approval_wins_and_all_windows_see_whose_it_was() {
    let write = json!({"path": "made.txt", "content": "by the agent\n"});
    let world = World::new([Turn::calls([call("write", write)]), Turn::text("written")]);
    let server = Server::start(&world, &["--port", "0"]);
    let (mut first, mut second) = (server.window("Firefox on lab-3"), server.window("Chromium at home"));
    first.start_task(&world, "one", "default");
    second.follow("one");
    let asked = first.until("approval_requested");
    assert_eq!(second.until("approval_requested"), asked);
    let answer = |answer: &str| json!({"type": "approve", "task": "one", "approval": asked["request"]["id"], "answer": answer});
    assert_eq!(second.command(answer("yes"))["result"], "done");
    let resolved = first.until("approval_resolved");
    assert_eq!(
        (&resolved["answer"], &resolved["answered_from"]),
        (&json!("yes"), &json!("Chromium at home"))
    );
    assert_eq!(first.command(answer("no"))["result"], "failed", "it is answered already");
    first.until("run_ended");
    second.until("run_ended");
    assert!(world.work().join("made.txt").exists());
    assert_eq!(shown(&first.seen.transcript), shown(&second.seen.transcript));
    server.end();
}
