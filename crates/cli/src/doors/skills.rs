//! `stepwell skills`: the skills of a folder and of the person.

use std::io::IsTerminal;
use std::path::Path;

use serde_json::json;
use stepwell_agent::skills::{Finding, Severity, Skill, validate};
use stepwell_tool_runtime::near_names;
use stepwell_tools::library::{InstallLocation, SkillContent, SkillPin, ToolLibrary as _};
use stepwell_tools::skills::{SkillSource, copy_skill, find_skills};
use stepwell_workspace::{Workspace, files};
use tokio_util::sync::CancellationToken;

use crate::args::{SkillLocation, SkillsCommand};
use crate::assemble::{Assembly, FolderLibrary, library_places, skill_pins};
use crate::columns;
use crate::exit::Exit;
use crate::language::said;
use crate::report;
use crate::terminal::{self, Style, error_line, out_line, visible};

/// Bytes of a skill's text that are shown before it is installed.
const MOST_SHOWN: usize = 20 * 1024;

pub async fn run(command: SkillsCommand) -> anyhow::Result<Exit> {
    match command {
        SkillsCommand::List { json } => list(json),
        SkillsCommand::Show { skill, json } => show(&skill, json),
        SkillsCommand::Validate { folder, strict, json } => Ok(check(&folder, strict, json)),
        SkillsCommand::Install { source, skill, location, branch, yes } => {
            install(&Wish { source, skill, location, branch, yes }).await
        }
        SkillsCommand::Remove { skill } => remove(&skill),
    }
}

fn list(as_json: bool) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let library = assembly.library();
    let skills = stepwell_agent::Library::skills(&library);
    let (_, plugin_problems) = library_places(&assembly.places, &assembly.settings, &assembly.workspace);
    let style = Style::for_stderr();
    for problem in skills.problems.iter().chain(&plugin_problems) {
        error_line(&format!("{} {}", style.yellow(&said("warning:")), visible(&said(problem))));
    }
    let all: Vec<&Skill> = skills.all().collect();
    if as_json {
        let rows: Vec<_> = all.iter().map(|skill| row(&library, skill)).collect();
        out_line(&serde_json::to_string_pretty(&rows)?);
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        out_line(&said(
            "no skills; put some into .stepwell/skills, or install one with `stepwell skills install`",
        ));
    }
    let style = Style::for_stdout();
    let width = all.iter().map(|skill| columns::width(&skill.name)).max().unwrap_or(0).min(40);
    for skill in all {
        let name = style.bold(&columns::padded(&visible(&skill.name), width));
        let room = columns::of_stdout().map(|columns| columns.saturating_sub(width + 12));
        let what = columns::fit(&visible(&skill.description), room);
        out_line(&format!("{name}  {} {what}", style.dim(&columns::padded(&said(skill.origin.kind()), 7))));
        if let Some(changed) = library.changed(skill) {
            out_line(&format!("{}  {}", " ".repeat(width), style.yellow(&visible(&said(&changed)))));
        }
    }
    Ok(Exit::Done)
}

fn row(library: &FolderLibrary, skill: &Skill) -> serde_json::Value {
    json!({
        "name": skill.name,
        "description": skill.description,
        "triggers": skill.triggers,
        "tools": skill.tools,
        "agent_modes": skill.modes,
        "source": skill.origin.kind(),
        "folder": skill.folder,
        "changed": library.changed(skill),
    })
}

fn show(name: &str, as_json: bool) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let library = assembly.library();
    let skills = stepwell_agent::Library::skills(&library);
    let skill = find(&skills, name)?;
    let text = skill.load().map_err(|error| report::failed(error, "`stepwell skills list` shows them"))?;
    if as_json {
        let mut shown = row(&library, skill);
        shown["text"] = json!(text);
        out_line(&serde_json::to_string_pretty(&shown)?);
        return Ok(Exit::Done);
    }
    out_line(&visible(&text));
    Ok(Exit::Done)
}

fn find<'s>(skills: &'s stepwell_agent::skills::Skills, name: &str) -> anyhow::Result<&'s Skill> {
    skills.get(name).ok_or_else(|| {
        let near = near_names(name, skills.all().map(|skill| skill.name.as_str()));
        let hint = match near.first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`stepwell skills list` shows them".to_owned(),
        };
        report::usage(format!("there is no skill `{name}`"), hint)
    })
}

fn check(folder: &Path, strict: bool, as_json: bool) -> Exit {
    let found = validate(folder);
    let is_wrong = |finding: &&Finding| strict || finding.severity == Severity::Error;
    let wrong = found.iter().filter(is_wrong).count();
    if as_json {
        let rows: Vec<_> = found
            .iter()
            .map(|finding| json!({"error": is_wrong(&finding), "message": finding.message}))
            .collect();
        out_line(&json!({"valid": wrong == 0, "findings": rows}).to_string());
    } else {
        let style = Style::for_stdout();
        for finding in &found {
            let mark =
                if is_wrong(&finding) { style.red(&said("error:")) } else { style.yellow(&said("warning:")) };
            out_line(&format!("{mark} {}", visible(&said(&finding.message))));
        }
        if wrong == 0 {
            out_line(&said(&format!("`{}` is a skill", folder.display())));
        }
    }
    if wrong == 0 { Exit::Done } else { Exit::Failed }
}

