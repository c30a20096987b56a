//! Tasks that work for another task: a call starts one, waits for its end, and gives its answer to the model.
//!
//! A sub-task is a task like any other, with its own log. It shares the tree's budget and loop guard, is judged by the
//! judge of the task that started it, and is cancelled with it. After a crash the call is made again and finds the
//! sub-task it had started.

use std::sync::Arc;
use std::time::Duration;

use stepwell_protocol::{Event, Part, PermissionMode, RunEnd, TaskId, TaskOrigin, TaskState, ToolCallId};
use stepwell_tool_runtime::{SubtaskCheck, SubtaskRequest, SubtaskResult, SubtaskWorker, ToolSet};
use tokio_util::sync::CancellationToken;

use super::{Engine, NewTask, title_of};
use crate::error::{Error, Result, broken};
use crate::feed::Follower;
use crate::mode::Mode;
use crate::session::{Session, Workers};
use crate::subagent::Subagent;

/// How long a cancelled sub-task may take to write down its end.
const GRACE: Duration = Duration::from_secs(10);

/// A worker that was found, with the tools it would have.
struct FoundWorker {
    name: String,
    tools: ToolSet,
    kind: WorkerKind,
}

enum WorkerKind {
    Mode(Arc<Mode>),
    Subagent(Arc<Subagent>),
}

impl WorkerKind {
    fn model(&self) -> Option<String> {
        match self {
            Self::Mode(mode) => mode.model.clone(),
            Self::Subagent(subagent) => subagent.model.clone(),
        }
    }

    fn permission_mode(&self) -> Option<PermissionMode> {
        match self {
            Self::Mode(_) => None,
            Self::Subagent(subagent) => subagent.permission_mode,
        }
    }
}

fn find(workers: &Workers, worker: &SubtaskWorker) -> Result<FoundWorker> {
    let base = workers.tools.clone();
    Ok(match worker {
        SubtaskWorker::Mode(slug) => {
            let mode = workers
                .modes
                .get(slug)
                .ok_or_else(|| Error::UnknownMode { mode: slug.clone(), known: workers.modes.names() })?;
            FoundWorker {
                name: mode.slug.clone(),
                tools: base.within_mode(workers.modes.limits(mode)),
                kind: WorkerKind::Mode(Arc::clone(mode)),
            }
        }
        SubtaskWorker::Agent(name) => {
            let subagent = workers.subagents.find(name)?;
            FoundWorker {
                name: subagent.name.clone(),
                tools: subagent.tool_set(base, &workers.modes),
                kind: WorkerKind::Subagent(Arc::clone(subagent)),
            }
        }
    })
}

impl Engine {
    /// Says whether a sub-task could be started by a call, and what it may do that its parent may not.
    pub(crate) fn check_subtask(
        &self,
        parent: &Session,
        call_id: &ToolCallId,
        worker: &SubtaskWorker,
    ) -> Result<SubtaskCheck> {
        let workers = parent.workers();
        let found = find(&workers, worker)?;
        let depth = self.depth(parent);
        if depth >= workers.limits.depth {
            return Err(Error::Setup {
                message: format!("sub-tasks may start sub-tasks {depth} deep, and no deeper"),
                hint: Some("do this part here".into()),
            });
        }
        let services = parent.services().ok_or_else(|| Error::NotOpen { task: parent.task.clone() })?;
        // What was started before a crash was approved then.
        let exceeds = if parent.started_subtask(call_id).is_some() {
            None
        } else {
            parent.tools.set().exceeded_by(&found.tools, services.executor.registry())
        };
        Ok(SubtaskCheck { name: found.name, exceeds })
    }

    /// How many tasks a task works for.
    fn depth(&self, session: &Session) -> usize {
        let mut depth = 0;
        let mut parent = session.parent();
        while let Some(task) = parent {
            depth += 1;
            parent = self.session(&task).ok().and_then(|session| session.parent());
        }
        depth
    }

    /// Starts a sub-task, or finds the one that the same call had started, and waits for its end.
    pub(crate) async fn run_subtask(
        &self,
        parent: &Arc<Session>,
        request: SubtaskRequest,
        cancel: &CancellationToken,
    ) -> Result<SubtaskResult> {
        let slots = parent.workers().slots;
        let _slot = tokio::select! {
            slot = slots.acquire_owned() => slot.map_err(|_| Error::NotOpen { task: parent.task.clone() })?,
            () = cancel.cancelled() => return Err(cancelled()),
        };
        let call_id = request.call_id.clone();
        let child = match parent.started_subtask(&call_id) {
            Some(task) => self.rejoin(parent, &task, request, cancel).await?,
            None => self.start_subtask(parent, request, cancel).await?,
        };
        let ended = self.wait_for_subtask(parent, &child, &call_id, cancel).await;
        let text = self.last_answer(&child).await;
        self.end_session(&child.task).await;
        let usage = child.read_summary(|summary| summary.totals.usage);
        let TaskOrigin { task, number, name } = child.origin();
        Ok(SubtaskResult { task, number, name, end: ended, text: text?, usage })
    }

