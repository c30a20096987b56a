//! Messages that are commands: `/review 12` stands for the text of a file.

use std::sync::Arc;

use stepwell_protocol::{Event, Part};

use super::Engine;
use crate::commands::{SlashCommand, in_message, invocation};
use crate::error::{Result, broken};
use crate::session::Session;
use crate::workspace::AgentWorkspace;

/// What the name of a command stands for.
enum Meaning {
    Command(Box<SlashCommand>, bool),
    Skill(String),
    Nothing,
}

impl Engine {
    /// Adds the text of a command where a message is one. What the person typed stays as it is.
    pub(super) async fn with_command(
        &self,
        session: &Arc<Session>,
        mut parts: Vec<Part>,
    ) -> Result<Vec<Part>> {
        let Some(Part::Text { text }) = parts.first() else { return Ok(parts) };
        let Some((name, arguments)) = invocation(text).map(|(name, rest)| (name.to_owned(), rest.to_owned()))
        else {
            return Ok(parts);
        };
        let workspace = self.workspace_of(session).await?;
        let (library, wanted) = (Arc::clone(&workspace.library), name.clone());
        let look = move || {
            if let Some(command) = library.commands().get(&wanted) {
                return Meaning::Command(Box::new(command.clone()), library.follows(command));
            }
            let loaded = library.skills().get(&wanted).and_then(|skill| skill.load().ok());
            loaded.map_or(Meaning::Nothing, Meaning::Skill)
        };
        match tokio::task::spawn_blocking(look).await.map_err(broken)? {
            Meaning::Command(command, follows) => {
                if follows {
                    Self::choose(session, &workspace, &command).await?;
                } else {
                    tell_wish(session, &command).await?;
                }
                parts.insert(1, Part::text(in_message(&command.name, &command.expanded(&arguments))));
            }
            Meaning::Skill(text) => {
                parts.insert(1, Part::text(in_message(&name, &with_words(text, &arguments))));
            }
            Meaning::Nothing => {
                let text = format!(
                    "there is no command `/{name}`, so the message stays as it is; `stepwell commands list` shows them"
                );
                session.record(vec![Event::Notice { text }]).await?;
            }
        }
        Ok(parts)
    }

    /// Switches to the mode and the model that a command names.
    async fn choose(
        session: &Arc<Session>,
        workspace: &AgentWorkspace,
        command: &SlashCommand,
    ) -> Result<()> {
        let mut model = command.model.clone();
        if let Some(name) = &model
            && workspace.models.connect(name).is_err()
        {
            let text =
                format!("the command `/{}` names the model `{name}`, which is not known here", command.name);
            session.record(vec![Event::Notice { text }]).await?;
            model = None;
        }
        match &command.mode {
            Some(slug) => match workspace.settings.mode(slug) {
                Ok(mode) => {
                    let reason = Some(format!("the command `/{}`", command.name));
                    session.change_mode(slug.clone(), model.or_else(|| mode.model.clone()), reason).await
                }
                Err(error) => session.record(vec![Event::Notice { text: error.to_string() }]).await,
            },
            None => match model {
                Some(model) => session.record(vec![Event::ModelChanged { model }]).await,
                None => Ok(()),
            },
        }
    }
}

/// Says what a command of a project wants that only the person may choose.
async fn tell_wish(session: &Arc<Session>, command: &SlashCommand) -> Result<()> {
    let mode = command.mode.as_ref().map(|mode| format!("the mode `{mode}`"));
    let model = command.model.as_ref().map(|model| format!("the model `{model}`"));
    let wishes: Vec<String> = mode.into_iter().chain(model).collect();
    if wishes.is_empty() {
        return Ok(());
    }
    let text = format!(
        "the project's command `/{}` is meant for {}; it cannot choose that by itself in a folder that is not trusted",
        command.name,
        wishes.join(" and ")
    );
    session.record(vec![Event::Notice { text }]).await
}

fn with_words(text: String, arguments: &str) -> String {
    if arguments.is_empty() { text } else { format!("{text}\n\nArguments: {arguments}") }
}
