//! `stepwell models`: what can be reached, with window and price.

use serde_json::json;
use stepwell_llm::ModelInfo;

use crate::args::ModelsArgs;
use crate::assemble::Assembly;
use crate::exit::Exit;
use crate::terminal::{Style, error_line, out_line};

pub async fn run(args: ModelsArgs) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let models = assembly.models();
    let rows = if let Some(name) = &args.provider {
        models.list_of(name).await?
    } else {
        let (rows, failed) = models.reachable().await;
        let style = Style::for_stderr();
        for (name, error) in failed {
            error_line(&format!("{} {name}: {error:#}", style.yellow("warning:")));
        }
        rows
    };
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
