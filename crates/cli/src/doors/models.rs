//! `stepwell models`: what can be reached, with window and price.

use std::time::Duration;

use serde_json::json;
use stepwell_agent::ModelSource;
use stepwell_llm::{ModelInfo, preset_names};

use crate::args::ModelsArgs;
use crate::assemble::Assembly;
use crate::exit::Exit;
use crate::keys::KeySource;
use crate::models::Models;
use crate::terminal::{Style, error_line, out_line};

/// How long a provider may take to list its models.
const DEADLINE: Duration = Duration::from_secs(10);

pub async fn run(args: ModelsArgs) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let models = assembly.models();
    let names = match &args.provider {
        Some(name) => vec![name.clone()],
        None => candidates(&assembly, &models)?,
    };
    let local = match &args.provider {
        Some(_) => Vec::new(),
        None => stepwell_llm::local_servers(models.client()).await,
    };
    // Asked side by side: one slow server does not hold up the others.
    let asked = names.into_iter().map(|name| ask(&models, name));
    let answers = futures::future::join_all(asked).await;
    let style = Style::for_stderr();
    let mut rows = Vec::new();
    for server in local {
        for model in server.models {
            rows.push(models.connect(&format!("{}/{model}", server.preset.name))?.info().clone());
        }
    }
    for (name, answer) in answers {
        match answer {
            Ok(found) => rows.extend(found),
            // A server of the person's own that is not running is no news, unless it was asked for.
            Err(error) if args.provider.is_some() => return Err(error),
            Err(error) => error_line(&format!("{} {name}: {error:#}", style.yellow("warning:"))),
        }
    }
    if args.json {
        let rows: Vec<_> = rows.iter().map(to_json).collect();
        out_line(&serde_json::to_string_pretty(&rows)?);
    } else if rows.is_empty() {
        out_line("no model can be reached");
        error_line(
            "\nhint: set a key such as ANTHROPIC_API_KEY, or start a local server; `stepwell doctor` shows what is looked for",
        );
    } else {
        print(&rows);
    }
    Ok(Exit::Done)
}

/// Providers worth asking: those of the settings and those with a key. Local servers are found by their ports.
fn candidates(assembly: &Assembly, models: &Models) -> anyhow::Result<Vec<String>> {
    let mut names: Vec<String> = assembly.settings.providers().into_keys().collect();
    for name in preset_names() {
        let provider = models.provider(name)?;
        // Two presets of one maker list the same models.
        if names.iter().any(|known| known == name) || name == "openai-chat" {
            continue;
        }
        if matches!(
            models.key(&provider)?.1,
            KeySource::Environment(_) | KeySource::File | KeySource::Keyring
        ) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

async fn ask(models: &Models, name: String) -> (String, anyhow::Result<Vec<ModelInfo>>) {
    let listed = list(models, &name).await;
    (name, listed)
}

async fn list(models: &Models, name: &str) -> anyhow::Result<Vec<ModelInfo>> {
    let provider = models.provider(name)?;
    let (key, _) = models.key(&provider)?;
    let ids = stepwell_llm::list_models(&provider, key, models.client(), DEADLINE).await?;
    let mut found = Vec::new();
    for id in ids {
        found.push(models.connect(&format!("{name}/{id}"))?.info().clone());
    }
    Ok(found)
}

fn to_json(info: &ModelInfo) -> serde_json::Value {
    json!({
        "model": format!("{}/{}", info.provider, info.id),
        "context_window": info.context_window,
        "max_output_tokens": info.max_output_tokens,
        "images": info.images,
        "price": info.price,
    })
}

fn print(rows: &[ModelInfo]) {
    let style = Style::for_stdout();
    let width = rows.iter().map(|info| info.provider.len() + info.id.len() + 1).max().unwrap_or(0).max(5);
    out_line(
        &style.dim(&format!("{:<width$}  {:>8}  {}", "model", "window", "$ per million tokens in / out")),
    );
    for info in rows {
        let name = format!("{}/{}", info.provider, info.id);
        let price = info.price.map_or("-".to_owned(), |price| format!("{} / {}", price.input, price.output));
        out_line(&format!("{name:<width$}  {:>7}k  {price}", info.context_window / 1000));
    }
}