struct Wish {
    source: String,
    skill: Option<String>,
    location: SkillLocation,
    branch: Option<String>,
    yes: bool,
}

async fn install(wish: &Wish) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let library = assembly.library();
    let wrong = |message: String| report::usage(message, "docs/skills.md tells where skills come from");
    let source = SkillSource::read(&wish.source, &assembly.workspace).map_err(wrong)?;
    let downloads = library.downloads().map_err(wrong)?;
    // Removed with everything in it when this function is left.
    let folder = tempfile::Builder::new().prefix("skill-").tempdir_in(downloads)?;
    let into = folder.path().join("repository");
    let fetched = source.fetch(wish.branch.as_deref(), &into, &CancellationToken::new()).await;
    let fetched = fetched.map_err(|error| report::failed(error, "check the address and the network"))?;
    let wanted = wish.skill.as_deref().or(source.skill());
    let from = choose(&library, &fetched.folder, wanted)?;
    let content = library.inspect_skill(&from).map_err(wrong)?;
    let location = match wish.location {
        SkillLocation::Project => InstallLocation::Project,
        SkillLocation::Global => InstallLocation::Global,
    };
    let target = library.skills_folder(location).join(&content.name);
    tell(&content, &target);
    if !wish.yes && !asked(&content.name)? {
        return Ok(Exit::Interrupted);
    }
    let project = match location {
        InstallLocation::Project => Some(Workspace::open(&assembly.workspace, &[])?),
        InstallLocation::Global => None,
    };
    let failed = |error: String| report::failed(error, "look at the folder and try again");
    copy_skill(&content, &from, &target, project.as_ref()).map_err(failed)?;
    let pin = SkillPin {
        folder: target.clone(),
        source: wish.source.clone(),
        branch: wish.branch.clone(),
        commit: fetched.commit,
        sha256: content.sha256.clone(),
    };
    skill_pins::pin(&assembly.places, &pin).map_err(failed)?;
    out_line(&said(&format!("the skill `{}` is installed in {}", content.name, target.display())));
    Ok(Exit::Done)
}

fn choose(library: &FolderLibrary, folder: &Path, name: Option<&str>) -> anyhow::Result<std::path::PathBuf> {
    let found = find_skills(folder);
    let named = |path: &std::path::PathBuf| library.inspect_skill(path).map(|content| content.name);
    let names = || found.iter().filter_map(|path| named(path).ok()).take(50).collect::<Vec<_>>().join(", ");
    let chosen = match (found.as_slice(), name) {
        ([only], None) => Some(only.clone()),
        (all, Some(name)) => all.iter().find(|path| named(path).is_ok_and(|found| found == name)).cloned(),
        _ => None,
    };
    chosen.ok_or_else(|| {
        if found.is_empty() {
            let message = format!("there is no SKILL.md below `{}`", folder.display());
            return report::usage(message, "name the folder of the skill");
        }
        report::usage(
            "the source has several skills".to_owned(),
            format!("say which one with `--skill`; there are: {}", names()),
        )
    })
}

/// Shows what would be installed.
fn tell(content: &SkillContent, target: &Path) {
    let style = Style::for_stderr();
    error_line(&style.bold(&visible(&content.name)));
    error_line(&visible(&content.description));
    error_line(&style.dim(&format!("sha256 {}", content.sha256)));
    for (path, bytes) in &content.files {
        error_line(&format!("  {} ({bytes})", visible(&path.display().to_string())));
    }
    let end = content.text.floor_char_boundary(MOST_SHOWN);
    error_line(&format!("\n{}\n", visible(&content.text[..end])));
    for warning in &content.warnings {
        error_line(&format!("{} {}", style.yellow(&said("warning:")), visible(&said(warning))));
    }
    if target.is_dir() {
        error_line(&style.yellow(&said("it takes the place of the skill that is there")));
    }
}

fn asked(name: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(report::usage(
            "a skill tells the agent what to do, and there is no terminal to ask on",
            "read what is shown above, then give `--yes`",
        ));
    }
    terminal::error_text(&said(&format!("install the skill `{name}`? [y/N] ")));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !is_yes {
        error_line(&said("nothing was installed"));
    }
    Ok(is_yes)
}

fn remove(name: &str) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let library = assembly.library();
    let skills = stepwell_agent::Library::skills(&library);
    let skill = find(&skills, name)?;
    let own =
        [InstallLocation::Project, InstallLocation::Global].map(|location| library.skills_folder(location));
    // Skills of other agents are theirs to remove.
    if !own.iter().any(|folder| skill.folder.parent() == Some(folder.as_path())) {
        return Err(report::usage(
            format!("the skill `{name}` lies in {}, which is not Stepwell's", skill.folder.display()),
            "remove it there",
        ));
    }
    files::remove_dir_all(&skill.folder)?;
    skill_pins::forget(&assembly.places, &skill.folder)
        .map_err(|error| report::failed(error, "try again"))?;
    out_line(&said(&format!("removed {}", skill.folder.display())));
    Ok(Exit::Done)
}
