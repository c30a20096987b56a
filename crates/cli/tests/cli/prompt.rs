//! What the model is sent, whole: a change of a prompt or a tool description is a diff here.

use expect_test::expect_file;
use serde_json::json;
use stepwell_test_support::{Turn, call};

use crate::world::World;

#[test]
fn the_first_requests_as_the_model_sees_them() {
    let world = World::new([Turn::calls([call("list", json!({}))]), Turn::text("done")]);
    world.write("README.md", "# A project\n");
    world.output(&["run", "what is here?"]);
    let mut shown = String::new();
    let date = regex::Regex::new(r"Date: \d{4}-\d\d-\d\d").unwrap();
    for (number, request) in world.server.requests().iter().enumerate() {
        if number == 0 {
            let system = request.system_text().replace(&world.work().display().to_string(), "[WORK]");
            shown.push_str(&format!("# System\n\n{}\n", date.replace(&system, "Date: [DATE]")));
            shown.push_str("# Tools\n\n");
            for tool in request.body["tools"].as_array().unwrap() {
                let function = &tool["function"];
                shown.push_str(&format!(
                    "## {}\n{}\n{:#}\n\n",
                    function["name"].as_str().unwrap(),
                    function["description"].as_str().unwrap(),
                    function["parameters"]
                ));
            }
        }
        shown.push_str(&format!("# Request {}\n\n", number + 1));
        for message in request.messages() {
            shown.push_str(&format!("{message:?}\n"));
        }
        shown.push('\n');
    }
    let ids = regex::Regex::new(r"call_[0-9a-zA-Z_]+").unwrap();
    expect_file!["./prompt.snapshot.md"].assert_eq(&ids.replace_all(&shown, "[CALL]"));
}

#[test]
fn definitions_and_prompt_stay_small() {
    let world = World::new([Turn::text("done")]);
    world.output(&["run", "x"]);
    let body = world.server.last_request().body.to_string();
    // Every tool costs in every request, so what one may cost is bounded, not only all of them together.
    let request: serde_json::Value = serde_json::from_str(&body).unwrap();
    let tools = request["tools"].as_array().unwrap();
    let definitions: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
    assert!(definitions / tools.len() < 640, "{} tools have {definitions} bytes", tools.len());
    assert!(body.len() - definitions < 6_000, "the prompt has {} bytes", body.len() - definitions);
}

#[test]
fn the_beginning_of_a_request_is_the_request_before_it() {
    let look = |word: &str| Turn::calls([call("bash", json!({"command": format!("echo {word}")}))]);
    let world = World::new([look("a"), look("b"), look("c"), Turn::text("done")]);
    world.output(&["run", "--permission-mode", "bypassPermissions", "x"]);
    let requests = world.server.requests();
    for pair in requests.windows(2) {
        let (before, after) = (&pair[0].body, &pair[1].body);
        assert_eq!(before["tools"], after["tools"]);
        let (before, after) = (before["messages"].as_array().unwrap(), after["messages"].as_array().unwrap());
        assert_eq!(before[..], after[..before.len()], "the prefix changed, so no prompt cache can hold it");
    }
}
