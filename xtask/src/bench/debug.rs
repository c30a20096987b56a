//! `cargo xtask bench debug`: what the debugger's tools cost beside the debugger itself.
//!
//! The same Python program is driven to the same stops by `stepwell mcp`, by a bare client of debugpy (`raw`), by the
//! same client with debugpy's sockets acknowledging at once (`limit`), and by `@debugmcp/mcp-debugger` where it is
//! installed below `$STEPWELL_PEERS/mcp-debugger` (with a Node in `node22/`). All in turns, in one run.

mod peer;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::{Table, median, millis};
use peer::{Framing, Peer};

const ROUNDS: usize = 3;
const STEPS: usize = 20;
const PROGRAM: &str = include_str!("debug/loop.py");
/// Inside the loop.
const LINE: i64 = 6;
const CONDITION: &str = "number == 3";

/// One way to the same stops.
trait Driver {
    /// From nothing to the first stop.
    fn start(&mut self, program: &Path) -> anyhow::Result<()>;
    fn evaluate(&mut self) -> anyhow::Result<()>;
    /// One step, then the stack and the variables; the bytes that a model reads.
    fn step_and_see(&mut self) -> anyhow::Result<usize>;
    /// The process that serves, where there is one.
    fn server(&self) -> Option<u32>;
    fn tools_bytes(&self) -> Option<usize>;
}

struct Stepwell {
    peer: Peer,
    thread: Value,
    frame: Value,
    tools: usize,
}

impl Stepwell {
    fn new(binary: &Path, folder: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        command.arg("mcp").current_dir(folder);
        let mut peer = Peer::start(command, Framing::Lines)?;
        let tools = peer.initialize_mcp()?;
        Ok(Self { peer, thread: Value::Null, frame: Value::Null, tools })
    }

    fn keep(&mut self, answer: &Value) -> anyhow::Result<()> {
        let stop = &answer["stop_event_data"];
        if answer["status"] != "stopped" {
            bail!("not stopped: {answer}");
        }
        self.thread = stop["thread_id"].clone();
        self.frame = stop["call_stack"][0]["frame_id"].clone();
        Ok(())
    }
}

impl Driver for Stepwell {
    fn start(&mut self, program: &Path) -> anyhow::Result<()> {
        self.peer.call(
            "set_breakpoint",
            json!({"file_path": program, "line_number": LINE, "condition": CONDITION}),
        )?;
        let (answer, _) = self
            .peer
            .call("start_debugging", json!({"command": format!("python3 {}", program.display())}))?;
        self.keep(&answer)
    }

    fn evaluate(&mut self) -> anyhow::Result<()> {
        let arguments = json!({"expression": "total + number", "frame_id": self.frame});
        self.peer.call("evaluate_expression", arguments).map(|_| ())
    }

    fn step_and_see(&mut self) -> anyhow::Result<usize> {
        let arguments = json!({"thread_id": self.thread, "step_type": "over"});
        let (answer, bytes) = self.peer.call("step_execution", arguments)?;
        self.keep(&answer)?;
        Ok(bytes)
    }

    fn server(&self) -> Option<u32> {
        Some(self.peer.pid())
    }

    fn tools_bytes(&self) -> Option<usize> {
        Some(self.tools)
    }
}

struct Rival {
    peer: Peer,
    session: Value,
    frame: Value,
    tools: usize,
}

impl Rival {
    fn new(script: &Path, node: &Path, folder: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(node);
        command.arg(script).arg("stdio").current_dir(folder);
        let mut peer = Peer::start(command, Framing::Lines)?;
        let tools = peer.initialize_mcp()?;
        Ok(Self { peer, session: Value::Null, frame: Value::Null, tools })
    }
}

impl Driver for Rival {
    fn start(&mut self, program: &Path) -> anyhow::Result<()> {
        let create = json!({"language": "python", "name": "bench", "executablePath": "python3"});
        self.session = self.peer.call("create_debug_session", create)?.0["sessionId"].take();
        let place = json!({"sessionId": self.session, "file": program, "line": LINE, "condition": CONDITION});
        self.peer.call("set_breakpoint", place)?;
        let start = json!({"sessionId": self.session, "scriptPath": program});
        let (answer, _) = self.peer.call("start_debugging", start)?;
        if answer["state"] != "paused" {
            bail!("not paused: {answer}");
        }
        self.frame = self.peer.call("get_stack_trace", json!({"sessionId": self.session}))?.0["stackFrames"]
            [0]["id"]
            .take();
        Ok(())
    }

    fn evaluate(&mut self) -> anyhow::Result<()> {
        let arguments =
            json!({"sessionId": self.session, "expression": "total + number", "frameId": self.frame});
        self.peer.call("evaluate_expression", arguments).map(|_| ())
    }

    fn step_and_see(&mut self) -> anyhow::Result<usize> {
        let session = json!({"sessionId": self.session});
        let mut bytes = 0;
        for tool in ["step_over", "get_stack_trace", "get_local_variables"] {
            let (mut answer, size) = self.peer.call(tool, session.clone())?;
            bytes += size;
            if tool == "get_stack_trace" {
                self.frame = answer["stackFrames"][0]["id"].take();
            }
        }
        Ok(bytes)
    }

    fn server(&self) -> Option<u32> {
        Some(self.peer.pid())
    }

    fn tools_bytes(&self) -> Option<usize> {
        Some(self.tools)
    }
}

struct Raw {
    peer: Peer,
    thread: Value,
    frame: Value,
}