    /// What a task last answered, or its last words where it has no answer.
    async fn last_answer(&self, session: &Arc<Session>) -> Result<String> {
        let (home, task) = (self.inner.home.clone(), session.task.clone());
        let records = tokio::task::spawn_blocking(move || stepwell_store::read_log(&home, &task));
        let records = records.await.map_err(broken)??;
        let answer = records.into_iter().rev().find_map(|record| match record.event {
            Event::Answer { content, .. } => Some(content),
            _ => None,
        });
        Ok(answer.or_else(|| session.last_words()).unwrap_or_default())
    }

    async fn start_subtask(
        &self,
        parent: &Arc<Session>,
        request: SubtaskRequest,
        cancel: &CancellationToken,
    ) -> Result<Arc<Session>> {
        let workers = parent.workers();
        let found = find(&workers, &request.worker)?;
        let (workspace, model, parent_mode) = parent.read_summary(|summary| {
            let workspace = summary.info.as_ref().map(|info| info.workspace.clone()).unwrap_or_default();
            (workspace, summary.model.clone(), summary.permission_mode)
        });
        let services = self.workspace(std::path::Path::new(&workspace)).await?;
        let parent_mode = parent_mode.unwrap_or_else(|| services.permission_mode());
        let own_mode = found.kind.permission_mode();
        let mode = match &found.kind {
            WorkerKind::Mode(mode) => mode.slug.clone(),
            WorkerKind::Subagent(_) => services.settings.default_mode.clone(),
        };
        let prompt = vec![Part::text(&request.prompt)];
        let child = self
            .create(NewTask {
                task: TaskId::generate(),
                title: request.title.unwrap_or_else(|| title_of(&prompt)),
                workspace,
                mode: Some(mode),
                agent: matches!(found.kind, WorkerKind::Subagent(_)).then(|| found.name.clone()),
                model: Some(found.kind.model().unwrap_or(model)),
                permission_mode: Some(own_mode.map_or(parent_mode, |own| own.narrower(parent_mode))),
                parent: Some(parent.task.clone()),
                call_id: Some(request.call_id),
            })
            .await?;
        if !request.todos.is_empty() {
            child.record(vec![Event::Todo { items: request.todos }]).await?;
        }
        limit(&child, workers.limits.budget_percent);
        // A sub-task that cannot begin must not stay open.
        self.say_within(&child, prompt, cancel).await.inspect_err(|_| self.close(&child.task))?;
        Ok(child)
    }

    /// Opens a sub-task that was started before. One that has answered is only read.
    async fn rejoin(
        &self,
        parent: &Arc<Session>,
        task: &TaskId,
        request: SubtaskRequest,
        cancel: &CancellationToken,
    ) -> Result<Arc<Session>> {
        let child = self.open(task).await?;
        if child.parent().as_ref() != Some(&parent.task) {
            self.close(task);
            return Err(Error::Setup {
                message: "the sub-task of this call belongs to another task".into(),
                hint: None,
            });
        }
        let is_done = child.read_summary(|summary| summary.state == TaskState::Completed);
        if !is_done && !child.is_running() {
            limit(&child, parent.workers().limits.budget_percent);
            if child.messages().is_empty() {
                // It was made, but nothing was said in it yet.
                self.say_within(&child, vec![Part::text(&request.prompt)], cancel).await?;
            } else {
                self.start_run_within(&child, None, Some(cancel)).await?;
            }
        }
        Ok(child)
    }

    /// Waits for the end of a sub-task and shows what it does as progress of the call.
    async fn wait_for_subtask(
        &self,
        parent: &Arc<Session>,
        child: &Arc<Session>,
        call_id: &ToolCallId,
        cancel: &CancellationToken,
    ) -> RunEnd {
        if !child.is_running() {
            return child.run_end().await.unwrap_or(RunEnd::Answered);
        }
        let mut follower = child.follow(child.last_seq()).ok();
        let TaskOrigin { number, name, .. } = child.origin();
        let mut ended = std::pin::pin!(child.run_end());
        loop {
            tokio::select! {
                biased;
                end = &mut ended => return end.unwrap_or(RunEnd::Cancelled),
                () = cancel.cancelled() => break,
                event = next(&mut follower) => match event {
                    Some(Event::Action { call, .. }) => {
                        let text = format!("#{number} {name}: {}", call.name);
                        parent.show(Event::ToolProgress { call_id: call_id.clone(), text });
                    }
                    Some(_) => {}
                    None => follower = None,
                },
            }
        }
        // It was cancelled too. Its own tools have a shorter grace, so it is not left behind unless something hangs.
        tokio::time::timeout(GRACE, ended).await.ok().flatten().unwrap_or(RunEnd::Cancelled)
    }
}

/// The next event of a follower; waits for ever where there is none.
async fn next(follower: &mut Option<Follower>) -> Option<Event> {
    match follower {
        None => std::future::pending().await,
        Some(follower) => match follower.next().await {
            Ok(Some(record)) => Some(record.event.clone()),
            // A log that cannot be read only costs the progress lines.
            Ok(None) | Err(_) => None,
        },
    }
}

/// Gives a sub-task its share of what is left of the budget of the tree.
fn limit(child: &Session, percent: u64) {
    child.set_share(child.tree.ledger.share(percent));
}

fn cancelled() -> Error {
    Error::Setup { message: "the call was cancelled before the sub-task began".into(), hint: None }
}
