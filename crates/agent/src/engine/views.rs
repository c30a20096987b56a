//! What a screen begins with: a task at one moment, its evidence, its export, and the folders of tasks.

use std::path::Path;

use stepwell_protocol::{
    Event, EvidenceCard, ExportFormat, QueryReply, RequestUsage, TaskId, TaskListItem, TaskView,
    WorkspaceItem,
};
use stepwell_store::{Conversation, Index, TaskQuery, TaskSort};
use stepwell_transcript::{TaskSummary, Transcript, evidence_of};

use super::Engine;
use crate::error::{Error, Result, broken};

/// Records in which the requests of a plot are looked for.
const USAGE_RECORDS: u32 = 4_000;
/// Sub-tasks of a view at most.
const MOST_SUBTASKS: u32 = 200;
/// Folders of a list at most.
const MOST_WORKSPACES: u32 = 100;

impl Engine {
    /// A task as a screen begins with it. Everything in it is true up to `last_seq`; the follower starts there.
    pub(super) async fn task_view(&self, task: &TaskId, limit: u32) -> Result<TaskView> {
        let summary = match self.open(task).await {
            Ok(session) => session.read_summary(Clone::clone),
            // A task that another process runs can be looked at, as far as its log has come.
            Err(Error::Store(stepwell_store::Error::Busy { .. })) => self.summary_in_log(task).await?,
            Err(error) => return Err(error),
        };
        let last_seq = summary.last_seq;
        let item = self.list_item(task).await?;
        let (mut records, more) = self.history(task, Some(last_seq.next()), USAGE_RECORDS.max(limit)).await?;
        let requests = records
            .iter()
            .filter_map(|record| match &record.event {
                Event::Usage { model, usage } => {
                    Some(RequestUsage { ts: record.ts, model: model.clone(), usage: *usage })
                }
                _ => None,
            })
            .collect();
        let older = records.len().saturating_sub(limit as usize);
        records.drain(..older);
        let root = summary.info.as_ref().map(|info| info.workspace.clone()).unwrap_or_default();
        let workspace = self.workspace(Path::new(&root)).await.ok();
        let window = |model: &str| {
            let model = workspace.as_ref()?.models.connect(model).ok()?;
            Some(model.info().context_window)
        };
        let activity = workspace.as_ref().map(|workspace| &workspace.services.activity);
        Ok(TaskView {
            last_seq,
            permission_mode: summary.permission_mode,
            context_window: window(&summary.model),
            todo: summary.todo,
            plan: summary.plan,
            hypotheses: summary.hypotheses,
            edited: summary.edited,
            queued: summary.queued,
            open_approvals: summary.open_approvals,
            open_questions: summary.open_questions,
            subtasks: self.subtasks(&item).await?,
            requests,
            debug_sessions: activity.map(|activity| activity.debug_sessions()).unwrap_or_default(),
            background: activity.map(|activity| activity.background_commands()).unwrap_or_default(),
            records,
            more: more || older > 0,
            item,
        })
    }

    async fn summary_in_log(&self, task: &TaskId) -> Result<TaskSummary> {
        let (home, task) = (self.inner.home.clone(), task.clone());
        let fold = move || {
            let records = stepwell_store::read_log(&home, &task)?;
            Ok::<_, stepwell_store::Error>(TaskSummary::of(&records))
        };
        Ok(tokio::task::spawn_blocking(fold).await.map_err(broken)??)
    }

    /// The tasks below one, in the order in which they began.
    async fn subtasks(&self, task: &TaskListItem) -> Result<Vec<TaskListItem>> {
        let (home, root) = (self.inner.home.clone(), task.info.root.clone());
        let query = TaskQuery {
            root: Some(root),
            sort: TaskSort::Number,
            order: stepwell_store::SortOrder::Ascending,
            limit: Some(MOST_SUBTASKS),
            ..TaskQuery::all()
        };
        let listed = tokio::task::spawn_blocking(move || Index::open(&home)?.list(&query));
        let mut below = vec![task.info.id.clone()];
        let mut found = Vec::new();
        // A task has a smaller number than those it starts, so one pass finds the whole tree.
        for row in listed.await.map_err(broken)?? {
            if row.parent.as_ref().is_some_and(|parent| below.contains(parent)) {
                below.push(row.id.clone());
                found.push(self.fresh(row));
            }
        }
        Ok(found)
    }

    pub(super) async fn evidence(&self, task: &TaskId) -> Result<EvidenceCard> {
        let (home, task) = (self.inner.home.clone(), task.clone());
        let fold = move || {
            let mut transcript = Transcript::default();
            for record in stepwell_store::read_log(&home, &task)? {
                transcript.apply(&record);
            }
            Ok::<_, stepwell_store::Error>(evidence_of(&transcript))
        };
        Ok(tokio::task::spawn_blocking(fold).await.map_err(broken)??)
    }

    pub(super) async fn export(&self, task: &TaskId, format: ExportFormat) -> Result<QueryReply> {
        let (home, task) = (self.inner.home.clone(), task.clone());
        let write = move || {
            let records = stepwell_store::read_log(&home, &task)?;
            let number = stepwell_store::read_info(&home, &task)?.number;
            let (content, ending, media_type) = match format {
                ExportFormat::Json => (Conversation::of(&records).serialize()?, "json", "application/json"),
                ExportFormat::Markdown => {
                    (stepwell_store::to_markdown(&home, &records), "md", "text/markdown")
                }
            };
            let file_name = format!("task-{number}.{ending}");
            Ok::<_, stepwell_store::Error>(QueryReply::ExportTask {
                file_name,
                media_type: media_type.to_owned(),
                content,
            })
        };
        Ok(tokio::task::spawn_blocking(write).await.map_err(broken)??)
    }

    /// Makes a task of an export. One from a folder that is not here belongs to `workspace`.
    pub(super) async fn import(&self, workspace: &str, content: String) -> Result<(TaskId, u32)> {
        let (home, workspace) = (self.inner.home.clone(), workspace.to_owned());
        let read = move || {
            let mut task = Conversation::deserialize(&content)?.into_task();
            if !Path::new(&task.workspace).is_dir() {
                task.workspace = workspace;
            }
            stepwell_store::import_task(&home, &TaskId::generate(), task)
        };
        let info = tokio::task::spawn_blocking(read).await.map_err(broken)??;
        self.inner.list.changed(&info.id);
        Ok((info.id, info.number))
    }

    /// Folders that tasks worked in and that are still there.
    pub(super) async fn workspaces(&self) -> Result<Vec<WorkspaceItem>> {
        let home = self.inner.home.clone();
        let listed = tokio::task::spawn_blocking(move || {
            let mut rows = Index::open(&home)?.workspaces(MOST_WORKSPACES)?;
            rows.retain(|row| Path::new(&row.path).is_dir());
            Ok::<_, stepwell_store::Error>(rows)
        });
        let rows = listed.await.map_err(broken)??;
        let item = |row: stepwell_store::WorkspaceRow| WorkspaceItem {
            path: row.path,
            tasks: row.tasks,
            used_at: row.used_at,
        };
        Ok(rows.into_iter().map(item).collect())
    }
}