impl Raw {
    fn new(quick: bool, folder: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new("python3");
        if quick {
            command.arg(crate::root().join("crates/debug/src/adapters/quick_debugpy.py"));
        } else {
            command.args(["-m", "debugpy.adapter"]);
        }
        command.current_dir(folder);
        let mut peer = Peer::start(command, Framing::Headers)?;
        peer.request(
            "initialize",
            json!({"adapterID": "debugpy", "pathFormat": "path", "linesStartAt1": true}),
        )?;
        Ok(Self { peer, thread: Value::Null, frame: Value::Null })
    }

    fn see(&mut self) -> anyhow::Result<usize> {
        let mut stack = self.peer.request("stackTrace", json!({"threadId": self.thread, "levels": 20}))?;
        let mut bytes = stack.to_string().len();
        self.frame = stack["stackFrames"][0]["id"].take();
        let scopes = self.peer.request("scopes", json!({"frameId": self.frame}))?;
        let reference = &scopes["scopes"][0]["variablesReference"];
        bytes += scopes.to_string().len();
        bytes += self.peer.request("variables", json!({"variablesReference": reference}))?.to_string().len();
        Ok(bytes)
    }
}

impl Driver for Raw {
    fn start(&mut self, program: &Path) -> anyhow::Result<()> {
        let folder = program.parent().context("no folder")?;
        let launch =
            json!({"program": program, "console": "internalConsole", "cwd": folder, "python": ["python3"]});
        self.peer.send("launch", launch)?;
        self.peer.event("initialized")?;
        let place = json!({"line": LINE, "condition": CONDITION});
        self.peer.request("setBreakpoints", json!({"source": {"path": program}, "breakpoints": [place]}))?;
        self.peer.request("configurationDone", json!({}))?;
        self.thread = self.peer.event("stopped")?["threadId"].take();
        // What the tools answer with their stop.
        self.see().map(|_| ())
    }

    fn evaluate(&mut self) -> anyhow::Result<()> {
        let arguments = json!({"expression": "total + number", "frameId": self.frame, "context": "watch"});
        self.peer.request("evaluate", arguments).map(|_| ())
    }

    fn step_and_see(&mut self) -> anyhow::Result<usize> {
        self.peer.request("next", json!({"threadId": self.thread}))?;
        self.peer.event("stopped")?;
        self.see()
    }

    fn server(&self) -> Option<u32> {
        None
    }

    fn tools_bytes(&self) -> Option<usize> {
        None
    }
}

/// What one way came to, over all rounds.
#[derive(Default)]
struct Figures {
    start: Vec<f64>,
    evaluate: Vec<f64>,
    see: Vec<f64>,
    bytes: Vec<f64>,
    memory: Vec<f64>,
    tools: Option<f64>,
}

pub fn run(binary: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().canonicalize()?.join("loop.py");
    std::fs::write(&program, PROGRAM)?;
    let folder = program.parent().context("no folder")?;
    let mut ways = vec!["stepwell", "limit", "raw"];
    let rival = rival();
    ways.extend(rival.as_ref().map(|_| "mcp-debugger"));
    let mut figures: Vec<Figures> = ways.iter().map(|_| Figures::default()).collect();
    for _ in 0..ROUNDS {
        for (way, figures) in ways.iter().zip(&mut figures) {
            let started = Instant::now();
            let mut driver: Box<dyn Driver> = match (*way, &rival) {
                ("stepwell", _) => Box::new(Stepwell::new(binary, folder)?),
                ("mcp-debugger", Some((script, node))) => Box::new(Rival::new(script, node, folder)?),
                (way, _) => Box::new(Raw::new(way == "limit", folder)?),
            };
            driver.start(&program).with_context(|| (*way).to_owned())?;
            figures.start.push(millis(started.elapsed()));
            for _ in 0..STEPS {
                let started = Instant::now();
                driver.evaluate()?;
                figures.evaluate.push(millis(started.elapsed()));
                let started = Instant::now();
                figures.bytes.push(driver.step_and_see()? as f64);
                figures.see.push(millis(started.elapsed()));
            }
            figures.memory.extend(driver.server().and_then(resident_mb));
            figures.tools = driver.tools_bytes().map(|bytes| bytes as f64);
        }
    }
    let mut table = Table::named(ways.iter().map(|way| (*way).to_owned()).collect());
    let mut add = |label: &str, of: &dyn Fn(&Figures) -> Option<f64>| {
        table.add(label, figures.iter().map(of).collect());
    };
    add("process to first stop, ms", &|figures| median(figures.start.clone()));
    add("step and see, ms", &|figures| median(figures.see.clone()));
    add("evaluate, ms", &|figures| median(figures.evaluate.clone()));
    add("bytes of a step's answer", &|figures| median(figures.bytes.clone()));
    add("bytes of tools/list", &|figures| figures.tools);
    add("server memory (resident), MB", &|figures| median(figures.memory.clone()));
    table.print();
    Ok(())
}

fn rival() -> Option<(PathBuf, PathBuf)> {
    let folder = std::env::var_os("STEPWELL_PEERS").map(PathBuf::from)?;
    let script = folder.join("mcp-debugger/node_modules/@debugmcp/mcp-debugger/dist/cli.mjs");
    let node = folder.join("node22/node_modules/node/bin/node");
    (script.is_file() && node.is_file()).then_some((script, node))
}

fn resident_mb(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1024.0)
}
