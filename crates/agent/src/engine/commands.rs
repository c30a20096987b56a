//! What each command does.

use std::path::Path;

use stepwell_protocol::{Command, CommandReply, Event, PermissionMode, TaskId};
use tokio_util::sync::CancellationToken;

use super::person_calls::PersonCall;
use super::{Engine, NewTask, title_of};
use crate::error::{Error, Result, broken};
use crate::plan::Keeper;

impl Engine {
    /// Carries out a command. What takes long (a run) goes on after this returns; its events tell.
    pub async fn submit(&self, command: Command) -> Result<CommandReply> {
        match command {
            Command::StartTask { task, prompt, workspace, mode, model, permission_mode, parent } => {
                let (title, agent, call_id) = (title_of(&prompt), None, None);
                let new =
                    NewTask { task, title, workspace, mode, agent, model, permission_mode, parent, call_id };
                let session = self.create(new).await?;
                self.say(&session, prompt).await?;
                return Ok(CommandReply::Task { task: session.task.clone(), number: session.number() });
            }
            Command::SendMessage { task, parts } => {
                let session = self.open(&task).await?;
                self.say(&session, parts).await?;
            }
            Command::ResumeTask { task } => {
                let session = self.open(&task).await?;
                self.start_run(&session, None).await?;
            }
            Command::Cancel { task } => self.session(&task)?.cancel(),
            Command::Pause { task } => self.session(&task)?.request_pause(),
            Command::Approve { task, approval, answer } => {
                self.session(&task)?.answer_approval(&approval, answer)?;
            }
            Command::AnswerQuestion { task, question, answer } => {
                self.session(&task)?.answer_question(&question, answer)?;
            }
            Command::ForkTask { task, new_task, message } => {
                let home = self.inner.home.clone();
                let fork = move || stepwell_store::fork(&home, &task, &new_task, message.as_ref());
                let info = tokio::task::spawn_blocking(fork).await.map_err(broken)??;
                self.inner.list.changed(&info.id);
                return Ok(CommandReply::Task { task: info.id, number: info.number });
            }
            Command::EditMessage { task, message, parts } => {
                let session = self.open(&task).await?;
                if session.is_running() {
                    return Err(Error::Working { task });
                }
                session.record(vec![Event::HistoryRewound { to_before: message }]).await?;
                self.say(&session, parts).await?;
            }
            Command::RenameTask { task, title } => {
                self.open(&task).await?.record(vec![Event::TaskRenamed { title }]).await?;
            }
            Command::SetFavourite { task, favourite } => {
                self.open(&task).await?.record(vec![Event::FavouriteChanged { favourite }]).await?;
            }
            Command::SetModel { task, model } => self.set_model(&task, model).await?,
            Command::SetMode { task, mode } => self.set_mode(&task, mode).await?,
            Command::SetPermissionMode { task, permission_mode } => {
                self.set_permission_mode(&task, permission_mode).await?;
            }
            Command::DecidePlan { task, decision } => self.decide_plan(&task, decision).await?,
            Command::CondenseTask { task } => self.condense(&self.open(&task).await?).await?,
            Command::UndoCondensing { task } => {
                let session = self.open(&task).await?;
                if session.is_running() {
                    return Err(Error::Working { task });
                }
                if !session.is_condensed() {
                    return Err(Error::NothingCondensed { task });
                }
                session.record(vec![Event::CondensingUndone]).await?;
            }
            Command::Undo { workspace, count, force } => {
                return self.undo(Path::new(&workspace), count, force).await;
            }
            Command::Redo { workspace, force } => return self.redo(Path::new(&workspace), force).await,
            Command::Restore { workspace, checkpoint, what, force } => {
                return self.restore(Path::new(&workspace), checkpoint, what, force).await;
            }
            Command::StopBackgroundCommand { workspace, process_id } => {
                let workspace = self.workspace(Path::new(&workspace)).await?;
                if !workspace.services.activity.stop_background_command(process_id).await {
                    return Err(Error::NoSuchProcess { process_id });
                }
            }
            Command::DeleteTask { task } => {
                self.close(&task);
                let (home, id) = (self.inner.home.clone(), task.clone());
                tokio::task::spawn_blocking(move || stepwell_store::delete_task(&home, &id))
                    .await
                    .map_err(broken)??;
                self.inner.list.changed(&task);
            }
            Command::CallTool { workspace, task, name, arguments, confirmed } => {
                let call = PersonCall { workspace, task, name, arguments, confirmed };
                return self.call_tool(call, CancellationToken::new()).await;
            }
            other => return self.submit_setup(other).await,
        }
        Ok(CommandReply::Done)
    }

    async fn set_model(&self, task: &TaskId, model: String) -> Result<()> {
        let session = self.open(task).await?;
        // A wrong name is told before anything is changed.
        self.workspace_of(&session).await?.models.connect(&model)?;
        session.record(vec![Event::ModelChanged { model }]).await
    }

    async fn set_mode(&self, task: &TaskId, mode: String) -> Result<()> {
        let session = self.open(task).await?;
        let workspace = self.workspace_of(&session).await?;
        if workspace.settings.is_planning(&mode) {
            return Keeper { session: &session }.begin_again().await;
        }
        let model = workspace.settings.mode(&mode)?.model.clone();
        if let Some(model) = &model {
            // A wrong name is told before anything is changed.
            workspace.models.connect(model)?;
        }
        session.change_mode(mode, model, None).await
    }

    async fn set_permission_mode(&self, task: &TaskId, permission_mode: PermissionMode) -> Result<()> {
        let session = self.open(task).await?;
        session.record(vec![Event::PermissionModeChanged { permission_mode }]).await?;
        session.set_permission_mode(permission_mode);
        Ok(())
    }
}
