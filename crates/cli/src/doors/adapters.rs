//! `stepwell adapters`: lists the debug adapters, checks that they work, installs those that Stepwell can install.

mod install;
mod on_demand;
mod sources;

pub use on_demand::OnDemand;

use std::time::Duration;

use serde_json::{Map, Value, json};
use stepwell_debug::adapters::{AdapterKind, Located};
use stepwell_debug::{AdapterCheck, Debugger, Error};

use crate::args::AdaptersCommand;
use crate::assemble::{Assembly, debugging};
use crate::exit::Exit;
use crate::language::Language;
use crate::report;
use crate::terminal::{Style, out_line};

/// How long an adapter may take for its first answer.
const DEADLINE: Duration = Duration::from_secs(30);

pub async fn run(command: AdaptersCommand) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let language = Language::choose(assembly.settings.language().as_deref());
    match command {
        AdaptersCommand::List { json } => list(&assembly, language, json),
        AdaptersCommand::Doctor { adapters, json } => doctor(&assembly, language, &adapters, json).await,
        AdaptersCommand::Install { adapters, force } => {
            install::run(&assembly, language, &kinds(&assembly, &adapters)?, force).await
        }
    }
}

/// Returns the named adapters; all where none is named.
fn kinds(assembly: &Assembly, names: &[String]) -> anyhow::Result<Vec<AdapterKind>> {
    let search = debugging::search(&assembly.places, &assembly.settings, &assembly.workspace)?;
    let all = AdapterKind::all(&search.custom);
    if names.is_empty() {
        return Ok(all);
    }
    let known = all.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    names
        .iter()
        .map(|name| {
            all.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
                report::usage(format!("there is no adapter `{name}`"), format!("known are {known}"))
            })
        })
        .collect()
}

/// Finds an adapter, or says why it is missing and what to do.
fn located(assembly: &Assembly, kind: AdapterKind) -> anyhow::Result<Result<Located, Missing>> {
    let search = debugging::search(&assembly.places, &assembly.settings, &assembly.workspace)?;
    let found = kind.adapter().locate(&search, &Map::new());
    Ok(found.map_err(|error| {
        let hint = error.hint().unwrap_or_default().to_owned();
        match error {
            Error::NoAdapter { reason, .. } => Missing { reason, hint },
            other => Missing { reason: other.to_string(), hint },
        }
    }))
}

struct Missing {
    reason: String,
    hint: String,
}

fn list(assembly: &Assembly, language: Language, json: bool) -> anyhow::Result<Exit> {
    let mut rows = Vec::new();
    let style = Style::for_stdout();
    for kind in kinds(assembly, &[])? {
        let languages = kind.languages().join(", ");
        match located(assembly, kind)? {
            Ok(located) => {
                let version = kind.adapter().version(&located);
                let place = place_of(&located);
                if !json {
                    let version = version.as_deref().unwrap_or("");
                    print(&style.green("✓"), kind, &languages, &format!("{version:<9} {place}"));
                }
                rows.push(json!({ "adapter": kind.name(), "languages": kind.languages(), "found": true,
                    "path": place, "version": version }));
            }
            Err(missing) => {
                if !json {
                    let absent = language.pick(&missing.reason, "未安装或版本过旧");
                    print(&style.dim("-"), kind, &languages, absent);
                    out_line(&format!("  {} {}", style.cyan(language.hint()), language.say(&missing.hint)));
                }
                rows.push(json!({ "adapter": kind.name(), "languages": kind.languages(), "found": false,
                    "reason": missing.reason, "hint": missing.hint }));
            }
        }
    }
    if json {
        out_line(&serde_json::to_string_pretty(&rows)?);
    }
    Ok(Exit::Done)
}

/// Returns the path of an adapter: of one that an interpreter runs, the script's.
fn place_of(located: &Located) -> String {
    let script = located.arguments.first().map(std::path::Path::new).filter(|script| script.is_absolute());
    script.unwrap_or(&located.program).display().to_string()
}

fn print(mark: &str, kind: AdapterKind, languages: &str, detail: &str) {
    out_line(&format!("{mark} {:<9} {languages:<24} {}", kind.name(), detail.trim()));
}

