//! What is Node's own: modules, threads, what was put off, getters, and its many kinds of values.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use stepwell_debug::adapters::{self, AdapterKind, Search, StartMode};
use stepwell_debug::breakpoints::NewBreakpoint;
use stepwell_debug::dap::types::Variable;
use stepwell_debug::session::{Connection, Paging, Session, SessionStart, Step, Stop};
use stepwell_debug::{Debugger, DebuggerOptions, Outcome, StopReason, Wait};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::lab::{printed, skipped};

const PATIENCE: Duration = Duration::from_secs(60);

/// A folder of scripts under Node.
struct Scripts {
    debugger: Debugger,
    folder: PathBuf,
    seen: AtomicU64,
    _held: tempfile::TempDir,
}

impl Scripts {
    fn write(files: &[(&str, &str)]) -> Option<Self> {
        let held = tempfile::tempdir().unwrap();
        let folder = held.path().canonicalize().unwrap();
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let search = Search { workspace: folder.clone(), ..Search::default() };
        if let Err(error) = adapters::choose(&[AdapterKind::Node], &search, &serde_json::Map::new()) {
            skipped(&format!("{error}"));
            return None;
        }
        let debugger = Debugger::new(DebuggerOptions { search, ..DebuggerOptions::default() });
        Some(Self { debugger, folder, seen: AtomicU64::new(0), _held: held })
    }

    async fn stop_at(&self, file: &str, line: i64) {
        self.set(NewBreakpoint { line, ..self.place(file) }).await;
    }

    fn place(&self, file: &str) -> NewBreakpoint {
        NewBreakpoint { path: self.folder.join(file), ..NewBreakpoint::default() }
    }

    async fn set(&self, breakpoint: NewBreakpoint) {
        self.debugger.set_breakpoint(breakpoint).await.unwrap();
    }

    fn start(&self, program: &str) -> Arc<Session> {
        self.start_with(json!({ "program": self.folder.join(program) }), None)
    }

    fn start_with(&self, arguments: Value, exception_filters: Option<Vec<String>>) -> Arc<Session> {
        let Value::Object(mut arguments) = arguments else { panic!("no object") };
        let search = &self.debugger.options().search;
        let (adapter, located) = adapters::choose(&[AdapterKind::Node], search, &arguments).unwrap();
        adapter.complete(StartMode::Launch, &mut arguments, search);
        let opening = SessionStart {
            name: "scripts".to_owned(),
            adapter,
            way: Connection::Start(located),
            how: StartMode::Launch,
            arguments,
            no_debug: false,
            probes: std::collections::BTreeMap::new(),
            functions: Vec::new(),
            exception_filters,
            breakpoints: true,
            stdin: stepwell_debug::session::ProgramStdin::Nothing,
            secrets: stepwell_debug::launch_config::Secrets::default(),
            isolation: None,
            time: PATIENCE,
        };
        self.debugger.start(opening).unwrap()
    }

    async fn outcome(&self, session: &Session) -> Outcome {
        let wait = Wait { deadline: Instant::now() + PATIENCE, cancel: CancellationToken::new() };
        let outcome = self.debugger.wait(session, self.seen.load(Ordering::Relaxed), &wait).await;
        if let Outcome::Stopped(_, stop) = &outcome {
            self.seen.store(stop.serial, Ordering::Relaxed);
        }
        outcome
    }

    async fn stop(&self, session: &Session) -> Stop {
        match self.outcome(session).await {
            Outcome::Stopped(_, stop) => stop,
            other => panic!("{other:?} {}", printed(session)),
        }
    }

    /// Reason, file and line of the next stop.
    async fn place_of(&self, session: &Session) -> String {
        let stop = self.stop(session).await;
        let stack = session.stack(stop.thread.unwrap(), 0, 1).await.unwrap();
        let top = &stack.stack_frames[0];
        let source = top.source.as_ref().and_then(|source| source.name.clone()).unwrap_or_default();
        format!("{} {source}:{}", stop.reason, top.line)
    }

    async fn value(&self, session: &Session, expression: &str) -> String {
        let frame = session.top_frame().await.unwrap().id;
        let value = session.evaluate(expression, Some(frame), "watch").await;
        value.map_or_else(|error| error.to_string(), |value| value.value)
    }

