//! `stepwell permissions`: what would be allowed, and why.

use std::sync::Arc;

use serde_json::{Value, json};
use stepwell_protocol::{ToolCall, ToolCallId};
use stepwell_tool_runtime::shell::{Part, Word};
use stepwell_tool_runtime::{CallFacts, Effect, PermissionJudge, Ruling, Verdict};
use tokio_util::sync::CancellationToken;

use crate::args::{PermissionsCommand, PermissionsTestArgs};
use crate::assemble::{Assembly, AssemblyOptions, workspace_root};
use crate::exit::Exit;
use crate::language::{Language, said};
use crate::report;
use crate::settings::SettingsLayer;
use crate::terminal::{Style, out_line, visible};

pub async fn run(command: PermissionsCommand) -> anyhow::Result<Exit> {
    match command {
        PermissionsCommand::Test(args) => test(args).await,
        PermissionsCommand::List { json } => list(&Assembly::here()?, json),
    }
}

async fn test(args: PermissionsTestArgs) -> anyhow::Result<Exit> {
    let assembly = Assembly::new(AssemblyOptions {
        workspace: workspace_root(args.cwd.as_deref())?,
        extra_roots: Vec::new(),
        command_line: SettingsLayer { permission_mode: args.mode, ..SettingsLayer::default() },
        record: None,
    })?;
    assembly.tell_withheld();
    let (name, arguments) = match (args.command, args.tool) {
        (Some(command), _) => ("bash".to_owned(), json!({ "command": command })),
        (None, tool) => {
            let arguments = serde_json::from_str(&args.args).map_err(|error| {
                report::usage(
                    format!("the arguments are no JSON: {error}"),
                    "such as --args '{\"file_path\": \"a.txt\"}'",
                )
            })?;
            (tool.unwrap_or_default(), arguments)
        }
    };
    let workspace = assembly.open()?;
    let judge = Arc::new(workspace.judge());
    let permission: Arc<dyn PermissionJudge> = Arc::clone(&judge) as _;
    let env = super::tool::call_env(&workspace, permission, CancellationToken::new());
    let call = ToolCall { id: ToolCallId::generate(), name, arguments, opaque: None };
    let facts = workspace.services.executor.facts(&call, &env).await.map_err(|error| {
        report::usage(
            error.message,
            "`stepwell tool list` names the tools, `stepwell tool show NAME` what one takes",
        )
    })?;
    let ruling = judge.explain(&facts);
    let grant = judge.offer(&facts);
    if args.json {
        out_line(&serde_json::to_string_pretty(&as_json(
            &facts,
            &ruling,
            judge.mode().name(),
            grant.as_deref(),
        ))?);
    } else {
        let language = Language::choose(assembly.settings.language().as_deref());
        print(&facts, &ruling, grant.as_deref(), language);
    }
    Ok(if ruling.verdict == Verdict::Allow { Exit::Done } else { Exit::Refused })
}

fn print(facts: &CallFacts, ruling: &Ruling, grant: Option<&str>, language: Language) {
    let style = Style::for_stdout();
    let painted = |effect: Effect| {
        let word = format!("{:<6}", effect.name());
        match effect {
            Effect::Allow => style.green(&word),
            Effect::Ask => style.yellow(&word),
            Effect::Deny => style.red(&word),
        }
    };
    for finding in &ruling.findings {
        let outer: Vec<&str> = finding.within.iter().map(String::as_str).collect();
        let path = if outer.is_empty() { String::new() } else { format!("{} > ", outer.join(" > ")) };
        let what = visible(&format!("{path}{}", finding.what)).replace('\n', "⏎");
        out_line(&format!(
            "{} {}  {}",
            painted(finding.effect),
            what,
            style.dim(&visible(&language.say(&finding.because)))
        ));
    }
    for warning in &facts.preview.warnings {
        out_line(&format!("{} {}", style.yellow("!     "), visible(&language.say(warning))));
    }
    let (word, reason) = match &ruling.verdict {
        Verdict::Allow => (style.green(&language.say("allowed")), None),
        Verdict::Ask { reason } => (style.yellow(&language.say("asked about")), Some(reason)),
        Verdict::Deny { reason } => (style.red(&language.say("denied")), Some(reason)),
    };
    let reason = reason.map(|reason| format!(": {}", visible(&language.say(reason)))).unwrap_or_default();
    out_line(&format!("\n{}{reason}", style.bold(&word)));
    if let Some(grant) = grant {
        out_line(&language.say(&format!("\"always\" would allow {grant}")));
    }
}

fn as_json(facts: &CallFacts, ruling: &Ruling, mode: &str, grant: Option<&str>) -> Value {
    let (verdict, reason) = match &ruling.verdict {
        Verdict::Allow => ("allow", None),
        Verdict::Ask { reason } => ("ask", Some(reason)),
        Verdict::Deny { reason } => ("deny", Some(reason)),
    };
    let findings: Vec<Value> = ruling
        .findings
        .iter()
        .map(|finding| {
            json!({
                "what": finding.what,
                "within": finding.within,
                "effect": finding.effect,
                "because": finding.because,
            })
        })
        .collect();
    let analysis = ruling.analysis.as_ref().map(|analysis| {
        json!({
            "parts": analysis.parts.iter().map(part_as_json).collect::<Vec<_>>(),
            "problem": analysis.problem.as_ref().map(ToString::to_string),
            "read_only": analysis.is_read_only(),
        })
    });
    json!({
        "tool": facts.tool,
        "mode": mode,
        "verdict": verdict,
        "reason": reason,
        "findings": findings,
        "warnings": facts.preview.warnings,
        "grant": grant,
        "command": analysis,
    })
}

fn part_as_json(part: &Part) -> Value {
    let texts = |words: &[Word]| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
    json!({
        "words": texts(&part.words),
        "assignments": part.assignments.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "within": part.within,
        "writes": texts(&part.writes),
        "redirected": texts(&part.redirected),
        "reads": texts(&part.reads),
        "opaque": part.opaque,
        "transparent": part.transparent,
    })
}

fn list(assembly: &Assembly, as_json: bool) -> anyhow::Result<Exit> {
    assembly.tell_withheld();
    let judge = assembly.open()?.judge();
    let rules = judge.rules();
    if as_json {
        let rules: Vec<Value> = rules
            .iter()
            .map(|rule| {
                json!({"effect": rule.effect, "rule": rule.text, "source": rule.source.name(), "reason": rule.reason})
            })
            .collect();
        let all = json!({
            "mode": judge.mode().name(),
            "rules": rules,
            "auto_approve": assembly.settings.auto_approve(),
        });
        out_line(&serde_json::to_string_pretty(&all)?);
        return Ok(Exit::Done);
    }
    let style = Style::for_stdout();
    for rule in &rules {
        let reason = rule.reason.as_ref().map(|reason| format!("  # {reason}")).unwrap_or_default();
        let (effect, source) = (format!("{:<6}", rule.effect.name()), format!("{:<8}", rule.source.name()));
        out_line(&format!(
            "{effect} {} {}{}",
            style.dim(&source),
            style.bold(&visible(&rule.text)),
            style.dim(&visible(&reason))
        ));
    }
    if rules.is_empty() {
        out_line(&said("there are no rules; `[permissions]` in the settings holds them"));
    }
    out_line(&said(&format!("\npermission mode: {}", judge.mode().name())));
    Ok(Exit::Done)
}
