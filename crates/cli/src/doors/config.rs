//! `stepwell config`: the settings in force, their schema, the instructions, keys and trust.

use std::io::{IsTerminal, Read};

use serde_json::{Value, json};
use stepwell_llm::Provider;
use stepwell_protocol::SettingItem;
use stepwell_workspace::files::{self, Privacy};
use stepwell_workspace::process;

use crate::args::ConfigCommand;
use crate::assemble::{Assembly, embeddings, workspace_root};
use crate::exit::Exit;
use crate::keys;
use crate::language::said;
use crate::report;
use crate::settings::{self, Places, SettingsLayer};
use crate::terminal::{Style, error_line, out_foreign, out_line};

pub fn run(command: ConfigCommand) -> anyhow::Result<Exit> {
    match command {
        ConfigCommand::Show { json } => show(&Assembly::here()?, json)?,
        ConfigCommand::Schema => schema()?,
        ConfigCommand::Edit { project } => return edit(project),
        ConfigCommand::Instructions { json, mode } => instructions(&Assembly::here()?, mode, json)?,
        ConfigCommand::SetKey { provider } => set_key(&provider)?,
        ConfigCommand::Trust { revoke } => trust(revoke)?,
    }
    Ok(Exit::Done)
}

/// Shows what is about to be trusted, then trusts exactly that.
fn trust(revoke: bool) -> anyhow::Result<()> {
    let places = Places::find()?;
    let workspace = workspace_root(None)?;
    let project = Places::project(&workspace);
    if revoke {
        let word = if settings::revoke(&places, project)? { "no longer trusted" } else { "was not trusted" };
        out_line(&said(&format!("{word}: {}", project.display())));
        return Ok(());
    }
    let files = settings::trusted_files(project)?;
    let runtimes = settings::runtime_files(project);
    if files.is_empty() && runtimes.is_empty() {
        return Err(report::usage(
            format!("`{}` has no settings of its own to trust", project.display()),
            "they would be in .stepwell/config.toml",
        ));
    }
    let style = Style::for_stdout();
    for path in &files {
        out_line(&style.bold(&format!("# {}", path.display())));
        out_foreign(&files::read_to_string(path)?);
    }
    // Interpreters and tools are no text to read; what they are and where they lead is.
    for path in &runtimes {
        let target = path.read_link().map(|target| format!(" -> {}", target.display())).unwrap_or_default();
        out_foreign(&format!("# {}{target}\n", path.display()));
    }
    settings::trust(&places, project)?;
    out_line(&said(&format!("\ntrusted as they are now: {}", project.display())));
    Ok(())
}

/// Every value that is set, the strongest layer's, with its source.
fn show(assembly: &Assembly, as_json: bool) -> anyhow::Result<()> {
    let values = assembly.settings.in_force();
    if as_json {
        let withheld = &assembly.settings.withheld;
        out_line(&serde_json::to_string_pretty(&json!({"settings": values, "withheld": withheld}))?);
        return Ok(());
    }
    let style = Style::for_stdout();
    for SettingItem { name, value, source } in &values {
        out_line(&format!("{} = {value}  {}", style.bold(name), style.dim(&format!("# {}", said(source)))));
    }
    out_line("");
    out_line(&said(&format!("settings  {}", assembly.places.user_settings().display())));
    out_line(&said(&format!("tasks     {}", assembly.home().root().display())));
    if !assembly.settings.withheld.is_empty() {
        let withheld = assembly.settings.withheld.join(", ");
        out_line(&style.yellow(&said(&format!("not in force before `stepwell config trust`: {withheld}"))));
    }
    Ok(())
}

fn schema() -> anyhow::Result<()> {
    let schema = schemars::schema_for!(SettingsLayer);
    out_line(&serde_json::to_string_pretty(&schema)?);
    Ok(())
}

