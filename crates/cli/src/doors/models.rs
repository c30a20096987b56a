//! `stepwell models`: what can be reached, with window and price.

use serde_json::json;
use stepwell_llm::{ModelInfo, WindowSource};

use crate::args::ModelsArgs;
use crate::assemble::Assembly;
use crate::columns;
use crate::exit::Exit;
use crate::language::said;
use crate::terminal::{Style, error_line, out_line};

/// Columns that a table of models needs.
const WIDE: usize = 80;

pub async fn run(args: ModelsArgs) -> anyhow::Result<Exit> {
    let assembly = Assembly::here()?;
    let models = assembly.models();
    let rows = if let Some(name) = &args.provider {
        models.list_of(name).await?
    } else {
        let (rows, failed) = models.reachable().await;
        let style = Style::for_stderr();
        for (name, error) in failed {
            error_line(&format!(
                "{} {name}: {}",
                style.yellow(&said("warning:")),
                said(&format!("{error:#}"))
            ));
        }
        rows
    };
    if args.json {
        let rows: Vec<_> = rows.iter().map(to_json).collect();
        out_line(&serde_json::to_string_pretty(&rows)?);
    } else if rows.is_empty() {
        out_line(&said("no model can be reached"));
        let hint = "set a key such as ANTHROPIC_API_KEY, or start a local server; `stepwell doctor` shows what is looked for";
        error_line(&format!("\n{} {}", said("hint:"), said(hint)));
    } else {
        print(&rows);
    }
    Ok(Exit::Done)
}

fn to_json(info: &ModelInfo) -> serde_json::Value {
    json!({
        "model": format!("{}/{}", info.provider, info.id),
        "context_window": info.context_window,
        "window_source": info.window_source.name(),
        "max_output_tokens": info.max_output_tokens,
        "images": info.images,
        "price": info.price,
    })
}

fn print(rows: &[ModelInfo]) {
    let style = Style::for_stdout();
    if columns::of_stdout().is_some_and(|columns| columns < WIDE) {
        // A name that is cut could not be copied, so each has a line of its own.
        for info in rows {
            out_line(&style.bold(&format!("{}/{}", info.provider, info.id)));
            out_line(&format!("  {}  {}", window(info), price(info)));
        }
        return;
    }
    let width = rows.iter().map(|info| info.provider.len() + info.id.len() + 1).max().unwrap_or(0).max(5);
    out_line(&style.dim(&format!(
        "{}  {}  {}",
        columns::padded(&said("model"), width),
        columns::padded_left(&said("window"), 8),
        said("$ per million tokens in / out")
    )));
    for info in rows {
        let name = format!("{}/{}", info.provider, info.id);
        out_line(&format!("{name:<width$}  {:>8}  {}", window(info), price(info)));
    }
    if rows.iter().any(|info| info.window_source == WindowSource::Assumed) {
        out_line(
            &style.dim(&said(
                "? assumed: the server does not tell; set `context_window` in `[models.\"NAME\"]`",
            )),
        );
    }
}

/// The context window in thousands of tokens, marked where it is assumed.
fn window(info: &ModelInfo) -> String {
    let mark = if info.window_source == WindowSource::Assumed { "?" } else { "" };
    format!("{}k{mark}", info.context_window / 1000)
}

/// Dollars for a million tokens in and out.
fn price(info: &ModelInfo) -> String {
    info.price.map_or("-".to_owned(), |price| format!("{} / {}", price.input, price.output))
}
