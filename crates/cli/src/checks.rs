//! Looks at the set-up: what works, what does not, and what to do about it. `doctor` and the page show it.

mod sandbox;

use std::time::{Duration, Instant};

use stepwell_llm::preset_names;
use stepwell_protocol::{CheckState, DoctorCheck};
use stepwell_workspace::{files, process};

use crate::assemble::Assembly;
use crate::keys::KeySource;
use crate::models::Models;

/// How long a provider may take to answer.
const DEADLINE: Duration = Duration::from_secs(10);

/// Looks at everything that a task needs.
pub async fn checks(
    assembly: &Assembly,
    problems: &[anyhow::Error],
    offline: bool,
) -> anyhow::Result<Vec<DoctorCheck>> {
    let models = assembly.models();
    let mut checks = settings(assembly, problems);
    checks.extend([
        data_folder(assembly),
        log_file(assembly),
        program(assembly, "git", "looking at the history of a repository"),
        program(assembly, "bash", "the `bash` tool"),
    ]);
    checks.extend(sandbox::checks(assembly));
    checks.extend(providers(assembly, &models, offline).await?);
    if !offline {
        checks.extend(local_servers(&models).await?);
    }
    checks.push(chosen_model(assembly, &models, offline).await);
    Ok(checks)
}

fn good(what: impl Into<String>, detail: impl Into<String>) -> DoctorCheck {
    DoctorCheck { check: what.into(), state: CheckState::Ok, detail: detail.into(), hint: None }
}

fn bad(what: impl Into<String>, detail: impl Into<String>, hint: Option<String>) -> DoctorCheck {
    DoctorCheck { check: what.into(), state: CheckState::Failed, detail: detail.into(), hint }
}

fn absent(what: impl Into<String>, detail: impl Into<String>, hint: Option<String>) -> DoctorCheck {
    DoctorCheck { check: what.into(), state: CheckState::Absent, detail: detail.into(), hint }
}

/// Whether the settings can be used; what is wrong with each file that cannot.
fn settings(assembly: &Assembly, problems: &[anyhow::Error]) -> Vec<DoctorCheck> {
    if problems.is_empty() {
        return vec![good("settings", assembly.places.user_settings().display().to_string())];
    }
    let finding = |problem: &anyhow::Error| {
        let report = crate::report::to_error_report(problem);
        bad("settings", report.message, report.hint)
    };
    problems.iter().map(finding).collect()
}

/// Whether tasks can be kept.
fn data_folder(assembly: &Assembly) -> DoctorCheck {
    let root = assembly.home().root();
    let probe = root.join(format!(".doctor-{}", std::process::id()));
    let tried = files::create_private_dir(root)
        .and_then(|()| files::write_atomic(&probe, b"", files::Privacy::Private))
        .and_then(|()| files::remove_file(&probe));
    match tried {
        Ok(()) => good("data folder", root.display().to_string()),
        Err(error) => bad("data folder", error.to_string(), error.hint().map(str::to_owned)),
    }
}

/// Whether the log can be written. It is no fault where not: commands run without it.
fn log_file(assembly: &Assembly) -> DoctorCheck {
    match crate::logging::check(&assembly.places) {
        Ok(()) => good("log", assembly.places.log_file().display().to_string()),
        Err(error) => absent(
            "log",
            format!("{} cannot be written: {error}", assembly.places.log_file().display()),
            Some("make the folder writable, or set XDG_STATE_HOME to one that is".into()),
        ),
    }
}

fn program(assembly: &Assembly, name: &str, purpose: &str) -> DoctorCheck {
    match process::find_program(name, &assembly.workspace) {
        Some(path) => good(name, path.display().to_string()),
        None => bad(name, "not found", Some(format!("install {name}; it is needed for {purpose}"))),
    }
}

