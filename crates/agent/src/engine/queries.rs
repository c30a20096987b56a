//! Answers to what doors want to know.

use std::path::Path;
use std::sync::Arc;

use stepwell_protocol::{
    EventRecord, Query, QueryReply, Seq, SkillItem, SlashCommandItem, TaskFilter, TaskId, TaskInfo,
    TaskListItem, TaskTotals, ToolItem, Usage, command_items,
};
use stepwell_store::{Home, Index, LogReader, SortOrder, TaskQuery, TaskRow, TaskSort};
use stepwell_tool_runtime::RegisteredTool;

use super::Engine;
use crate::commands::SlashCommand;
use crate::error::{Error, Result, broken};
use crate::skills::Skill;

/// Rows of an answer where the question does not say.
const DEFAULT_ROWS: u32 = 50;
/// Rows of an answer at most.
const MOST_ROWS: u32 = 1000;
/// Bytes of the log that are read at once for a page of history.
const PAGE: u64 = 1 << 20;

impl Engine {
    /// Answers a question. Nothing is changed.
    pub async fn query(&self, query: Query) -> Result<QueryReply> {
        let rows = |limit: u32| if limit == 0 { DEFAULT_ROWS } else { limit.min(MOST_ROWS) };
        Ok(match query {
            Query::Tasks { filter } => {
                let (tasks, total) = self.tasks(filter).await?;
                QueryReply::Tasks { tasks, total }
            }
            Query::Task { task } => QueryReply::Task { task: Box::new(self.list_item(&task).await?) },
            Query::History { task, before, limit } => {
                let (records, more) = self.history(&task, before, rows(limit)).await?;
                QueryReply::History { records, more }
            }
            Query::Plan { task } => QueryReply::Plan { plan: self.plan_view(&task).await?.map(Box::new) },
            Query::Models { workspace } => QueryReply::Models {
                models: self.workspace(Path::new(&workspace)).await?.models.list().await,
            },
            Query::Modes { workspace } => QueryReply::Modes {
                modes: self.workspace(Path::new(&workspace)).await?.settings.modes.items(),
            },
            Query::Tools { workspace } => {
                let workspace = self.workspace(Path::new(&workspace)).await?;
                let tools = workspace.services.executor.registry().list(None, None);
                QueryReply::Tools { tools: tools.iter().map(tool_item).collect() }
            }
            Query::Commands => QueryReply::Commands { commands: command_items() },
            Query::SlashCommands { workspace } => {
                let library = self.workspace(Path::new(&workspace)).await?.library;
                let read = move || library.commands().all().map(command_item).collect();
                QueryReply::SlashCommands {
                    commands: tokio::task::spawn_blocking(read).await.map_err(broken)?,
                }
            }
            Query::Skills { workspace } => {
                let library = self.workspace(Path::new(&workspace)).await?.library;
                let read = move || library.skills().all().map(skill_item).collect();
                QueryReply::Skills { skills: tokio::task::spawn_blocking(read).await.map_err(broken)? }
            }
            Query::Settings { workspace } => {
                let settings = self.workspace(Path::new(&workspace)).await?.settings;
                QueryReply::Settings { settings: settings.in_force }
            }
            Query::Checkpoints { workspace, limit } => {
                let checkpoints = self.checkpoints(Path::new(&workspace), rows(limit) as usize).await?;
                QueryReply::Checkpoints { checkpoints }
            }
            Query::CheckpointDiff { workspace, checkpoint, since } => {
                let files = self.checkpoint_diff(Path::new(&workspace), checkpoint, since).await?;
                QueryReply::CheckpointDiff { files }
            }
            Query::Files { workspace, text, limit } => {
                let workspace = self.workspace(Path::new(&workspace)).await?;
                let found = workspace.services.lookup.files(&text, rows(limit) as usize).await;
                QueryReply::Files { files: found.map_err(failed)? }
            }
            Query::Symbols { workspace, text, limit } => {
                let workspace = self.workspace(Path::new(&workspace)).await?;
                let found = workspace.services.lookup.symbols(&text, rows(limit) as usize).await;
                QueryReply::Symbols { symbols: found.map_err(failed)? }
            }
            Query::DebugSessions { workspace } => {
                let services = self.workspace(Path::new(&workspace)).await?.services;
                QueryReply::DebugSessions { sessions: services.activity.debug_sessions() }
            }
            Query::BackgroundCommands { workspace } => {
                let services = self.workspace(Path::new(&workspace)).await?.services;
                QueryReply::BackgroundCommands { commands: services.activity.background_commands() }
            }
            Query::TaskView { task, limit } => {
                QueryReply::TaskView { view: Box::new(self.task_view(&task, rows(limit)).await?) }
            }
            Query::Evidence { task } => QueryReply::Evidence { card: Box::new(self.evidence(&task).await?) },
            Query::ExportTask { task, format } => self.export(&task, format).await?,
            Query::Workspaces => QueryReply::Workspaces { workspaces: self.workspaces().await? },
            Query::File { workspace, path } => {
                let workspace = self.workspace(Path::new(&workspace)).await?;
                let file = workspace.services.lookup.file(&path).await.map_err(failed)?;
                QueryReply::File { file: Box::new(file) }
            }
            other => self.query_setup(other).await?,
        })
    }

