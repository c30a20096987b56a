//! Every error says what was wrong and what to do.

use expect_test::{Expect, expect};
use stepwell_test_support::Turn;

use crate::world::World;

/// Runs against one scripted turn and shows what the person sees.
fn check(turn: Turn, expected: Expect) {
    let world = World::new([turn]);
    world.check(&["run", "--quiet", "x"], expected);
}

#[test]
fn a_wrong_key() {
    check(
        Turn::error(401, "Incorrect API key provided: mock-key-value").with_code("invalid_api_key"),
        expect![[r#"
            exit code: 1
            --- stderr
            error: `mock` refused the key (401): Incorrect API key provided: [key]

            hint: check `MOCK_KEY`: the key may be mistyped, expired or of another account
        "#]],
    );
}

#[test]
fn no_credit() {
    check(
        Turn::error(429, "You exceeded your current quota").with_code("insufficient_quota"),
        expect![[r#"
        exit code: 1
        --- stderr
        error: no credit or quota left at `mock` (429): You exceeded your current quota

        hint: add credit to the account at `mock`, or choose another model
    "#]],
    );
}

#[test]
fn an_unknown_model() {
    check(
        Turn::error(404, "The model does not exist").with_code("model_not_found"),
        expect![[r#"
        exit code: 1
        --- stderr
        error: `mock` does not know the model `mock-model` (404): The model does not exist

        hint: list the models with `stepwell models`; a model is written `PROVIDER/MODEL`
    "#]],
    );
}

#[test]
fn a_page_of_a_proxy() {
    check(
        Turn::raw(200, "text/html", "<html><body>Sign in to the network</body></html>"),
        expect![[r#"
        exit code: 1
        --- stderr
        error: [SERVER] answered with an HTML page, not with a model's answer: "Sign in to the network"

        hint: a proxy or login page stands between, or `providers.mock.base_url` (http://[SERVER]/v1) is not the API's address
    "#]],
    );
}

#[test]
fn no_key_at_all() {
    let world = World::new([]);
    let output = world.command(&["run", "x"]).env_remove("MOCK_KEY").output().unwrap();
    expect![[r"
        exit code: 2
        --- stderr
        error: there is no key for `mock`

        hint: set MOCK_KEY, or keep the key with `stepwell config set-key mock`
    "]]
    .assert_eq(&world.show(&output));
}

#[test]
fn no_model_chosen() {
    let world = World::new([]);
    world.set_config("");
    world.check(
        &["run", "x"],
        expect![[r"
            exit code: 2
            --- stderr
            error: no model is chosen

            hint: give one with `--model PROVIDER/MODEL`, or set `model` in the settings; `stepwell models` lists what is reachable
        "]],
    );
}

#[test]
fn a_model_without_a_provider() {
    let world = World::new([]);
    world.check(
        &["run", "--model", "gpt-5", "x"],
        expect![[r"
            exit code: 2
            --- stderr
            error: `gpt-5` names no model

            hint: a model is PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5 or ollama/qwen3
        "]],
    );
}

#[test]
fn an_unknown_mode() {
    let world = World::new([]);
    world.check(
        &["run", "--mode", "yoga", "x"],
        expect![[r"
            exit code: 2
            --- stderr
            error: unknown mode `yoga`; known: code, architect, ask, debug, orchestrator
        "]],
    );
}

#[test]
fn a_limit_that_cannot_be_kept() {
    let world = World::new([]);
    let text = world.show(&world.output(&["run", "--max-cost", "0.5", "x"]));
    assert!(text.starts_with("exit code: 2") && text.contains("--max-tokens"), "{text}");
}

#[test]
fn no_request() {
    let world = World::new([]);
    world.check(
        &["run"],
        expect![[r"
            exit code: 2
            --- stderr
            error: there is no request

            hint: give it as an argument, with --prompt-file, or on standard input
        "]],
    );
    assert!(crate::world::files_below(&world.data()).is_empty(), "a task was made for nothing");
}

#[test]
fn a_folder_that_is_not_there() {
    let world = World::new([]);
    let output = world.output(&["run", "--cwd", "/no/such/folder", "x"]);
    assert_eq!(output.status.code(), Some(2), "{}", world.show(&output));
}
