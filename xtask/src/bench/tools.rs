//! `cargo xtask bench tools`: what the definitions of the tools cost in every request.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

/// The tools of one category.
#[derive(Default)]
struct Cost {
    tools: usize,
    bytes: usize,
    tokens: usize,
}

/// Counts the definitions as a model is sent them, with the tokens of GPT-4o and later models.
pub fn run(binary: &Path) -> anyhow::Result<()> {
    let output = Command::new(binary).args(["tool", "list", "--json"]).output()?;
    let tools: Vec<Value> =
        serde_json::from_slice(&output.stdout).context("`tool list --json` gave no JSON")?;
    let tokens = tiktoken_rs::o200k_base()?;
    let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
    for tool in &tools {
        let definition = serde_json::json!({
            "name": tool["name"], "description": tool["description"], "input_schema": tool["input_schema"],
        });
        let text = definition.to_string();
        let count = tokens.encode_ordinary(&text).len();
        for category in [tool["category"].as_str().unwrap_or_default(), "all"] {
            let cost = costs.entry(category.to_owned()).or_default();
            cost.tools += 1;
            cost.bytes += text.len();
            cost.tokens += count;
        }
    }
    let all = costs.remove("all").unwrap_or_default();
    println!("| category | tools | bytes | tokens | share |");
    println!("|---|---|---|---|---|");
    for (category, cost) in costs.iter().map(|(name, cost)| (name.as_str(), cost)).chain([("all", &all)]) {
        let share = 100.0 * cost.tokens as f64 / all.tokens.max(1) as f64;
        println!("| {category} | {} | {} | {} | {share:.0} % |", cost.tools, cost.bytes, cost.tokens);
    }
    Ok(())
}