async fn doctor(
    assembly: &Assembly,
    language: Language,
    names: &[String],
    json: bool,
) -> anyhow::Result<Exit> {
    let options = debugging::debugger_options(&assembly.places, &assembly.settings, &assembly.workspace)?;
    let debugger = Debugger::new(options);
    let style = Style::for_stdout();
    let mut rows = Vec::new();
    let mut failed = false;
    for kind in kinds(assembly, names)? {
        let located = match located(assembly, kind)? {
            Ok(located) => located,
            Err(missing) => {
                // One that was asked about by name must be there.
                failed |= !names.is_empty();
                if !json {
                    let absent = language.pick(&missing.reason, "未安装或版本过旧");
                    print(&style.dim("-"), kind, &kind.languages().join(", "), absent);
                    out_line(&format!("  {} {}", style.cyan(language.hint()), language.say(&missing.hint)));
                }
                rows.push(json!({ "adapter": kind.name(), "state": "absent", "detail": missing.reason,
                    "hint": missing.hint }));
                continue;
            }
        };
        if kind.adapter().starts_only_with_program() {
            if !json {
                let found = language.word("is there; it starts only with a program");
                print(&style.green("✓"), kind, &kind.languages().join(", "), found);
            }
            rows.push(json!({ "adapter": kind.name(), "state": "found", "path": place_of(&located) }));
            continue;
        }
        match debugger.check_adapter(kind, located, DEADLINE).await {
            Ok(check) => {
                if !json {
                    print_check(style, language, kind, &check);
                }
                rows.push(json!({ "adapter": kind.name(), "state": "ok",
                    "milliseconds": u64::try_from(check.took.as_millis()).unwrap_or(u64::MAX),
                    "capabilities": abilities(&check), "exception_filters": filters(&check) }));
            }
            Err(error) => {
                failed = true;
                if !json {
                    print(&style.red("✗"), kind, "", &error.to_string());
                    if let Some(hint) = error.hint() {
                        out_line(&format!("  {} {hint}", style.cyan(language.hint())));
                    }
                }
                rows.push(json!({ "adapter": kind.name(), "state": "failed", "detail": error.to_string(),
                    "hint": error.hint() }));
            }
        }
    }
    if json {
        out_line(&serde_json::to_string_pretty(&rows)?);
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn print_check(style: Style, language: Language, kind: AdapterKind, check: &AdapterCheck) {
    let milliseconds = check.took.as_millis();
    let detail = match language {
        Language::English => format!("answered in {milliseconds} ms"),
        Language::Chinese => format!("{milliseconds} 毫秒内应答"),
    };
    print(&style.green("✓"), kind, &kind.languages().join(", "), &detail);
    let can: Vec<String> = abilities(check).iter().map(|name| plain(name)).collect();
    if !can.is_empty() {
        out_line(&format!("    {} {}", language.word("can:"), can.join(", ")));
    }
    let filters = filters(check);
    if !filters.is_empty() {
        let named = language.word("stops at exceptions:");
        out_line(&format!("    {named} {}", filters.join(", ")));
    }
}

/// Returns the capabilities of an adapter, by the protocol's names.
fn abilities(check: &AdapterCheck) -> Vec<String> {
    let said = check.capabilities.others.iter();
    let mut names: Vec<String> =
        said.filter(|(_, value)| **value == Value::Bool(true)).map(|(name, _)| name.clone()).collect();
    names.sort();
    names
}

fn filters(check: &AdapterCheck) -> Vec<String> {
    check.capabilities.exception_breakpoint_filters.iter().map(|filter| filter.filter.clone()).collect()
}

/// `set variable` of `supportsSetVariable`.
fn plain(name: &str) -> String {
    let name = name.strip_prefix("supports").or_else(|| name.strip_prefix("support")).unwrap_or(name);
    let name = name.strip_suffix("Request").unwrap_or(name);
    let mut words = String::new();
    let mut last_was_small = false;
    for letter in name.chars() {
        if letter.is_uppercase() && last_was_small {
            words.push(' ');
        }
        last_was_small = letter.is_lowercase();
        words.extend(letter.to_lowercase());
    }
    words
}
