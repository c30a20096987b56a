//! Runs a plan: what may run at once does, a background task is waited for until it is ready and lives on.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use parking_lot::Mutex;
use stepwell_protocol::OutputStream;
use stepwell_workspace::process::{self, Ending, Environment, KeepOutput, ProgramCall};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::matchers::Readiness;
use super::plan::{TaskCommand, TaskPlan};
use crate::launch_config::error::{LaunchError, Result};
use crate::launch_config::secrets::Secrets;
use crate::sandbox::SessionSandbox;

/// What an error shows of a task's output.
const TAIL: usize = 4 * 1024;
/// The clock does not hold `Duration::MAX`.
const LONGEST_LIMIT: Duration = Duration::from_hours(24 * 365);
/// A task that was told to end has this long before it is left to its runner's own end.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// Runs one command to its end. Dropping the future must end the command with all its children.
#[async_trait]
pub trait TaskRunner: Send + Sync + 'static {
    async fn run(
        &self,
        command: &TaskCommand,
        time_limit: Duration,
        cancel: &CancellationToken,
        on_output: &mut (dyn for<'text> FnMut(OutputStream, &'text str) + Send),
    ) -> stepwell_workspace::Result<Ending>;
}

/// Runs commands as plain processes of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessRunner;

#[async_trait]
impl TaskRunner for ProcessRunner {
    async fn run(
        &self,
        command: &TaskCommand,
        time_limit: Duration,
        cancel: &CancellationToken,
        on_output: &mut (dyn for<'text> FnMut(OutputStream, &'text str) + Send),
    ) -> stepwell_workspace::Result<Ending> {
        let call = call_of(command, time_limit);
        let finished = process::run(call, cancel, |stream, text| on_output(stream, text)).await?;
        Ok(finished.ending)
    }
}

/// Runs commands where a launch runs, with the secrets it names.
#[derive(Debug)]
pub(crate) struct LaunchRunner {
    pub sandbox: Option<Arc<dyn SessionSandbox>>,
    pub secrets: Secrets,
    /// Variables that hold secrets.
    pub removed: Vec<String>,
}

#[async_trait]
impl TaskRunner for LaunchRunner {
    async fn run(
        &self,
        command: &TaskCommand,
        time_limit: Duration,
        cancel: &CancellationToken,
        on_output: &mut (dyn for<'text> FnMut(OutputStream, &'text str) + Send),
    ) -> stepwell_workspace::Result<Ending> {
        let mut call = call_of(command, time_limit);
        let is_set = |name: &&String| command.environment.iter().any(|(set, _)| set == *name);
        let removed = self.removed.iter().filter(|name| !is_set(name));
        call.environment.removed.extend(removed.map(Into::into));
        self.secrets.expand_call(&mut call);
        let call = match &self.sandbox {
            Some(sandbox) => sandbox.join(call),
            None => call,
        };
        let finished = process::run(call, cancel, |stream, text| on_output(stream, text)).await?;
        Ok(finished.ending)
    }
}

fn call_of(command: &TaskCommand, time_limit: Duration) -> ProgramCall {
    let mut environment = Environment::default();
    for (name, value) in &command.environment {
        match value {
            Some(value) => environment.set.push((name.into(), value.into())),
            None => environment.removed.push(name.into()),
        }
    }
    ProgramCall {
        program: command.program.clone().into(),
        arguments: command.arguments.iter().map(Into::into).collect(),
        folder: command.folder.clone(),
        environment,
        input: None,
        time_limit,
        keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
    }
}

/// Output of a task, as it comes.
#[derive(Clone, Copy, Debug)]
pub struct TaskOutput<'a> {
    pub label: &'a str,
    pub stream: OutputStream,
    pub text: &'a str,
}

/// How a plan is run.
#[derive(Clone)]
pub struct TaskRun {
    pub runner: Arc<dyn TaskRunner>,
    /// For everything together: until each task is done, or ready.
    pub time_limit: Duration,
    pub cancel: CancellationToken,
    pub on_output: Arc<dyn Fn(TaskOutput<'_>) + Send + Sync>,
}

impl fmt::Debug for TaskRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TaskRun").field("time_limit", &self.time_limit).finish_non_exhaustive()
    }
}

/// The background tasks of a plan that was run. They end, with all their children, when this is dropped.
#[derive(Debug)]
pub struct RunningTasks {
    tasks: Vec<(String, AbortOnDropHandle<()>)>,
    alive: CancellationToken,
    /// What a person should know, such as a task that cannot say when it is ready.
    pub notes: Vec<String>,
}

impl RunningTasks {
    /// Returns the labels of the tasks.
    pub fn labels(&self) -> Vec<&str> {
        self.tasks.iter().map(|(label, _)| label.as_str()).collect()
    }

    /// Asks the tasks to end and waits for it.
    pub async fn stop(self) {
        self.alive.cancel();
        for (_, task) in self.tasks {
            // One that outlasts the limit is ended by the drop of its handle.
            tokio::time::timeout(STOP_LIMIT, task).await.ok();
        }
    }
}

/// Where the step is, and what lives on of it.
type StepOutcome = (usize, Result<Option<AbortOnDropHandle<()>>>);

