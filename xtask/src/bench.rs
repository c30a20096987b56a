//! `cargo xtask bench`: what the agent costs beside the model, in one table.
//!
//! The release binary and, where they are installed, other agents run the same scripted work against the same
//! server on loopback. `limit` is what the work costs without any agent: a bare `bash -c` and one exchange over
//! a kept connection, measured in the same run. Rivals are looked for below `$STEPWELL_PEERS` (npm packages in
//! `codex/`, `goose/`, `pi/`, and a Node in `node22/`); those that are not there are left out of the table.

mod agents;
mod checkpoint;
mod debug;
mod index;
mod sandbox;
mod search;
mod server;
mod tools;
mod web;
mod why;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use agents::Agent;
use server::{Exchange, Script, Server};

const RUNS: usize = 5;
/// No scenario takes longer than this, however slow the agent.
const DEADLINE: Duration = Duration::from_secs(300);
const STREAM_BYTES: usize = 5 << 20;

/// One run of one agent.
struct Measured {
    started: Instant,
    ended: Instant,
    exchanges: Vec<Exchange>,
    /// Kilobytes, at the time of the last request.
    peak_kb: u64,
}

pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    if let ["index", rest @ ..] = arguments {
        return index::run(rest);
    }
    if arguments == ["steps"] {
        return steps();
    }
    let binary = build()?;
    if arguments == ["sandbox"] {
        return sandbox::run(&binary);
    }
    if arguments == ["tools"] {
        return tools::run(&binary);
    }
    if arguments == ["web"] {
        return web::run(&binary);
    }
    if arguments == ["why"] {
        return why::run(&binary);
    }
    if arguments == ["debug"] {
        return debug::run(&binary);
    }
    let mut agents = vec![agents::ours(&binary), agents::ours_unconfined(&binary)];
    agents.extend(agents::peers());
    let wanted = |name: &str| arguments.is_empty() || arguments.contains(&name);
    let mut table = Table::new(&agents);
    if wanted("start") {
        table.row("--version, ms", &agents, |agent| plain(agent, "--version"))?;
        table.row("--help, ms", &agents, |agent| plain(agent, "--help"))?;
        table.row("start to first request, ms", &agents, |agent| {
            median_of(RUNS, || {
                let run = work(agent, &Script::turns(0))?;
                Ok(millis(run.exchanges.first().context("no request came")?.received - run.started))
            })
        })?;
    }
    if wanted("turns") {
        let mut runs = Vec::new();
        for agent in &agents {
            // A rival's thousand turns would take minutes; two hundred show its slope as well.
            let turns = if agent.is_ours { 1000 } else { 200 };
            runs.push(work(agent, &Script::turns(turns))?);
        }
        for place in [10, 100, 200, 1000] {
            table.add(&format!("turn {place}, ms"), runs.iter().map(|run| around(run, place)).collect());
        }
        table.add(
            "peak memory (RSS) over the turns, MB",
            runs.iter().map(|run| Some(run.peak_kb as f64 / 1024.0)).collect(),
        );
        let ours = &runs[0].exchanges;
        table.add_note(&format!(
            "bytes written per turn: {} (turns 1-10), {} (turns 101-110), {} (turns 990-999); bytes sent in turn 1000: {}",
            written(ours, 1, 10),
            written(ours, 101, 110),
            written(ours, 990, 999),
            ours.last().map_or(0, |exchange| exchange.body_bytes),
        ));
        table.add_note(&format!(
            "limit of a turn (bare `bash -c` and one exchange): {:.2} ms",
            limit_of_a_turn()?
        ));
    }
    if wanted("stream") {
        table.row("5 MB answer, MB/s", &agents, |agent| {
            median_of(3, || {
                let run = work(agent, &Script::stream(STREAM_BYTES))?;
                let sent = run.exchanges.last().context("no request came")?.received;
                Ok(5.0 / (run.ended - sent).as_secs_f64())
            })
        })?;
    }
    if wanted("output") {
        let mut times = Vec::new();
        let mut memory = Vec::new();
        for agent in &agents {
            let run = work(agent, &Script::command("seq 1 3000000"))?;
            times.push(around(&run, 1));
            memory.push(Some(run.peak_kb as f64 / 1024.0));
        }
        table.add("23 MB command output, ms", times);
        table.add("23 MB command output, peak MB", memory);
    }
    if wanted("search") {
        search::measure(&binary)?;
    }
    if wanted("checkpoint") {
        checkpoint::measure(&agents[0], &mut table)?;
    }
    table.print();
    Ok(())
}

/// What a step costs with each debugger, in the sandbox and outside: the table is printed by a test that has both.
fn steps() -> anyhow::Result<()> {
    let words = ["test", "--quiet", "--package", "stepwell", "--test", "confined", "cost_of_a_step"];
    let status = Command::new(env!("CARGO"))
        .args(words)
        .args(["--", "--ignored", "--nocapture"])
        .current_dir(crate::root())
        .status()?;
    if !status.success() {
        bail!("the steps could not be measured");
    }
    Ok(())
}

