//! A program that talks with a run: `--input-format stream-json`.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use stepwell_test_support::{Turn, call};

use crate::world::World;

/// A run with a program at both ends.
struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    fn begin(world: &World, more: &[&str]) -> Self {
        let fixed = ["run", "--input-format", "stream-json", "--output-format", "stream-json"];
        let mut child = world.command(&[&fixed, more].concat()).stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, output }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn user(&mut self, text: &str) {
        self.say(&json!({"type": "user", "text": text}).to_string());
    }

    /// The next line whose type, or whose event's type, is this.
    fn wait_for(&mut self, kind: &str) -> Value {
        for line in self.output.by_ref() {
            let value: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if value["type"] == kind || value["event"]["type"] == kind {
                return value;
            }
        }
        panic!("the run ended without `{kind}`");
    }

    /// Closes the input, and gives the exit code and what else was said.
    fn end(mut self) -> (Option<i32>, Vec<Value>) {
        drop(self.input.take());
        let rest = self.output.by_ref().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        (self.child.wait().unwrap().code(), rest)
    }
}

fn touching(file: &str) -> Turn {
    Turn::calls([call("bash", json!({"command": format!("touch {file}")}))])
}

#[test]
fn a_program_answers_approvals() {
    let world = World::new([touching("yes"), touching("no"), Turn::text("one of two")]);
    let mut talk = Talk::begin(&world, &[]);
    talk.user("go");
    let asked = talk.wait_for("approval_requested")["event"]["request"].clone();
    assert_eq!(asked["preview"]["command"], "touch yes", "{asked}");
    talk.say(&json!({"type": "approval", "approval": asked["id"], "answer": "yes"}).to_string());
    let asked = talk.wait_for("approval_requested")["event"]["request"].clone();
    talk.say(
        &json!({"type": "approval", "approval": asked["id"], "answer": "no", "reason": "not that"})
            .to_string(),
    );
    let result = talk.wait_for("result");
    assert_eq!(result["result"], "one of two");
    assert_eq!(talk.end(), (Some(0), Vec::new()));
    assert!(world.work().join("yes").exists() && !world.work().join("no").exists());
    assert!(world.server.last_request().tool_results()[1].text.contains("not that"));
}

#[test]
fn a_program_answers_questions() {
    let question = json!({
        "question": "Which one?", "clarification_type": "approach",
        "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}],
    });
    let world = World::new([Turn::calls([call("ask_clarification", question)]), Turn::text("B it is")]);
    let mut talk = Talk::begin(&world, &["choose"]);
    let asked = talk.wait_for("question_asked")["event"]["question"].clone();
    talk.say(&json!({"type": "answer", "question": asked["id"], "option": "b"}).to_string());
    let answered = talk.wait_for("question_answered")["event"]["answer"].clone();
    assert_eq!((&answered["option"], &answered["by"]), (&json!("b"), &json!("person")));
    assert_eq!(talk.wait_for("result")["result"], "B it is");
    assert_eq!(talk.end().0, Some(0));
}

#[test]
fn a_conversation_goes_on_until_the_input_ends() {
    let world = World::new([Turn::text("one"), Turn::text("two")]);
    let mut talk = Talk::begin(&world, &[]);
    talk.say(r#"{"type":"user","message":{"role":"user","content":"first"}}"#);
    assert_eq!(talk.wait_for("result")["result"], "one");
    talk.user("second");
    assert_eq!(talk.wait_for("result")["result"], "two");
    assert_eq!(talk.end(), (Some(0), Vec::new()));
    let texts: Vec<String> =
        world.server.last_request().messages().iter().map(|message| message.text.clone()).collect();
    assert_eq!(texts[texts.len() - 2..], ["one", "second"]);
}

#[test]
fn lines_that_say_nothing_are_told_and_do_not_end_the_run() {
    let world = World::new([Turn::text("still here")]);
    let mut talk = Talk::begin(&world, &[]);
    for line in ["not json", "{\"type\":\"shout\"}", "{\"type\":\"interrupt\"}", "\"\u{7f}\""] {
        talk.say(line);
    }
    let told: Vec<Value> = (0..4).map(|_| talk.wait_for("input_error")["line"].clone()).collect();
    assert_eq!(told, [1, 2, 3, 4]);
    talk.user("hello");
    assert_eq!(talk.wait_for("result")["result"], "still here");
    talk.say(r#"{"type":"approval","approval":"apr_none","answer":"yes"}"#);
    assert!(talk.wait_for("input_error")["message"].as_str().unwrap().contains("apr_none"));
    assert_eq!(talk.end().0, Some(0));
}

#[test]
fn an_interrupt_stops_the_run_and_the_next_message_goes_on() {
    let world = World::new([
        Turn::calls([call("bash", json!({"command": "echo begun; sleep 600"}))]),
        Turn::text("after all"),
    ]);
    let mut talk = Talk::begin(&world, &["--permission-mode", "bypassPermissions", "wait"]);
    talk.wait_for("action");
    talk.say(r#"{"type":"interrupt"}"#);
    assert_eq!(talk.wait_for("result")["subtype"], "interrupted");
    talk.user("go on");
    assert_eq!(talk.wait_for("result")["result"], "after all");
    assert_eq!(talk.end().0, Some(0));
}

#[test]
fn nobody_is_waited_for_when_the_input_ends_or_the_deadline_passes() {
    let world = World::new([touching("made"), Turn::text("not done")]);
    let mut talk = Talk::begin(&world, &["--approval-timeout", "600", "go"]);
    talk.wait_for("approval_requested");
    let (_, rest) = talk.end();
    assert_eq!(rest.last().unwrap()["result"], "not done");
    assert!(!world.work().join("made").exists());

    let world = World::new([touching("made"), Turn::text("not done")]);
    let mut talk = Talk::begin(&world, &["--approval-timeout", "1", "go"]);
    assert_eq!(talk.wait_for("approval_resolved")["event"]["source"], "timeout");
    talk.wait_for("result");
    assert_eq!(talk.end().0, Some(3));
}

#[test]
fn a_program_must_see_what_it_answers() {
    let world = World::new([]);
    let output = world.output(&["run", "--input-format", "stream-json", "x"]);
    assert_eq!(output.status.code(), Some(2), "{}", world.show(&output));
    let output = world.output(&["run", "--input-format", "stream-json", "--output-format", "stream-json"]);
    assert_eq!(output.status.code(), Some(2), "no message came: {}", world.show(&output));
}
