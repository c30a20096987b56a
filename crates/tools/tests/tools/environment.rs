//! Variables: commands get values, nobody is shown one.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use secrecy::SecretString;
use serde_json::json;
use stepwell_protocol::PermissionMode;
use stepwell_tools::{TaskVariables, VariableKeeper};
use stepwell_workspace::files;

use crate::bench::{Bench, bench_with};

const CANARY: &str = "Canary_7391-of/the+mine";

/// Variables in memory.
#[derive(Debug, Default)]
struct InMemory(Mutex<BTreeMap<String, String>>);

impl VariableKeeper for InMemory {
    fn names(&self) -> Result<Vec<(String, &'static str)>, String> {
        Ok(self.0.lock().keys().map(|name| (name.clone(), "project")).collect())
    }

    fn value(&self, name: &str) -> Result<Option<SecretString>, String> {
        Ok(self.0.lock().get(name).cloned().map(SecretString::from))
    }
}

fn with_canary(mode: PermissionMode) -> Bench {
    let keeper = InMemory::default();
    keeper.0.lock().insert("SHOP_KEY".to_owned(), CANARY.to_owned());
    bench_with(mode, |options| options.variables = Some(TaskVariables::new(Arc::new(keeper))))
}

/// E05: the value goes to commands, in no form into what the model, the screen or the disk gets.
#[tokio::test]
async fn e05_commands_get_the_value_and_no_encoding_of_it_comes_back() {
    let bench = with_canary(PermissionMode::BypassPermissions);
    let before = bench.call("bash", json!({"command": "echo [${SHOP_KEY:-none}]"})).await.result.output;
    assert_eq!(before, "[none]\n");
    let told = bench.call("get_env_var", json!({"name": "SHOP_KEY"})).await;
    assert!(told.result.output.contains("see it as `$SHOP_KEY`"), "{}", told.result.output);
    assert!(!told.output.expect("data").to_string().contains("Canary"));
    let length = bench.call("bash", json!({"command": "echo ${#SHOP_KEY}"})).await.result.output;
    assert_eq!(length, format!("{}\n", CANARY.len()));
    let commands = [
        "echo $SHOP_KEY",
        "printenv SHOP_KEY",
        "env",
        "printf %s \"$SHOP_KEY\" | base64",
        "printf 'x%s' \"$SHOP_KEY\" | base64 -w0",
        "printf %s \"$SHOP_KEY\" | rev",
        "printf %s \"$SHOP_KEY\" | od -An -tx1",
        "printf %s \"$SHOP_KEY\" | od -An -tx1 -w64",
        "printf %s \"$SHOP_KEY\" | tr 'A-Za-z' 'N-ZA-Mn-za-m'",
        "python3 -c 'import os; print(os.environ[\"SHOP_KEY\"].encode().hex())'",
        "python3 -c 'import os, urllib.parse as u; print(u.quote(os.environ[\"SHOP_KEY\"], safe=\"\"))'",
        "python3 -c 'import os; print(list(os.environ[\"SHOP_KEY\"].encode()))'",
        "python3 -c 'import os, base64; print(base64.b32encode(os.environ[\"SHOP_KEY\"].encode()).decode())'",
        "python3 -c 'import os, json; print(json.dumps({\"k\": os.environ[\"SHOP_KEY\"]}))'",
        "printf 'a %s' \"$SHOP_KEY\"; seq 1 30000; echo $SHOP_KEY; exit 3",
        "ls \"/$SHOP_KEY\"",
    ];
    for command in commands {
        let result = bench.call("bash", json!({"command": command})).await.result;
        let mut shown = format!("{}{:?}", result.output, result.detail);
        for artifact in &result.artifacts {
            shown.push_str(&files::read_to_string(artifact.path.as_ref()).expect("kept"));
        }
        shown.push_str(&bench.host.live.lock());
        for form in
            [CANARY, "_7391-", "enim+eht", "37333931", "37 33 39 31", "55, 51, 57, 49", "Q2FuYXJ5", "Pnanel"]
        {
            assert!(!shown.contains(form), "`{command}` shows {form}: {shown}");
        }
    }
}

/// E05: handing a value to commands is asked about.
#[tokio::test]
async fn e05_giving_a_variable_to_commands_asks() {
    let bench = with_canary(PermissionMode::Default);
    let refused = bench.call("get_env_var", json!({"name": "SHOP_KEY"})).await;
    assert!(refused.refused.is_some(), "{}", refused.result.output);
    let asked = bench.host.approvals.lock().pop().expect("a question");
    assert_eq!(asked.preview.summary, "Let the commands of this task use the variable `SHOP_KEY`");
    // Its twin only names what there is.
    let checked = bench.call("check_env_vars", json!({"names": ["SHOP_KEY", "OTHER"]})).await.result.output;
    assert_eq!(
        checked,
        "SHOP_KEY: set (project); `get_env_var` lets commands see it\nOTHER: missing; `request_env_var` asks for it\n"
    );
}

#[tokio::test]
async fn variables_that_steer_programs_are_not_given() {
    let bench = with_canary(PermissionMode::BypassPermissions);
    for name in ["PATH", "LD_PRELOAD", "GIT_SSH_COMMAND", "NODE_OPTIONS", "A B", "", "X=Y"] {
        let result = bench.call("get_env_var", json!({"name": name})).await.result;
        assert!(result.error.is_some(), "{name}: {}", result.output);
    }
    let missing = bench.call("get_env_var", json!({"name": "CARGO_PKG_VERSION"})).await.result.output;
    assert!(missing.contains("is not set. It is in Stepwell's own environment"), "{missing}");
}

#[tokio::test]
async fn a_value_is_asked_for_without_being_typed_into_the_answer() {
    let bench = with_canary(PermissionMode::Default);
    let known = bench.call("request_env_var", json!({"name": "SHOP_KEY"})).await.result.output;
    assert!(known.contains("is set already"), "{known}");
    let result =
        bench.call("request_env_var", json!({"name": "OTHER_KEY", "why": "to pay"})).await.result.output;
    assert!(result.contains("still not set"), "{result}");
    let question = bench.host.asked.lock().pop().expect("a question");
    assert!(
        !question.allow_custom && question.text.contains("stepwell env set OTHER_KEY"),
        "{}",
        question.text
    );
    assert_eq!(question.default_option.as_deref(), Some("not_now"));
}