/// Every provider with a key or in the settings, checked by a live call.
async fn providers(assembly: &Assembly, models: &Models, offline: bool) -> anyhow::Result<Vec<DoctorCheck>> {
    let configured = assembly.settings.providers();
    let mut names: Vec<String> = configured.keys().cloned().collect();
    names.extend(preset_names().map(str::to_owned).filter(|name| !configured.contains_key(name)));
    let checks = names.into_iter().map(|name| {
        let configured = configured.contains_key(&name);
        provider(models, name, configured, offline)
    });
    let findings: anyhow::Result<Vec<Option<DoctorCheck>>> =
        futures::future::join_all(checks).await.into_iter().collect();
    Ok(findings?.into_iter().flatten().collect())
}

async fn provider(
    models: &Models,
    name: String,
    configured: bool,
    offline: bool,
) -> anyhow::Result<Option<DoctorCheck>> {
    let provider = match models.provider(&name) {
        Ok(provider) => provider,
        Err(error) => return Ok(Some(bad(name, error.message, error.hint))),
    };
    let (key, source) = match models.key(&provider) {
        Ok(found) => found,
        Err(error) => return Ok(Some(bad(name, format!("{error:#}"), None))),
    };
    let from = match &source {
        KeySource::NotNeeded => "no key needed".to_owned(),
        source => format!("key from {source}"),
    };
    match source {
        // Servers on this machine are looked for by their ports.
        KeySource::NotNeeded if !configured => return Ok(None),
        KeySource::Missing => {
            let variable = provider.api_key_env.clone().unwrap_or_default();
            let finding = if configured {
                let hint = format!("set {variable}, or `stepwell config set-key {name}`");
                bad(name, "no key", Some(hint))
            } else {
                absent(name, format!("no key ({variable})"), None)
            };
            return Ok(Some(finding));
        }
        _ if offline => return Ok(Some(good(name, format!("{from}, not checked")))),
        _ => {}
    }
    let started = Instant::now();
    Ok(Some(match stepwell_llm::list_models(&provider, key, models.client(), DEADLINE).await {
        Ok(found) => {
            let took = started.elapsed().as_millis();
            good(name, format!("{from}, {}, answered in {took} ms", count(found.len())))
        }
        Err(error) => bad(name, error.message, error.hint),
    }))
}

/// Servers on this machine, by their usual ports.
async fn local_servers(models: &Models) -> anyhow::Result<Vec<DoctorCheck>> {
    let running = stepwell_llm::local_servers(models.client()).await;
    let mut findings = Vec::new();
    for name in preset_names() {
        let provider = models.provider(name)?;
        let Some(start) = &provider.start else { continue };
        findings.push(match running.iter().find(|server| server.preset.name == name) {
            Some(server) => {
                let example =
                    server.models.first().map_or(String::new(), |model| format!(", such as {name}/{model}"));
                good(
                    name,
                    format!("running at {}, {}{example}", provider.base_url, count(server.models.len())),
                )
            }
            None => {
                absent(name, format!("not running at {}; start it with `{start}`", provider.base_url), None)
            }
        });
    }
    Ok(findings)
}

fn count(models: usize) -> String {
    if models == 1 { "1 model".into() } else { format!("{models} models") }
}

/// The chosen model, asked for one word: key, name and server are right if it answers.
async fn chosen_model(assembly: &Assembly, models: &Models, offline: bool) -> DoctorCheck {
    let Some((name, source)) = assembly.settings.pick(|layer| layer.model.clone()) else {
        return absent(
            "model",
            "none is chosen",
            Some("give `--model PROVIDER/MODEL`, or set `model` with `stepwell config edit`".into()),
        );
    };
    if offline {
        return good("model", format!("{name} ({source}), not checked"));
    }
    let checked = match models.options(&name) {
        Ok(options) => stepwell_llm::validate(options).await,
        Err(error) => Err(error),
    };
    match checked {
        Ok(checked) => {
            let took = checked.latency.as_millis();
            good("model", format!("{name} ({source}) answered in {took} ms"))
        }
        Err(error) => bad("model", format!("{name} ({source}): {}", error.message), error.hint),
    }
}