fn build() -> anyhow::Result<std::path::PathBuf> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--package", "stepwell"])
        .current_dir(crate::root())
        .status()?;
    if !status.success() {
        bail!("the release build failed");
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), Into::into);
    Ok(target.join("release/stepwell"))
}

/// Runs an agent on a script, in a fresh home and workspace.
fn work(agent: &Agent, script: &Script) -> anyhow::Result<Measured> {
    work_in(tempfile::tempdir()?.path(), agent, script)
}

/// Runs an agent on a script; its home is `folder`, its workspace `folder/work`.
fn work_in(folder: &Path, agent: &Agent, script: &Script) -> anyhow::Result<Measured> {
    let server = Server::start(script.clone(), agent.tool.clone())?;
    let mut command = agent.command(folder, server.port())?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {}", agent.name))?;
    server.watch(child.id());
    let mut stdout = child.stdout.take().context("no standard output")?;
    let drain = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    let deadline = started + DEADLINE;
    // Waited for in a thread of its own, so that an agent that never ends is ended.
    let pid = child.id();
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send((child.wait(), Instant::now())));
    let Ok((status, ended)) = ended.recv_timeout(deadline - Instant::now()) else {
        Command::new("kill").args(["-9", &pid.to_string()]).status()?;
        bail!("{} did not end within {} s", agent.name, DEADLINE.as_secs());
    };
    let status = status?;
    drain.join().ok();
    if !status.success() {
        bail!("{} failed: {status}", agent.name);
    }
    let (exchanges, peak_kb) = server.finish();
    Ok(Measured { started, ended, exchanges, peak_kb })
}

fn plain(agent: &Agent, flag: &str) -> anyhow::Result<Option<f64>> {
    let folder = tempfile::tempdir()?;
    median_of(RUNS * 3, || {
        let mut command = agent.plain(folder.path(), flag)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        command.status()?;
        Ok(millis(started.elapsed()))
    })
}

/// From the end of an answer to the next whole request, around a turn.
fn around(run: &Measured, turn: usize) -> Option<f64> {
    let gaps: Vec<f64> =
        run.exchanges.windows(2).map(|pair| millis(pair[1].received - pair[0].answered)).collect();
    if turn > gaps.len() {
        return None;
    }
    let from = turn.saturating_sub(6);
    median(gaps[from..(turn + 5).min(gaps.len())].to_vec())
}

/// Bytes handed to the kernel per turn between two turns; sent requests are not counted.
fn written(exchanges: &[Exchange], from: usize, to: usize) -> u64 {
    let (Some(a), Some(b)) = (exchanges.get(from), exchanges.get(to)) else { return 0 };
    let sent: u64 = exchanges[from + 1..=to].iter().map(|exchange| exchange.body_bytes).sum();
    (b.written_bytes - a.written_bytes).saturating_sub(sent) / (to - from) as u64
}

/// What a turn costs with no agent at all.
fn limit_of_a_turn() -> anyhow::Result<f64> {
    let exchange = server::bare_exchange(200)?;
    let mut times = Vec::new();
    for turn in 0..50 {
        let started = Instant::now();
        Command::new("bash")
            .args(["--norc", "--noprofile", "-c", &format!("echo step-{turn}-ok")])
            .output()?;
        times.push(millis(started.elapsed()));
    }
    Ok(exchange + median(times).unwrap_or_default())
}

fn median_of(runs: usize, mut measure: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<Option<f64>> {
    let mut values = Vec::new();
    for _ in 0..runs {
        values.push(measure()?);
    }
    Ok(median(values))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Rows of figures, one column per agent, and what ours is to each rival's.
struct Table {
    names: Vec<String>,
    rows: Vec<(String, Vec<Option<f64>>)>,
    notes: Vec<String>,
}

impl Table {
    fn new(agents: &[Agent]) -> Self {
        Self::named(agents.iter().map(|agent| agent.name.to_owned()).collect())
    }

    fn named(names: Vec<String>) -> Self {
        Self { names, rows: Vec::new(), notes: Vec::new() }
    }

    fn row(
        &mut self,
        label: &str,
        agents: &[Agent],
        measure: impl Fn(&Agent) -> anyhow::Result<Option<f64>>,
    ) -> anyhow::Result<()> {
        let values = agents.iter().map(measure).collect::<anyhow::Result<Vec<_>>>()?;
        self.add(label, values);
        Ok(())
    }

    fn add(&mut self, label: &str, values: Vec<Option<f64>>) {
        self.rows.push((label.to_owned(), values));
    }

    fn add_note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    fn print(&self) {
        print!("{:<38}", "");
        for name in &self.names {
            print!("{name:>14}");
        }
        for name in self.names.iter().skip(1) {
            print!("{:>14}", format!("/{name}"));
        }
        println!();
        for (label, values) in &self.rows {
            print!("{label:<38}");
            for value in values {
                print!("{:>14}", value.map_or("-".into(), |value| format!("{value:.1}")));
            }
            for value in values.iter().skip(1) {
                let ratio = match (values[0], value) {
                    (Some(ours), Some(theirs)) => format!("{:.3}", ours / theirs),
                    _ => "-".into(),
                };
                print!("{ratio:>14}");
            }
            println!();
        }
        for note in &self.notes {
            println!("{note}");
        }
    }
}