    async fn rows(&self, session: &Session, expression: &str, paging: Paging) -> Vec<Variable> {
        let frame = session.top_frame().await.unwrap().id;
        let value = session.evaluate(expression, Some(frame), "watch").await.unwrap();
        session.variables(value.adapter_ref, None, paging).await.unwrap()
    }
}

fn shown(rows: &[Variable]) -> String {
    rows.iter().map(|row| format!("{}={}", row.name, row.value)).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn modules_and_scripts_stop_at_their_lines() {
    let module =
        "import { twice } from './lib/a%20b%20%231.mjs';\nconst one = 1;\nconsole.log(twice(one));\n";
    let files = [
        ("main.mjs", module),
        ("lib/a b #1.mjs", "// doubles\n\nexport function twice(x) {\n  return 2 * x;\n}\n"),
        ("first.cjs", "const first = 1;\nconsole.log(first);\n"),
    ];
    let Some(scripts) = Scripts::write(&files) else { return };
    // The first line of all, a name that must be escaped, a line that has no code.
    scripts.stop_at("main.mjs", 2).await;
    scripts.stop_at("lib/a b #1.mjs", 4).await;
    scripts.stop_at("first.cjs", 1).await;
    let session = scripts.start("main.mjs");
    assert_eq!(scripts.place_of(&session).await, "breakpoint main.mjs:2");
    session.resume(None).await.unwrap();
    assert_eq!(scripts.place_of(&session).await, "breakpoint a b #1.mjs:4");
    assert_eq!(scripts.value(&session, "x").await, "1");
    session.resume(None).await.unwrap();
    assert!(matches!(scripts.outcome(&session).await, Outcome::Completed(_)), "{}", printed(&session));
    assert_eq!(printed(&session), "2\n", "nothing of the inspector is among it");

    let session = scripts.start("first.cjs");
    assert_eq!(scripts.place_of(&session).await, "breakpoint first.cjs:1");
    scripts.debugger.end(&session).await;

    // A link to the folder names the same files.
    let link = scripts.folder.join("elsewhere");
    std::os::unix::fs::symlink(scripts.folder.join("lib"), &link).unwrap();
    scripts.debugger.clear_breakpoints().await;
    scripts.set(NewBreakpoint { path: link.join("a b #1.mjs"), line: 4, ..NewBreakpoint::default() }).await;
    let session = scripts.start("main.mjs");
    assert_eq!(scripts.place_of(&session).await, "breakpoint a b #1.mjs:4");
    scripts.debugger.end(&session).await;
}

#[tokio::test]
async fn a_breakpoint_is_verified_where_v8_put_it() {
    let files = [
        ("main.cjs", "debugger;\nrequire('./late.cjs')();\n"),
        ("late.cjs", "module.exports = () => {\n  // no code\n\n  return 1;\n};\n"),
    ];
    let Some(scripts) = Scripts::write(&files) else { return };
    let session = scripts.start("main.cjs");
    assert_eq!(scripts.place_of(&session).await, "breakpoint main.cjs:1");
    let (late, binding) = scripts
        .debugger
        .set_breakpoint(NewBreakpoint { line: 2, ..scripts.place("late.cjs") })
        .await
        .unwrap();
    let binding = binding.unwrap();
    assert!(!binding.verified && binding.message.unwrap().contains("loaded"), "it is not there yet");
    session.resume(None).await.unwrap();
    assert_eq!(scripts.place_of(&session).await, "breakpoint late.cjs:4");
    let binding = scripts.debugger.binding_of(late.id).unwrap();
    assert_eq!((binding.verified, binding.line), (true, 4));
    // What is no JavaScript is said, not passed over.
    let (wrong, binding) = scripts
        .debugger
        .set_breakpoint(NewBreakpoint {
            line: 4,
            condition: Some("1 +".to_owned()),
            ..scripts.place("late.cjs")
        })
        .await
        .unwrap();
    let binding = binding.unwrap();
    assert!(
        !binding.verified && binding.message.as_ref().unwrap().contains("SyntaxError"),
        "{wrong:?} {binding:?}"
    );
    scripts.debugger.end(&session).await;
}

#[tokio::test]
async fn a_condition_that_fails_stops_and_says_so() {
    let text = "let user;\nfor (let i = 0; i < 3; i++) {\n  if (i == 1) user = { name: 'Ada' };\n  console.log(i);\n}\n";
    let Some(scripts) = Scripts::write(&[("a.cjs", text)]) else { return };
    let condition = Some("user.name === 'Ada' && i == 2".to_owned());
    scripts.set(NewBreakpoint { line: 4, condition, ..scripts.place("a.cjs") }).await;
    let session = scripts.start("a.cjs");
    for (i, said) in [("0", true), ("2", false)] {
        assert_eq!(scripts.place_of(&session).await, "breakpoint a.cjs:4");
        assert_eq!(scripts.value(&session, "i").await, i);
        let complains = |text: &str| text.contains("condition `user.name") && text.contains("TypeError");
        let deadline = Instant::now() + PATIENCE;
        while said && !complains(&printed(&session)) && Instant::now() < deadline {
            tokio::task::yield_now().await;
        }
        assert!(complains(&printed(&session)), "{}", printed(&session));
        session.resume(None).await.unwrap();
    }
    assert!(matches!(scripts.outcome(&session).await, Outcome::Completed(_)));
}

#[tokio::test]
async fn a_program_stops_on_entry_in_its_own_code() {
    let files = [
        ("a.cjs", "// first\nconst one = 1;\n"),
        ("b.mjs", "import 'node:fs';\n\nconst one = 1;\nconsole.log(one);\n"),
    ];
    let Some(scripts) = Scripts::write(&files) else { return };
    for (file, place) in [("a.cjs", "entry a.cjs:2"), ("b.mjs", "entry b.mjs:1")] {
        let session =
            scripts.start_with(json!({ "program": scripts.folder.join(file), "stopOnEntry": true }), None);
        let stopped = scripts.place_of(&session).await;
        assert_eq!(stopped, place);
        session.step(None, Step::Over).await.unwrap();
        scripts.outcome(&session).await;
        scripts.debugger.end(&session).await;
    }
}

#[tokio::test]
async fn values_of_every_kind_are_looked_into() {
    let text = "
class Account {
  #secret = 7;
  constructor() { this.owner = 'Ada'; }
  get balance() { globalThis.ran = (globalThis.ran ?? 0) + 1; return 10; }
}
const account = new Account();
const map = new Map(Array.from({ length: 1200 }, (_, n) => ['k' + n, { n }]));
const set = new Set([1, 'two']);
const bytes = new Uint8Array(2000).fill(3);
const big = Array.from({ length: 100000 }, (_, n) => n * n);
const holes = [1, , 3];
const odd = { 'a b': 1, [Symbol('s')]: 2, nan: NaN, minus: -0, big: 10n, undef: undefined, nil: null, f(x) { return x; } };
const text = 'x'.repeat(5);
const half = '\\ud83d!';
console.log(account, map, set, bytes, big, holes, odd, text, half);
";
    let Some(scripts) = Scripts::write(&[("a.cjs", text)]) else { return };
    scripts.stop_at("a.cjs", 16).await;
    let session = scripts.start("a.cjs");
    scripts.stop(&session).await;
    let whole = Paging::default();
    let page = |start, count| Paging { start: Some(start), count: Some(count), total: None, indexed: true };
    let account = scripts.rows(&session, "account", whole).await;
    assert_eq!(shown(&account), "owner='Ada' #secret=7 balance=(...)");
    assert_eq!(scripts.value(&session, "globalThis.ran").await, "undefined", "looking runs nothing");
    let balance = session.variables(account[2].variables_reference, None, whole).await.unwrap();
    assert_eq!(shown(&balance), "=10", "asked for, it is run");
    assert_eq!(
        shown(&scripts.rows(&session, "map", page(1198, 10)).await),
        "'k1198'={n: 1198} 'k1199'={n: 1199}"
    );
    assert_eq!(shown(&scripts.rows(&session, "set", whole).await), "0=1 1='two'");
    assert_eq!(shown(&scripts.rows(&session, "bytes", page(1999, 5)).await), "1999=3");
    assert_eq!(
        shown(&scripts.rows(&session, "big", page(99_998, 9)).await),
        "99998=9999600004 99999=9999800001"
    );
    assert_eq!(shown(&scripts.rows(&session, "holes", whole).await), "0=1 2=3 length=3");
    assert_eq!(
        shown(&scripts.rows(&session, "odd", whole).await),
        "a b=1 nan=NaN minus=-0 big=10n undef=undefined nil=null f=ƒ f(x) Symbol(s)=2"
    );
    assert_eq!(scripts.value(&session, "text + half").await, "'xxxxx\u{fffd}!'");
    assert_eq!(scripts.value(&session, "{ a: 1 }").await, "{a: 1}");
    assert!(scripts.value(&session, "nothing.here").await.contains("ReferenceError: nothing is not defined"));

    // Parts are changed, and what cannot be is said.
    let frame = session.top_frame().await.unwrap().id;
    session.set_local(frame, "account.owner", "'Grace'").await.unwrap();
    assert_eq!(scripts.value(&session, "account.owner").await, "'Grace'");
    let big = session.evaluate("big", Some(frame), "watch").await.unwrap().adapter_ref;
    session.set_variable(big, None, "3", "-1").await.unwrap();
    assert_eq!(scripts.value(&session, "big[3]").await, "-1");
    let entries = session.evaluate("map", Some(frame), "watch").await.unwrap().adapter_ref;
    let refused = session.set_variable(entries, None, "'k1'", "1").await.unwrap_err().to_string();
    assert!(refused.contains("map.set"), "{refused}");
    // Hovering changes nothing.
    let hovered = session.evaluate("big.push(1)", Some(frame), "hover").await.unwrap_err().to_string();
    assert!(hovered.contains("may change the program"), "{hovered}");
    scripts.debugger.end(&session).await;
}

#[tokio::test]
async fn a_value_that_is_too_long_costs_its_question_alone() {
    let text = "const long = 'x'.repeat(60_000_000);\nconst short = 1;\nconsole.log(short, long.length);\n";
    let Some(scripts) = Scripts::write(&[("a.cjs", text)]) else { return };
    scripts.stop_at("a.cjs", 3).await;
    let session = scripts.start("a.cjs");
    scripts.stop(&session).await;
    let refused = scripts.value(&session, "long").await;
    assert!(refused.contains("too much"), "{refused}");
    assert_eq!(scripts.value(&session, "short").await, "1");
    scripts.debugger.end(&session).await;
}

#[tokio::test]
async fn a_deep_stack_is_told_in_parts() {
    let text = "class Deep {\n  constructor() { this.at = 7; }\n  go(n) {\n    if (n === 0) debugger;\n    else this.go(n - 1);\n    return n;\n  }\n}\nnew Deep().go(4000);\n";
    let Some(scripts) = Scripts::write(&[("a.cjs", text)]) else { return };
    let session = scripts.start("a.cjs");
    let stop = scripts.stop(&session).await;
    let part = session.stack(stop.thread.unwrap(), 3999, 3).await.unwrap();
    let names: Vec<(&str, i64)> =
        part.stack_frames.iter().map(|frame| (frame.name.as_str(), frame.line)).collect();
    assert_eq!(names, [("go", 5), ("go", 5), ("<anonymous>", 9)]);
    assert!(part.total_frames.unwrap() > 4001);
    let value = session.evaluate("n", Some(part.stack_frames[1].id), "watch").await.unwrap().value;
    assert_eq!(value, "4000");
    let frame = session.top_frame().await.unwrap().id;
    let (_, rows) = session.locals(frame, 100).await.unwrap().unwrap();
    assert_eq!(shown(&rows), "this=Deep {at: 7} n=0");
    // What a call is about to return is told.
    session.step(None, Step::Over).await.unwrap();
    scripts.stop(&session).await;
    session.step(None, Step::Over).await.unwrap();
    scripts.stop(&session).await;
    let frame = session.top_frame().await.unwrap().id;
    let (_, rows) = session.locals(frame, 100).await.unwrap().unwrap();
    assert_eq!(shown(&rows), "Return value=0 this=Deep {at: 7} n=0");
    scripts.debugger.end(&session).await;
}

#[tokio::test]
async fn who_waited_is_told_behind_what_was_put_off() {
    let text = "async function outer() {\n  await inner();\n}\nasync function inner() {\n  await null;\n  const deep = 1;\n  console.log(deep);\n}\nouter();\n";
    let Some(scripts) = Scripts::write(&[("a.cjs", text)]) else { return };
    scripts.stop_at("a.cjs", 7).await;
    let session = scripts.start("a.cjs");
    let stop = scripts.stop(&session).await;
    let stack = session.stack(stop.thread.unwrap(), 0, 50).await.unwrap();
    let names: Vec<&str> = stack.stack_frames.iter().map(|frame| frame.name.as_str()).collect();
    let label = names.iter().position(|name| name.starts_with("---")).unwrap_or_else(|| panic!("{names:?}"));
    assert_eq!(stack.stack_frames[label].presentation_hint.as_deref(), Some("label"));
    let outer = &stack.stack_frames[label + 1..];
    assert!(outer.iter().any(|frame| frame.name == "outer" && frame.line == 2), "{names:?}");
    assert!(session.scopes(outer[0].id).await.unwrap().is_empty(), "they are over");
    scripts.debugger.end(&session).await;
}

#[tokio::test]
async fn threads_stop_one_after_the_other() {
    let main = "const { Worker } = require('node:worker_threads');\nfor (const n of [1, 2, 3]) new Worker('./w.cjs', { workerData: n });\n";
    let worker = "const { workerData } = require('node:worker_threads');\nconst twice = workerData * 2;\nconsole.log('worker', twice);\n";
    let Some(scripts) = Scripts::write(&[("main.cjs", main), ("w.cjs", worker)]) else { return };
    scripts.stop_at("w.cjs", 3).await;
    let session = scripts.start("main.cjs");
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..3 {
        assert_eq!(scripts.place_of(&session).await, "breakpoint w.cjs:3");
        let thread = session.stopped().unwrap().thread.unwrap();
        let names = session.threads().await.unwrap();
        assert!(names.iter().any(|one| one.id == thread && one.name.contains("worker")), "{names:?}");
        seen.insert(thread, scripts.value(&session, "twice").await);
        session.resume(None).await.unwrap();
    }
    let outcome = scripts.outcome(&session).await;
    assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    let mut values: Vec<&str> = seen.values().map(String::as_str).collect();
    values.sort_unstable();
    assert_eq!(values, ["2", "4", "6"], "{seen:?}");
    assert_eq!(printed(&session).matches("worker").count(), 3);
}

#[tokio::test]
async fn exceptions_are_told_with_type_and_message() {
    let files = [
        (
            "handled.cjs",
            "class Mine extends Error {}\ntry {\n  throw new Mine('gone');\n} catch {}\nthrow 'plain';\n",
        ),
        (
            "assert.cjs",
            "const assert = require('node:assert');\ntry {\n  assert.strictEqual(1, 2);\n} catch {}\n",
        ),
        ("inside.cjs", "require('node:fs').readFileSync('/no/such/file');\n"),
        (
            "module.mjs",
            "const one = 1;\nawait null;\nfunction f() {\n  throw new RangeError('far');\n}\nf();\n",
        ),
    ];
    let Some(scripts) = Scripts::write(&files) else { return };
    let all = || Some(vec!["all".to_owned(), "uncaught".to_owned()]);
    let rows = [
        ("handled.cjs", all(), vec![("Mine", "gone", "always", 3), ("string", "plain", "unhandled", 5)], 1),
        ("handled.cjs", None, vec![("string", "plain", "unhandled", 5)], 1),
        ("assert.cjs", all(), vec![("AssertionError", "Expected values", "always", 3)], 0),
        ("assert.cjs", None, vec![], 0),
        ("inside.cjs", None, vec![("Error", "ENOENT", "unhandled", 1)], 1),
        // Node waits for its modules and handles what they throw, so it counts as handled.
        ("module.mjs", all(), vec![("RangeError", "far", "always", 4)], 1),
    ];
    for (file, filters, expected, code) in rows {
        let session = scripts.start_with(json!({ "program": scripts.folder.join(file) }), filters);
        for (kind, message, mode, line) in expected {
            let stop = scripts.stop(&session).await;
            assert_eq!(stop.reason, StopReason::Exception, "{file}");
            let thread = stop.thread.unwrap();
            let info = session.exception_info(thread).await.unwrap();
            let details = info.details.unwrap();
            assert_eq!(
                (details.type_name.as_deref(), info.break_mode.as_deref()),
                (Some(kind), Some(mode)),
                "{file}"
            );
            assert!(details.message.as_ref().unwrap().contains(message), "{file} {details:?}");
            let stack = session.stack(thread, 0, 20).await.unwrap().stack_frames;
            let own = stack
                .iter()
                .find(|frame| frame.source.as_ref().is_some_and(|source| source.path.is_some()))
                .unwrap();
            assert_eq!(own.line, line, "{file}");
            session.resume(None).await.unwrap();
        }
        let outcome = scripts.outcome(&session).await;
        let Outcome::Completed(ending) = outcome else { panic!("{file} {outcome:?}") };
        assert_eq!(ending.exit_code, Some(code), "{file} {}", printed(&session));
    }
}

/// Where Node runs TypeScript itself its lines are those of the source; elsewhere js-debug is asked for.
#[tokio::test]
async fn typescript_that_node_runs_is_debugged() {
    let text = "interface Shop {\n  name: string;\n}\nfunction open(shop: Shop): string {\n  const said: string = shop.name;\n  return said;\n}\nopen({ name: 'tea' } as Shop);\n";
    let Some(scripts) = Scripts::write(&[("a.mts", text)]) else { return };
    let arguments = json!({ "program": scripts.folder.join("a.mts") });
    let chosen = adapters::choose(
        &[AdapterKind::Node],
        &scripts.debugger.options().search,
        arguments.as_object().unwrap(),
    );
    if let Err(error) = chosen {
        assert!(error.to_string().contains("does not run TypeScript by itself"), "{error}");
        assert!(error.hint().unwrap().contains("install js-debug"));
        return;
    }
    scripts.stop_at("a.mts", 6).await;
    let session = scripts.start("a.mts");
    assert_eq!(scripts.place_of(&session).await, "breakpoint a.mts:6");
    assert_eq!(scripts.value(&session, "said").await, "'tea'");
    scripts.debugger.end(&session).await;
}

#[tokio::test]
async fn what_is_forked_does_not_wait_for_a_debugger() {
    let main = "const { fork } = require('node:child_process');\nfork('./child.cjs').on('exit', (code) => console.log('child', code, process.execArgv.length));\n";
    let Some(scripts) = Scripts::write(&[("main.cjs", main), ("child.cjs", "process.exit(4);\n")]) else {
        return;
    };
    let session = scripts.start("main.cjs");
    let outcome = scripts.outcome(&session).await;
    assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    assert_eq!(printed(&session), "child 4 0\n");
}

#[tokio::test]
async fn an_expression_that_does_not_end_keeps_nobody_from_leaving() {
    let Some(scripts) = Scripts::write(&[("a.cjs", "const one = 1;\nconsole.log(one);\n")]) else { return };
    scripts.stop_at("a.cjs", 2).await;
    let session = scripts.start("a.cjs");
    scripts.stop(&session).await;
    let frame = session.top_frame().await.unwrap().id;
    let asking = Arc::clone(&session);
    let endless =
        tokio::spawn(async move { asking.evaluate("(() => { for (;;); })()", Some(frame), "repl").await });
    scripts.debugger.end(&session).await;
    assert!(endless.await.unwrap().is_err());
}

#[tokio::test]
async fn steps_stay_out_of_nodes_own_code() {
    let text = "const assert = require('node:assert');\nfunction own() {\n  return 1;\n}\nassert.ok([own()].map((one) => one).length);\nsetTimeout(() => {\n  console.log('later');\n}, 1);\n";
    let Some(scripts) = Scripts::write(&[("a.cjs", text)]) else { return };
    scripts.stop_at("a.cjs", 5).await;
    let session = scripts.start("a.cjs");
    scripts.stop(&session).await;
    for step in 0..12 {
        session.step(None, Step::Into).await.unwrap();
        match scripts.outcome(&session).await {
            Outcome::Stopped(..) => {
                let top = session.top_frame().await.unwrap();
                let path = top.source.unwrap().path;
                assert!(path.is_some_and(|path| path.ends_with("a.cjs")), "step {step}");
            }
            Outcome::Completed(_) => return,
            other => panic!("{other:?}"),
        }
    }
    scripts.debugger.end(&session).await;
}
