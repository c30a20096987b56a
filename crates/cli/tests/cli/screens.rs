//! What a person sees and does from a front end, through the binary: folders, settings, debugger, terminal.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::served::Served;
use crate::world::World;

const PROGRAM: &str = "def total(n):\n    sum = 0\n    for i in range(n):\n        sum += i\n    return sum\n\nresult = total(3)\nprint(result)\n";

fn call(world: &World, name: &str, arguments: Value) -> Value {
    json!({"type": "call_tool", "workspace": world.work(), "name": name, "arguments": arguments, "confirmed": true})
}

#[test]
fn a_person_debugs_beside_the_agent() {
    let Some(world) = crate::debug_sandbox::world() else { return };
    world.set_config("");
    world.write("total.py", PROGRAM);
    let mut served = Served::start(&world);
    served.send(&json!({"type": "hello", "attended": true}));
    served.command(call(&world, "set_breakpoint", json!({"file_path": "total.py", "line_number": 4})));
    let folder = served.ask("query", json!({"type": "workspace", "workspace": world.work()}));
    let breakpoints = &folder["workspace"]["breakpoints"];
    assert_eq!((breakpoints[0]["line"].as_u64(), breakpoints.as_array().unwrap().len()), (Some(4), 1));

    // What runs a program is confirmed first.
    let start = json!({"command": "python3 total.py"});
    let mut unconfirmed = call(&world, "start_debugging", start.clone());
    unconfirmed["confirmed"] = json!(false);
    assert_eq!(served.command(unconfirmed)["result"], "needs_confirmation");
    let stopped = served.command(call(&world, "start_debugging", start));
    assert_eq!(stopped["outcome"]["detail"]["line"], 4, "{stopped}");
    // A step continues what was confirmed, so it needs no word.
    let thread = &stopped["output"]["stop_event_data"]["thread_id"];
    let mut step = call(&world, "step_execution", json!({"step_type": "over", "thread_id": thread}));
    step["confirmed"] = json!(false);
    let stepped = served.command(step);
    assert_eq!(stepped["outcome"]["detail"]["line"], 3, "{stepped}");
    let sessions = served.ask("query", json!({"type": "debug_sessions", "workspace": world.work()}));
    assert_eq!(sessions["sessions"][0]["state"], "stopped");

    let trace = call(&world, "debug_trace", json!({"command": "python3 total.py", "function": "total"}));
    let traced = served.command(trace);
    let detail = &traced["outcome"]["detail"];
    assert_eq!((&detail["kind"], &detail["end"]), (&json!("trace"), &json!("returned")), "{traced}");
    let changed = |line: &Value| line["changed"][0]["value"].as_str().map(str::to_owned);
    let values: Vec<String> = detail["lines"].as_array().unwrap().iter().filter_map(changed).collect();
    assert!(values.contains(&"3".to_owned()), "{values:?}");
    served.close();
}

#[test]
fn a_terminal_is_a_real_one_and_ends_with_its_front_end() {
    let world = World::new([]);
    let mut served = Served::start(&world);
    let open = json!({"type": "open_terminal", "workspace": world.work(), "columns": 80, "rows": 24});
    assert_eq!(served.command(open.clone())["result"], "needs_confirmation");
    let mut confirmed = open;
    confirmed["confirmed"] = json!(true);
    let terminal = served.command(confirmed)["terminal"].clone();
    let mut screen = String::new();
    let typed = |served: &mut Served, text: &str| {
        served.last += 1;
        let write = json!({"type": "write_terminal", "terminal": terminal, "data": text});
        served.send(&json!({"type": "command", "id": served.last, "command": write}));
    };
    // The folder is shown by the prompt, so the shell is ready for keys.
    typed(&mut served, "stty size; [ -t 0 ] && echo is-a-$((1+1))-terminal\r");
    until(&mut served, &mut screen, "is-a-2-terminal");
    assert!(screen.contains("24 80"), "{screen}");
    served.last += 1;
    let resize = json!({"type": "resize_terminal", "terminal": terminal, "columns": 100, "rows": 30});
    served.send(&json!({"type": "command", "id": served.last, "command": resize}));
    // Ctrl-C ends what runs, not the shell.
    typed(&mut served, "sh -c 'echo sleeps-$((2+2)); exec sleep 1000'\r");
    until(&mut served, &mut screen, "sleeps-4");
    typed(&mut served, "\u{3}");
    // The terminal forgets what was typed ahead when it is interrupted.
    until(&mut served, &mut screen, "^C");
    typed(&mut served, "stty size; exit 3\r");
    let end = until(&mut served, &mut screen, "\0");
    assert!(screen.contains("30 100"), "{screen}");
    assert_eq!(end["exit_code"], 3, "{screen}");
    served.close();
}

