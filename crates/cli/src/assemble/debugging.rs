//! How programs are debugged: which adapters, where things are kept, what is trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stepwell_debug::DebuggerOptions;
use stepwell_debug::adapters::{ConfiguredAdapter, Search};
use stepwell_tools::{Confinement, DebugOptions, SyntaxFunctions, secret_variables};
use stepwell_workspace::Denial;

use super::confinement::OWN_PROGRAM;
use crate::doors::adapters::OnDemand;
use crate::report;
use crate::settings::{Places, Settings};

/// Names another folder of debug adapters than that in the data folder: a run with a data folder of its own keeps them.
pub const ADAPTERS_VARIABLE: &str = "STEPWELL_ADAPTERS";

/// Stepwell's own folder of debug adapters.
pub fn adapters_folder(places: &Places) -> PathBuf {
    let named = std::env::var_os(ADAPTERS_VARIABLE).map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.unwrap_or_else(|| places.shared.join("adapters"))
}

pub fn search(places: &Places, settings: &Settings, workspace: &Path) -> anyhow::Result<Search> {
    let mut search = Search {
        workspace: workspace.to_path_buf(),
        // Programs in a sandbox find it by its real name alone.
        own_folder: stepwell_workspace::files::resolved(&adapters_folder(places)),
        prefers_js_debug: settings.prefers_js_debug(),
        trusted: settings.trusted,
        ..Search::default()
    };
    for (name, program) in settings.debug_adapters() {
        let kind = name.parse().map_err(|reason: String| {
            report::usage(format!("debug.adapters: {reason}"), "look at the `debug` section of your settings")
        })?;
        search.configured.insert(kind, program);
    }
    for (name, custom) in settings.custom_debug_adapters() {
        if custom.command.is_empty() {
            return Err(report::usage(
                format!("debug.custom.{name}: `command` is empty"),
                "name the adapter's program and its words",
            ));
        }
        let adapter = ConfiguredAdapter {
            name,
            command: custom.command,
            types: custom.types,
            always_attaches: custom.attach,
            hint: "look at `debug.custom` in your settings".to_owned(),
            languages: &[],
        };
        search.custom.push(adapter.interned());
    }
    Ok(search)
}

pub fn options(
    places: &Places,
    settings: &Settings,
    workspace: &Path,
    confinement: Confinement,
) -> anyhow::Result<DebugOptions> {
    let debugger = debugger_options(places, settings, workspace)?;
    Ok(DebugOptions { debugger, trusted: settings.trusted, confinement, ..DebugOptions::default() })
}

pub fn debugger_options(
    places: &Places,
    settings: &Settings,
    workspace: &Path,
) -> anyhow::Result<DebuggerOptions> {
    Ok(DebuggerOptions {
        search: search(places, settings, workspace)?,
        keeper: Some(OWN_PROGRAM.into()),
        breakpoint_file: Some(places.data.join("breakpoints").join(file_name(workspace))),
        removed_variables: secret_variables().into_iter().map(|(name, _)| name).collect(),
        hidden_sources: Denial::default(),
        function_finder: Some(Arc::new(SyntaxFunctions)),
        installer: settings.auto_installs_adapters().then(|| OnDemand::allowed(places)),
    })
}

/// A name for the file of a workspace's breakpoints: readable, and different for different folders.
fn file_name(workspace: &Path) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    workspace.hash(&mut hasher);
    let name = workspace.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String =
        name.chars().filter(|letter| letter.is_alphanumeric() || *letter == '-').take(40).collect();
    format!("{name}-{:016x}.json", hasher.finish())
}
