//! Files made from the code: schemas and TypeScript types. A test fails when they are stale.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

/// Every generated file with what it should hold now.
pub fn all() -> anyhow::Result<Vec<(PathBuf, String)>> {
    let schema = serde_json::to_string_pretty(&stepwell_protocol::json_schema())? + "\n";
    let types = stepwell_protocol::typescript();
    let socket = serde_json::to_string_pretty(&stepwell_server::asyncapi())? + "\n";
    Ok(vec![
        ("docs/schema/protocol.json".into(), schema),
        ("docs/schema/protocol.ts".into(), types.clone()),
        ("docs/schema/asyncapi.json".into(), socket),
        ("docs/schema/settings.json".into(), settings_schema()?),
        ("web/src/protocol/types.ts".into(), types),
        ("web/src/protocol/calls.ts".into(), stepwell_protocol::typescript_calls()),
    ])
}

pub fn write_all() -> anyhow::Result<()> {
    for (path, text) in all()? {
        let full = crate::root().join(&path);
        if std::fs::read_to_string(&full).ok().as_deref() == Some(text.as_str()) {
            continue;
        }
        if let Some(folder) = full.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        std::fs::write(&full, text).with_context(|| format!("cannot write {}", full.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// The binary is asked, so that the file says what the binary says.
fn settings_schema() -> anyhow::Result<String> {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "stepwell", "--", "config", "schema"])
        .current_dir(crate::root())
        .output()?;
    if !output.status.success() {
        bail!("`stepwell config schema` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}
