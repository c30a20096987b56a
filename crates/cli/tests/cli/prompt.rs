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
    // About 2,900 tokens of tools, and 4,000 with the prompt.
    let request: serde_json::Value = serde_json::from_str(&body).unwrap();
    let tools = request["tools"].as_array().unwrap();
    let definitions: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
    assert!(definitions < 12_500, "{} tools have {definitions} bytes", tools.len());
    assert!(body.len() - definitions < 4_700, "the prompt has {} bytes", body.len() - definitions);
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

#[test]
fn the_first_message_of_a_task_tells_what_code_there_is() {
    let world = World::new([Turn::text("one"), Turn::text("two"), Turn::text("three")]);
    // A busy machine may need longer than the first message waits for by itself.
    let config = std::fs::read_to_string(world.config().join("config.toml")).unwrap();
    world.set_config(&format!("{config}\n[code]\noverview_seconds = 60\n"));
    world.write("shop.py", "class Order:\n    def total(self):\n        return 1\n");
    world.write("app.py", "from shop import Order\nprint(Order().total())\n");
    assert!(world.output(&["run", "what is sold?"]).status.success());
    let first = world.server.last_request().messages();
    let told = format!("{first:?}");
    assert!(told.contains("<environment_details>"), "{told}");
    assert!(told.contains("shop.py: Order:1, Order.total:2"), "{told}");
    // It is said once, and stays where it is.
    assert!(world.output(&["run", "--resume", "1", "and why?"]).status.success());
    let again = world.server.last_request().messages();
    assert_eq!(again[..first.len()], first[..]);
    assert_eq!(format!("{again:?}").matches("<environment_details>").count(), 1);
    // Nobody said it, so nobody is shown it.
    let shown = world.output(&["tasks", "export", "1", "--format", "markdown"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("what is sold?") && !shown.contains("Order.total"), "{shown}");
    let found = world.output(&["tasks", "search", "Order"]);
    assert!(!String::from_utf8(found.stdout).unwrap().contains("sold"));
    world.set_config(&format!("{config}\n[code]\noverview_tokens = 0\n"));
    assert!(world.output(&["run", "what is sold?"]).status.success());
    assert!(!format!("{:?}", world.server.last_request().messages()).contains("environment_details"));
}
