//! Sub-agents as Claude Code writes them: Markdown files whose front matter names tools and limits and whose body is the
//! prompt.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use stepwell_protocol::PermissionMode;
use stepwell_tool_runtime::ToolGroup;
use stepwell_workspace::files;

use super::Subagent;
use crate::error::Result;
use crate::file_problem::FileProblem;
use crate::mode::ModeSource;

/// A file larger than this is not read.
const LARGEST: usize = 256 * 1024;
/// More files than this are not read from one folder.
const MOST_FILES: usize = 200;
/// Longest description the model is shown, in characters.
const LONGEST_DESCRIPTION: usize = 400;

/// Names of Claude Code's tools that differ from ours by more than case.
const TOOL_NAMES: &[(&str, &[&str])] = &[
    ("MultiEdit", &["batch_edit"]),
    ("LS", &["list"]),
    ("WebFetch", &["fetch"]),
    ("WebSearch", &["web_search"]),
    ("Agent", &["task"]),
    ("BashOutput", &["process_read"]),
    ("KillShell", &["process_kill"]),
    ("Skill", &["skill_loader"]),
    ("NotebookEdit", &["edit"]),
    ("NotebookRead", &["read"]),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrontMatter {
    name: Option<String>,
    description: Option<String>,
    tools: Option<Names>,
    disallowed_tools: Option<Names>,
    model: Option<String>,
    permission_mode: Option<String>,
    #[serde(alias = "max_turns")]
    max_turns: Option<u32>,
    isolation: Option<String>,
}

/// `Read, Grep` or a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    Text(String),
    List(Vec<String>),
}

impl Names {
    fn tools(self) -> BTreeSet<String> {
        let names = match self {
            Self::Text(text) => text.split(',').map(|name| name.trim().to_owned()).collect(),
            Self::List(names) => names,
        };
        names.iter().flat_map(|name| ours(name.trim())).collect()
    }
}

/// Our names of a tool that may be written as `Bash(git diff *)`. What stands in brackets is for rules, not for a list.
fn ours(name: &str) -> Vec<String> {
    let name = name.split_once('(').map_or(name, |(name, _)| name).trim();
    if name.is_empty() {
        return Vec::new();
    }
    match TOOL_NAMES.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(name)) {
        Some((_, ours)) => ours.iter().map(ToString::to_string).collect(),
        // Names of MCP tools keep their case.
        None if name.starts_with("mcp__") => vec![name.to_owned()],
        None => vec![name.to_ascii_lowercase()],
    }
}

/// Reads the sub-agents of a folder, by file name. A file that is wrong is left out and told; the others are used.
pub fn read_subagents(folder: &Path) -> Result<(Vec<Subagent>, Vec<FileProblem>)> {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let is_markdown = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    for path in files::list_dir(folder)?.into_iter().filter(is_markdown).take(MOST_FILES) {
        let bytes = files::read(&path)?;
        let problem = |line, message| FileProblem { file: path.clone(), line, message };
        if bytes.len() > LARGEST {
            problems.push(problem(None, format!("larger than {} KB, so it is not read", LARGEST >> 10)));
            continue;
        }
        match parse(&String::from_utf8_lossy(&bytes), &path) {
            Ok((subagent, ignored)) => {
                found.push(subagent);
                problems.extend(ignored.into_iter().map(|message| problem(None, message)));
            }
            Err((line, message)) => {
                problems.push(problem(line, format!("the sub-agent is left out: {message}")));
            }
        }
    }
    Ok((found, problems))
}

type Fault = (Option<usize>, String);

