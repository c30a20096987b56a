//! Leads a session with a scripted adapter through its life, and writes down what came of each step.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use expect_test::Expect;
use serde_json::{Map, json};
use stepwell_debug::adapters::{AdapterKind, Search, StartMode};
use stepwell_debug::dap::Link;
use stepwell_debug::ids::AdapterReference;
use stepwell_debug::session::{Connection, LinkFactory, Paging, Phase, Session, SessionStart, Step};
use stepwell_debug::stop_report::Detail;
use stepwell_debug::{Debugger, DebuggerOptions, Error, Outcome, Result, Wait};
use stepwell_test_support::{AdapterScript, FakeAdapter};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long the driver waits for a stop, as a tool would.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Driver {
    pub debugger: Debugger,
    folder: tempfile::TempDir,
}

impl Driver {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let search = Search { workspace: folder.path().to_path_buf(), ..Search::default() };
        let debugger = Debugger::new(DebuggerOptions { search, ..DebuggerOptions::default() });
        Self { debugger, folder }
    }

    /// A source file to set breakpoints in.
    pub fn source(&self) -> std::path::PathBuf {
        let path = self.folder.path().join("program.py");
        std::fs::write(&path, "a = 1\nb = 2\nc = 3\nd = 4\n").unwrap();
        path
    }

    pub fn start(&self, adapter: &FakeAdapter) -> Arc<Session> {
        self.start_as(AdapterKind::Debugpy, adapter)
    }

    pub fn start_as(&self, kind: AdapterKind, adapter: &FakeAdapter) -> Arc<Session> {
        self.debugger.start(opening(kind, adapter)).unwrap()
    }

    pub async fn wait(&self, session: &Session, after: u64) -> Outcome {
        let wait = Wait { deadline: Instant::now() + PATIENCE, cancel: CancellationToken::new() };
        self.debugger.wait(session, after, &wait).await
    }

    /// Waits for the session's own end, for which every wait on the way has a deadline.
    pub async fn over(&self, session: &Session) {
        tokio::time::timeout(Duration::from_secs(600), session.over()).await.expect("the session never ends");
    }
}

pub fn opening(kind: AdapterKind, adapter: &FakeAdapter) -> SessionStart {
    let adapter = adapter.clone();
    let maker = LinkFactory::new(move || {
        let (reader, writer) = tokio::io::split(adapter.connect());
        Link::new(reader, writer)
    });
    SessionStart {
        name: "program".to_owned(),
        adapter: kind.adapter(),
        way: Connection::Made(maker),
        how: StartMode::Launch,
        arguments: Map::from_iter([("program".to_owned(), json!("program.py"))]),
        no_debug: false,
        probes: BTreeMap::new(),
        functions: Vec::new(),
        exception_filters: None,
        breakpoints: true,
        stdin: stepwell_debug::session::ProgramStdin::Nothing,
        secrets: stepwell_debug::launch_config::Secrets::default(),
        isolation: None,
        time: PATIENCE,
    }
}

/// What a session came to, in words. Times are the runtime's, so they are the same in every run.
pub async fn life(driver: &Driver, session: &Arc<Session>) -> String {
    let mut script = Transcript::default();
    let stopped = script.step("start", outcome_of(driver, session, 0)).await;
    if stopped {
        script.step("report", told(report(session))).await;
        script.step("evaluate", told(evaluate(session))).await;
        script.step("variables", told(variables(session))).await;
        let after = driver.debugger.serial();
        script.step("step", told(moved(session.step(None, Step::Over)))).await;
        let stopped = script.step("stepped", outcome_of(driver, session, after)).await;
        if stopped {
            let after = driver.debugger.serial();
            script.step("continue", told(moved(session.resume(None)))).await;
            script.step("continued", outcome_of(driver, session, after)).await;
        }
    }
    let ended = script.step("end", async {
        driver.debugger.end(session).await;
        driver.over(session).await;
        (false, session.phase().to_string())
    });
    ended.await;
    script.text
}

#[derive(Default)]
struct Transcript {
    text: String,
}

impl Transcript {
    /// Writes down what a step came to, and how long it took where it had to wait.
    async fn step(&mut self, name: &str, step: impl Future<Output = (bool, String)>) -> bool {
        let began = Instant::now();
        let (goes_on, said) = step.await;
        let took = began.elapsed().as_secs();
        let took = if took == 0 { String::new() } else { format!(" ({took} s)") };
        self.text += &format!("{name}{took}: {said}\n");
        goes_on
    }
}