fn edit(project: bool) -> anyhow::Result<Exit> {
    let places = Places::find()?;
    let path = if project {
        Places::project_settings(Places::project(&workspace_root(None)?))
    } else {
        places.user_settings()
    };
    if files::read_if_exists(&path)?.is_none() {
        if let Some(folder) = path.parent() {
            files::create_private_dir(folder)?;
        }
        let start = "# Settings of Stepwell; `stepwell config schema` says what is allowed.\n\
                     # model = \"anthropic/claude-sonnet-4-5\"\n";
        files::write_atomic(&path, start.as_bytes(), Privacy::Private)?;
    }
    let editor = std::env::var("VISUAL").or_else(|_| std::env::var("EDITOR")).unwrap_or_else(|_| "vi".into());
    let status = process::run_in_foreground(&editor, &path)
        .map_err(|error| report::failed(format!("cannot start `{editor}`: {error}"), "set EDITOR"))?;
    // Mistakes are told now, not at the next run.
    if let Some(text) = files::read_if_exists(&path)?
        && let Err(error) = toml::from_str::<SettingsLayer>(&text)
    {
        return Err(report::usage(format!("the settings cannot be used:\n{error}"), "edit them again"));
    }
    Ok(if status { Exit::Done } else { Exit::Failed })
}

fn instructions(assembly: &Assembly, mode: Option<String>, as_json: bool) -> anyhow::Result<()> {
    let mode = mode.unwrap_or_else(|| assembly.settings.mode());
    let found = assembly.library().instructions(&mode)?;
    let all = found.items.iter().chain(&found.replacement);
    if as_json {
        let rows: Vec<Value> =
            all.map(|item| json!({"source": item.source.to_string(), "text": item.text})).collect();
        out_line(&serde_json::to_string_pretty(&json!({"language": found.language, "instructions": rows}))?);
        return Ok(());
    }
    let style = Style::for_stdout();
    if let Some(language) = &found.language {
        out_line(&said(&format!("language: {language}\n")));
    }
    if found.items.is_empty() && found.replacement.is_none() {
        out_line(&said("no instructions; put some into AGENTS.md"));
    }
    for item in &found.items {
        out_line(&style.bold(&format!("# {}", item.source)));
        out_line(&format!("{}\n", item.text.trim_end()));
    }
    for skipped in &found.skipped {
        error_line(&style.yellow(&said(&format!("not read: {skipped}"))));
    }
    if let Some(replacement) = &found.replacement {
        out_line(&style.bold(&said(&format!("# {} (instead of the built-in prompt)", replacement.source))));
        out_line(&format!("{}\n", replacement.text.trim_end()));
    }
    Ok(())
}

fn set_key(provider: &str) -> anyhow::Result<()> {
    let assembly = Assembly::here()?;
    if provider != embeddings::NAME {
        Provider::resolve(provider, assembly.settings.providers().get(provider))?;
    }
    let key = if std::io::stdin().is_terminal() {
        error_line(&said(&format!("key of `{provider}` (it is not shown):")));
        read_hidden_line()?
    } else {
        let mut key = String::new();
        std::io::stdin().lock().take(64 * 1024).read_to_string(&mut key)?;
        key
    };
    let key = key.trim();
    if key.is_empty() || key.contains(char::is_whitespace) {
        let problem =
            if key.is_empty() { "there is no key" } else { "a key is one word, without blanks or line ends" };
        return Err(report::usage(
            problem,
            format!(
                "type it when asked, or pipe it in: `printenv MY_KEY | stepwell config set-key {provider}`"
            ),
        ));
    }
    keys::store(&assembly.places, provider, key)?;
    out_line(&said(&format!("kept the key of `{provider}` in {}", assembly.places.keys().display())));
    Ok(())
}

/// Reads a line from the terminal without showing it.
pub(super) fn read_hidden_line() -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    let before = rustix::termios::tcgetattr(&stdin)?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(rustix::termios::LocalModes::ECHO);
    rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Flush, &hidden)?;
    let mut line = String::new();
    let read = stdin.read_line(&mut line);
    rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Flush, &before)?;
    read?;
    Ok(line)
}