    async fn tasks(&self, filter: TaskFilter) -> Result<(Vec<TaskListItem>, u64)> {
        let limit = if filter.limit == 0 { DEFAULT_ROWS } else { filter.limit.min(MOST_ROWS) };
        let query = TaskQuery {
            workspace: filter.workspace,
            favourite: filter.favourites_only.then_some(true),
            state: filter.state,
            root: None,
            text: filter.search.filter(|text| !text.trim().is_empty()),
            sort: TaskSort::Updated,
            order: SortOrder::Descending,
            limit: Some(limit),
            offset: filter.offset,
        };
        let home = self.inner.home.clone();
        let listed = tokio::task::spawn_blocking(move || {
            let mut index = Index::open(&home)?;
            let total = index.count(&query)?;
            Ok::<_, stepwell_store::Error>((index.list(&query)?, total))
        });
        let (rows, total) = listed.await.map_err(broken)??;
        let tasks = rows.into_iter().map(|row| self.fresh(row)).collect();
        Ok((tasks, total))
    }

    /// A task as a list shows it: what is open here is newer than the index.
    pub(super) fn fresh(&self, row: TaskRow) -> TaskListItem {
        match self.session(&row.id).ok().and_then(|session| session.list_item()) {
            Some(item) => item,
            None => item_of(row),
        }
    }

    /// The present entry of a task in the list.
    pub(crate) async fn list_item(&self, task: &TaskId) -> Result<TaskListItem> {
        if let Some(item) = self.session(task).ok().and_then(|session| session.list_item()) {
            return Ok(item);
        }
        let (home, reference) = (self.inner.home.clone(), task.to_string());
        let found = tokio::task::spawn_blocking(move || Index::open(&home)?.resolve(&reference));
        Ok(item_of(found.await.map_err(broken)??))
    }

    pub(super) async fn history(
        &self,
        task: &TaskId,
        before: Option<Seq>,
        limit: u32,
    ) -> Result<(Vec<EventRecord>, bool)> {
        // An open task knows its newest record; otherwise the log is read to its end for it.
        let open = || self.session(task).ok().map(|session| session.last_seq().next());
        let (before, home, task) = (before.or_else(open), self.inner.home.clone(), task.clone());
        let read = tokio::task::spawn_blocking(move || history_page(&home, &task, before, limit as usize));
        Ok(read.await.map_err(broken)??)
    }
}

/// The newest records before one, oldest first, and whether there are older ones.
fn history_page(
    home: &Home,
    task: &TaskId,
    before: Option<Seq>,
    limit: usize,
) -> stepwell_store::Result<(Vec<EventRecord>, bool)> {
    // Numbers follow each other, so the page's first record is known once the last one is.
    let end = if let Some(before) = before {
        before.0
    } else {
        let mut last = Seq(0);
        let mut reader = LogReader::open(home, task, Seq(0))?;
        loop {
            let records = reader.read_page(PAGE)?;
            let Some(record) = records.last() else { break };
            last = record.seq;
        }
        last.0 + 1
    };
    let first = Seq(end.saturating_sub(limit as u64).max(1));
    let mut reader = LogReader::open(home, task, first)?;
    let mut page = Vec::new();
    while page.len() < limit {
        let records = reader.read_page(PAGE)?;
        if records.is_empty() {
            break;
        }
        page.extend(records.into_iter().filter(|record| record.seq.0 < end));
        if page.last().is_some_and(|record: &EventRecord| record.seq.0 + 1 >= end) {
            break;
        }
    }
    page.truncate(limit);
    Ok((page, first > Seq(1)))
}

pub(super) fn item_of(row: TaskRow) -> TaskListItem {
    let usage = Usage {
        input_tokens: row.input_tokens,
        output_tokens: row.output_tokens,
        cache_read_tokens: row.cache_read_tokens,
        cache_write_tokens: row.cache_write_tokens,
        cost_usd: row.cost_usd,
        ..Usage::default()
    };
    TaskListItem {
        title: row.title.clone(),
        state: row.state,
        mode: row.mode.clone(),
        model: row.model.clone(),
        favourite: row.favourite,
        totals: TaskTotals { usage, ..TaskTotals::default() },
        updated_at: row.updated_at,
        interrupted: row.interrupted,
        last_seq: Seq(0),
        waiting: 0,
        bytes: row.size,
        excerpt: None,
        info: TaskInfo {
            id: row.id,
            root: row.root,
            parent: row.parent,
            forked_from: row.forked_from,
            number: row.number,
            title: row.title,
            mode: row.mode,
            agent: None,
            model: row.model,
            workspace: row.workspace,
            created_at: row.created_at,
        },
    }
}

fn command_item(command: &SlashCommand) -> SlashCommandItem {
    SlashCommandItem {
        name: command.name.clone(),
        description: command.summary(),
        argument_hint: command.argument_hint.clone(),
        source: command.origin.kind().to_owned(),
    }
}

fn skill_item(skill: &Skill) -> SkillItem {
    SkillItem {
        name: skill.name.clone(),
        description: skill.description.clone(),
        source: skill.origin.kind().to_owned(),
        folder: skill.folder.display().to_string(),
    }
}

fn tool_item(tool: &Arc<RegisteredTool>) -> ToolItem {
    let (spec, definition) = (tool.spec(), tool.definition());
    ToolItem {
        name: tool.name().to_owned(),
        aliases: spec.aliases.iter().map(ToString::to_string).collect(),
        category: spec.category.name().to_owned(),
        risk: spec.risk,
        description: definition.description.clone(),
        enabled: tool.is_enabled(),
        source: tool.source().map(str::to_owned),
        input_schema: definition.input_schema.clone(),
    }
}

pub(super) fn failed(message: String) -> Error {
    Error::Setup { message, hint: None }
}