async fn outcome_of(driver: &Driver, session: &Session, after: u64) -> (bool, String) {
    match driver.wait(session, after).await {
        Outcome::Stopped(_, stop) => (true, format!("stopped, {}", stop.reason)),
        Outcome::Completed(ending) => (false, format!("completed, {:?}", ending.exit_code)),
        Outcome::Failed(ending) => {
            let hint = ending.hint.map(|hint| format!(" [{hint}]")).unwrap_or_default();
            (false, format!("failed, {}{hint}", ending.failure.unwrap_or_default()))
        }
        Outcome::TimedOut => (false, format!("timed out, {}", session.phase())),
        Outcome::Interrupted => (false, "interrupted".to_owned()),
    }
}

async fn told(step: impl Future<Output = Result<String>>) -> (bool, String) {
    match step.await {
        Ok(said) => (true, said),
        Err(error) => (false, format!("error, {error}")),
    }
}

async fn report(session: &Session) -> Result<String> {
    let report = session.report(&session.stopped()?, Detail::COMPACT).await?;
    let variables = report.top_frame_variables.map(|found| found.variables).unwrap_or_default();
    let shown: Vec<String> = variables
        .iter()
        .map(|row| format!("{}={}", row.name, row.value.chars().take(40).collect::<String>()))
        .collect();
    let at = report.call_stack.first().map(|frame| frame.function_name.clone()).unwrap_or_default();
    Ok(format!("{at}:{:?} {}", report.line, shown.join(" ")))
}

async fn evaluate(session: &Session) -> Result<String> {
    let frame = session.top_frame().await?;
    Ok(session.evaluate("x", Some(frame.id), "watch").await?.value.chars().take(60).collect())
}

async fn variables(session: &Session) -> Result<String> {
    let rows = session.variables(AdapterReference(7), None, Paging::default()).await?;
    Ok(format!("{} of them", rows.len()))
}

async fn moved(request: impl Future<Output = Result<()>>) -> Result<String> {
    request.await.map(|()| "ok".to_owned())
}

/// The life of a session with a fault, beside one without and before another: these must go as always.
pub fn check(script: AdapterScript, expected: Expect) {
    check_as(AdapterKind::Debugpy, script, expected);
}

/// What does no harm at all.
pub fn check_well(script: AdapterScript) {
    let lived = run(async {
        let driver = Driver::new();
        let session = driver.start(&FakeAdapter::new(script));
        life(&driver, &session).await
    });
    assert_eq!(lived, WELL);
}

pub fn check_as(kind: AdapterKind, script: AdapterScript, expected: Expect) {
    run(async {
        let driver = Driver::new();
        let good = FakeAdapter::new(AdapterScript::behaved());
        let neighbour = driver.start(&good);
        assert!(matches!(driver.wait(&neighbour, 0).await, Outcome::Stopped(..)));

        let faulty = FakeAdapter::new(script);
        let session = driver.start_as(kind, &faulty);
        expected.assert_eq(&from_the_difference(&life(&driver, &session).await));
        assert_eq!(session.phase(), Phase::Terminated);
        assert!(matches!(session.stopped(), Err(Error::State { .. })));

        assert_eq!(evaluate(&neighbour).await.unwrap(), "1", "the other session is unaffected");
        let next = driver.start(&good);
        assert_eq!(life(&driver, &next).await, WELL, "the next session works");
        driver.debugger.end_all().await;
        drop((session, neighbour, next));
        assert_eq!(driver.debugger.sessions().iter().filter(|session| !session.phase().is_over()).count(), 0);
    });
}

/// What a session without faults comes to.
pub const WELL: &str = "start: stopped, entry
report: main:Some(3) x=1
evaluate: 1
variables: 1 of them
step: ok
stepped: stopped, step
continue: ok
continued: completed, Some(0)
end: Terminated
";

/// The part of a life that is not as it is without faults.
fn from_the_difference(life: &str) -> String {
    let same = life.lines().zip(WELL.lines()).take_while(|(line, well)| line == well).count();
    life.lines().skip(same).flat_map(|line| [line, "\n"]).collect()
}

pub fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(test)
}