/// Reads what a terminal prints until a text stands there, or until it is closed.
fn until(served: &mut Served, screen: &mut String, wanted: &str) -> Value {
    loop {
        let message = served.receive();
        match message["type"].as_str().unwrap_or_default() {
            "terminal_output" => {
                let bytes = STANDARD.decode(message["data"].as_str().unwrap()).unwrap();
                screen.push_str(&String::from_utf8_lossy(&bytes));
            }
            "terminal_closed" => return message,
            _ => {}
        }
        if screen.contains(wanted) {
            return Value::Null;
        }
    }
}

#[test]
fn settings_keys_and_trust_are_changed_from_a_front_end() {
    let world = World::new([]);
    world.write(".stepwell/config.toml", "permission_mode = \"acceptEdits\"\n");
    let mut served = Served::start(&world);
    let workspace = world.work().display().to_string();
    let folder = |served: &mut Served| {
        served.ask("query", json!({"type": "workspace", "workspace": workspace}))["workspace"].clone()
    };
    let before = folder(&mut served);
    assert_eq!((&before["trusted"], &before["permission_mode"]), (&json!(false), &json!("default")));
    assert!(before["trust_files"][0].as_str().unwrap().ends_with(".stepwell/config.toml"), "{before}");
    served.command(json!({"type": "trust_workspace", "workspace": workspace, "trusted": true}));
    let after = folder(&mut served);
    assert_eq!((&after["trusted"], &after["permission_mode"]), (&json!(true), &json!("acceptEdits")));

    // What the person writes from here is trusted as well; what somebody else writes is not.
    let set = |name: &str, value: Value| json!({"type": "set_setting", "workspace": workspace, "scope": "project", "name": name, "value": value});
    served.command(set("max_turns", json!(7)));
    assert_eq!(folder(&mut served)["trusted"], true);
    world.write(".stepwell/config.toml", "permission_mode = \"bypassPermissions\"\n");
    assert_eq!(folder(&mut served)["trusted"], false);
    served.command(set("max_turns", json!(8)));
    assert_eq!(folder(&mut served)["trusted"], false);
    let refused = served.ask("command", set("max_turns", json!("many")));
    assert!(refused["error"]["message"].as_str().unwrap().contains("max_turns"), "{refused}");

    let key = "sk-a-key-that-is-kept-0123456789";
    served.command(json!({"type": "set_model_key", "provider": "openai", "key": key}));
    let providers = served.ask("query", json!({"type": "providers", "workspace": workspace}));
    let openai = providers["providers"].as_array().unwrap().iter().find(|item| item["name"] == "openai");
    assert_eq!(openai.unwrap()["key"], "key file");
    assert!(!providers.to_string().contains(key));

    let hidden = json!({"type": "file", "workspace": workspace, "path": "../../etc/passwd"});
    assert_eq!(served.ask("query", hidden)["type"], "failed");
    let file = json!({"type": "file", "workspace": workspace, "path": ".stepwell/config.toml"});
    let file = served.ask("query", file);
    assert!(file["file"]["text"].as_str().unwrap().contains("max_turns = 8"), "{file}");
    served.close();
}