/// Runs all steps of a plan, each when those before it are done or ready. The first failure ends everything.
pub(crate) async fn run_task(plan: &TaskPlan, run: TaskRun) -> Result<RunningTasks> {
    let deadline = Instant::now() + run.time_limit.min(LONGEST_LIMIT);
    let mut running = RunningTasks { tasks: Vec::new(), alive: run.cancel.child_token(), notes: Vec::new() };
    let mut done = vec![false; plan.steps.len()];
    let mut started = vec![false; plan.steps.len()];
    let mut at_work: FuturesUnordered<BoxFuture<'_, StepOutcome>> = FuturesUnordered::new();
    loop {
        for (place, step) in plan.steps.iter().enumerate() {
            if started[place] || !step.after.iter().all(|before| done[*before]) {
                continue;
            }
            started[place] = true;
            let one = OneTask {
                label: step.label.clone(),
                run: run.clone(),
                alive: running.alive.clone(),
                deadline,
            };
            match &step.command {
                None => at_work.push(Box::pin(async move { (place, Ok(None)) })),
                Some(command) => {
                    if command.background.as_ref().is_some_and(Vec::is_empty) {
                        running.notes.push(format!(
                            "task `{}` has no pattern that says when it is ready; it is taken to be ready at once",
                            step.label
                        ));
                    }
                    at_work.push(Box::pin(async move { (place, one.carry_out(command).await) }));
                }
            }
        }
        let Some((place, outcome)) = at_work.next().await else { return Ok(running) };
        if let Some(task) = outcome? {
            running.tasks.push((plan.steps[place].label.clone(), task));
        }
        done[place] = true;
    }
}

/// One step while it runs.
struct OneTask {
    label: String,
    run: TaskRun,
    alive: CancellationToken,
    deadline: Instant,
}

impl OneTask {
    async fn carry_out(self, command: &TaskCommand) -> Result<Option<AbortOnDropHandle<()>>> {
        match &command.background {
            None => self.to_its_end(command).await.map(|()| None),
            Some(_) => self.until_ready(command.clone()).await.map(Some),
        }
    }

    async fn to_its_end(&self, command: &TaskCommand) -> Result<()> {
        let mut tail = String::new();
        let limit = self.deadline.saturating_duration_since(Instant::now());
        let mut on_output = |stream, text: &str| {
            keep_tail(&mut tail, text);
            (self.run.on_output)(TaskOutput { label: &self.label, stream, text });
        };
        let ending = self.run.runner.run(command, limit, &self.run.cancel, &mut on_output).await?;
        self.judge(ending, tail)
    }

    /// A task that ended, and how.
    fn judge(&self, ending: Ending, tail: String) -> Result<()> {
        let label = self.label.clone();
        let how = match ending {
            Ending::Exited(0) => return Ok(()),
            Ending::Exited(code) => format!("ended with exit code {code}"),
            Ending::Signalled(signal) => format!("was ended by signal {signal}"),
            Ending::TimedOut => {
                return Err(LaunchError::TaskTimedOut {
                    label,
                    awaited: "done",
                    limit: self.run.time_limit,
                    tail,
                });
            }
            Ending::Cancelled => return Err(LaunchError::TaskCancelled { label }),
        };
        Err(LaunchError::TaskFailed { label, how, tail })
    }

    async fn until_ready(self, command: TaskCommand) -> Result<AbortOnDropHandle<()>> {
        let backgrounds = command.background.clone().unwrap_or_default();
        let (tell_ready, mut ready) = oneshot::channel();
        let (tell_ending, mut ending) = oneshot::channel();
        let mut tell_ready = Some(tell_ready);
        if backgrounds.is_empty()
            && let Some(tell_ready) = tell_ready.take()
        {
            tell_ready.send(()).ok();
        }
        let tail = Arc::new(Mutex::new(String::new()));
        let task = {
            let (label, run, alive, tail) =
                (self.label.clone(), self.run.clone(), self.alive.clone(), Arc::clone(&tail));
            tokio::spawn(async move {
                let mut readiness = Readiness::new(&backgrounds);
                let mut on_output = |stream, text: &str| {
                    (run.on_output)(TaskOutput { label: &label, stream, text });
                    if tell_ready.is_some() {
                        keep_tail(&mut tail.lock(), text);
                        if readiness.push(text)
                            && let Some(tell_ready) = tell_ready.take()
                        {
                            tell_ready.send(()).ok();
                        }
                    }
                };
                let ended = run.runner.run(&command, Duration::MAX, &alive, &mut on_output).await;
                tell_ending.send(ended).ok();
            })
        };
        let task = AbortOnDropHandle::new(task);
        let cut_short = |error: LaunchError| Err(error);
        tokio::select! {
            biased;
            Ok(()) = &mut ready => Ok(task),
            ended = &mut ending => {
                // The ready line may be the last one before the end.
                let was_ready = ready.try_recv().is_ok();
                match ended {
                    Ok(ended) if !was_ready => self.judge(ended?, tail.lock().clone()).map(|()| task),
                    _ => Ok(task),
                }
            }
            () = self.run.cancel.cancelled() => cut_short(LaunchError::TaskCancelled { label: self.label }),
            () = tokio::time::sleep_until(self.deadline) => {
                let (limit, tail) = (self.run.time_limit, tail.lock().clone());
                cut_short(LaunchError::TaskTimedOut { label: self.label, awaited: "ready", limit, tail })
            }
        }
    }
}

/// Keeps the last bytes of the output, whole characters.
fn keep_tail(tail: &mut String, text: &str) {
    tail.push_str(text);
    if tail.len() > TAIL {
        let mut cut = tail.len() - TAIL;
        while !tail.is_char_boundary(cut) {
            cut += 1;
        }
        tail.drain(..cut);
    }
}