/// The sub-agent of a file, and what of it is not used.
fn parse(text: &str, path: &Path) -> std::result::Result<(Subagent, Vec<String>), Fault> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let Some(rest) = text.strip_prefix("---\n") else {
        return Err((Some(1), "it does not begin with `---` and a front matter".into()));
    };
    let Some((head, body)) = rest.split_once("\n---\n").or_else(|| Some((rest.strip_suffix("\n---")?, "")))
    else {
        return Err((Some(1), "its front matter does not end with `---`".into()));
    };
    let front: FrontMatter = serde_saphyr::from_str(head).map_err(|error| {
        let line = error.location().map(|place| place.line() as usize + 1);
        (line, error.to_string().lines().next().unwrap_or_default().to_owned())
    })?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = front.name.unwrap_or(stem);
    let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_name) {
        return Err((None, "`name` may have letters, digits, `-` and `_` only".into()));
    }
    let Some(description) = front.description.filter(|text| !text.trim().is_empty()) else {
        return Err((None, "it has no `description`, so nobody would know when to use it".into()));
    };
    if body.trim().is_empty() {
        return Err((None, "it has no text below the front matter, which is its prompt".into()));
    }
    let mut ignored = Vec::new();
    // `inherit` and the short names of one provider say nothing about the models here.
    let model = front.model.filter(|model| {
        let is_ours = model.contains('/');
        if !is_ours && model != "inherit" {
            ignored.push(format!(
                "`model: {model}` is no `PROVIDER/MODEL`; the model of the task that starts it is used"
            ));
        }
        is_ours
    });
    let permission_mode = front.permission_mode.and_then(|text| {
        let known = PermissionMode::ALL.into_iter().find(|mode| mode.name() == text);
        if known.is_none() {
            ignored.push(format!("there is no permission mode `{text}`; that of its task is used"));
        }
        known
    });
    if let Some(isolation) = front.isolation {
        ignored.push(format!("`isolation: {isolation}` is not known here; it works in the workspace"));
    }
    let subagent = Subagent {
        name,
        description: description.trim().chars().take(LONGEST_DESCRIPTION).collect(),
        prompt: body.trim().to_owned(),
        groups: ToolGroup::ALL.to_vec(),
        shown_tools: Vec::new(),
        may_edit: true,
        tools: front.tools.map(Names::tools).filter(|names| !names.contains("*")),
        excluded_tools: front.disallowed_tools.map(Names::tools).unwrap_or_default(),
        model,
        permission_mode,
        max_turns: front.max_turns,
        source: ModeSource::File(path.to_path_buf()),
    };
    Ok((subagent, ignored))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Parses a file and shows what it gives, or what is wrong.
    fn check(text: &str, expected: Expect) {
        let shown = match parse(text, Path::new("agents/scout.md")) {
            Err((line, message)) => format!("{line:?}: {message}\n"),
            Ok((agent, ignored)) => format!(
                "{} | {} | {:?} | without {:?} | {:?} | {:?} | {:?}\n{}\n{}",
                agent.name,
                agent.description,
                agent.tools,
                agent.excluded_tools,
                agent.model,
                agent.permission_mode,
                agent.max_turns,
                agent.prompt,
                ignored.iter().map(|line| format!("ignored: {line}")).collect::<Vec<_>>().join("\n")
                    + if ignored.is_empty() { "" } else { "\n" },
            ),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn files_of_claude_code_are_read_as_they_are() {
        check(
            "---\nname: test-runner\ndescription: Runs tests. Use after changes.\ntools: Read, Bash(cargo test *), MultiEdit, \
             mcp__github__Search\ndisallowedTools: [WebFetch]\nmodel: sonnet\npermissionMode: plan\nmaxTurns: 7\nisolation: \
             worktree\ncolor: blue\n---\n\nYou run tests.\n",
            expect![[r#"
                test-runner | Runs tests. Use after changes. | Some({"bash", "batch_edit", "mcp__github__Search", "read"}) | without {"fetch"} | None | Some(Plan) | Some(7)
                You run tests.
                ignored: `model: sonnet` is no `PROVIDER/MODEL`; the model of the task that starts it is used
                ignored: `isolation: worktree` is not known here; it works in the workspace
            "#]],
        );
    }

    #[test]
    fn the_file_name_is_the_name_where_none_is_given() {
        check(
            "---\ndescription: Looks around\nmodel: inherit\n---\nLook.",
            expect![[r#"
                scout | Looks around | None | without {} | None | None | None
                Look.
            "#]],
        );
    }

    #[test]
    fn faults_are_told_with_their_line() {
        check("You are", expect!["Some(1): it does not begin with `---` and a front matter\n"]);
        check("---\nname: a\n", expect!["Some(1): its front matter does not end with `---`\n"]);
        check(
            "---\nname: a b\ndescription: x\n---\nx",
            expect!["None: `name` may have letters, digits, `-` and `_` only\n"],
        );
        check(
            "---\nname: a\n---\nx",
            expect!["None: it has no `description`, so nobody would know when to use it\n"],
        );
        check(
            "---\nname: a\ndescription: x\n---\n",
            expect!["None: it has no text below the front matter, which is its prompt\n"],
        );
    }
}
