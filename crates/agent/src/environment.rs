//! Environment details: what changed around the task since the model was last told. They come with a person's message,
//! small, and never stand in the part of a request that is cached.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use stepwell_protocol::{BackgroundCommand, CommandEnd, DebugSessionState, SeenFile};
use stepwell_tool_runtime::WorkspaceServices;

use crate::mentions::end_of;
use crate::session::Session;

/// Bytes of the details, and of a background command's new output.
const MOST: usize = 4 * 1024;
const MOST_OUTPUT: usize = 600;
const MOST_COMMANDS: usize = 8;
const MOST_FILES: usize = 20;
/// Interval after which the time is sent even if nothing else changed.
const TIME_IS_NEWS: Duration = Duration::from_mins(15);

/// Settings of the environment details.
#[derive(Clone, Debug)]
pub struct EnvironmentSettings {
    pub enabled: bool,
    /// `2026-11-15 14:03 +01:00 (Europe/Paris)`, asked for with each message.
    pub now: fn() -> String,
}

impl Default for EnvironmentSettings {
    fn default() -> Self {
        Self { enabled: false, now: String::new }
    }
}

/// Environment details the model was last sent. Kept while the task is open; a resumed task starts with none.
#[derive(Debug, Default)]
pub struct Told {
    time: Option<Instant>,
    mode: Option<String>,
    todo: Option<String>,
    /// The cost in hundredths of a dollar.
    cents: u64,
    /// Bytes of output of background commands, and whether their end was told.
    commands: BTreeMap<u32, (usize, bool)>,
    debug: BTreeMap<String, String>,
    /// Digests of files whose change was told.
    changed: BTreeMap<String, Option<String>>,
}

/// The details of this moment; `None` where there is no news, or where they are switched off.
pub fn details(
    settings: &EnvironmentSettings,
    session: &Session,
    services: &WorkspaceServices,
    changed: &[SeenFile],
    told: &mut Told,
) -> Option<String> {
    if !settings.enabled {
        return None;
    }
    let mut text = String::new();
    let (mode, todo, cost) = session
        .read_summary(|summary| (summary.mode.clone(), summary.todo.clone(), summary.totals.usage.cost_usd));
    if let Some(before) = told.mode.replace(mode.clone()).filter(|before| *before != mode) {
        writeln!(text, "Mode: {mode} (was {before})").ok();
    }
    let cents = (cost.unwrap_or(0.0) * 100.0).round().max(0.0) as u64;
    if cents != told.cents {
        told.cents = cents;
        writeln!(text, "Cost so far: ${}.{:02}", cents / 100, cents % 100).ok();
    }
    let mut list = String::new();
    for item in &todo {
        writeln!(list, "- [{}] {}", item.status.mark(), item.content).ok();
    }
    if told.todo.as_deref() != Some(list.as_str()) && (told.todo.is_some() || !list.is_empty()) {
        write!(text, "Todo:\n{}", if list.is_empty() { "(empty)\n" } else { &list }).ok();
    }
    told.todo = Some(list);
    background(&mut text, services, told);
    debug_sessions(&mut text, services, told);
    changed_files(&mut text, changed, told);
    // The prompt has the date; the time is news with other news, or when much of it has passed.
    let is_old = told.time.get_or_insert_with(Instant::now).elapsed() >= TIME_IS_NEWS;
    if text.is_empty() && !is_old {
        return None;
    }
    told.time = Some(Instant::now());
    Some(cut(format!("Time: {}\n{text}", (settings.now)())))
}

fn background(text: &mut String, services: &WorkspaceServices, told: &mut Told) {
    for command in services.activity.background_commands().into_iter().rev().take(MOST_COMMANDS) {
        let output = services.activity.background_output(command.process_id).unwrap_or_default();
        let known = told.commands.get(&command.process_id).copied();
        let now = (output.len(), command.ended.is_some());
        if known == Some(now) {
            continue;
        }
        told.commands.insert(command.process_id, now);
        writeln!(
            text,
            "Background command {} `{}`: {}",
            command.process_id,
            command.command,
            state(&command)
        )
        .ok();
        // Output that was read meanwhile is gone from here, so it may have become shorter.
        let from = known.map_or(0, |(bytes, _)| bytes).min(output.len());
        let new = &output[output.ceil_char_boundary(from)..];
        if !new.trim().is_empty() {
            let new = services.redactor.redact(new).into_owned();
            writeln!(text, "  new output: {}", end_of(&new, MOST_OUTPUT).replace('\n', "\n  ")).ok();
        }
    }
}

fn state(command: &BackgroundCommand) -> String {
    match command.ended {
        None => "running".into(),
        Some(CommandEnd::Exited { code }) => format!("ended with exit code {code}"),
        Some(CommandEnd::Signalled { signal }) => format!("ended by signal {signal}"),
        Some(CommandEnd::Stopped) => "was stopped".into(),
    }
}

fn debug_sessions(text: &mut String, services: &WorkspaceServices, told: &mut Told) {
    for session in services.activity.debug_sessions() {
        let place = session
            .stop
            .as_ref()
            .and_then(|stop| Some(format!(" at {}:{}", stop.file.as_deref()?, stop.line?)));
        let state = match session.state {
            DebugSessionState::Starting => "starting",
            DebugSessionState::Running => "running",
            DebugSessionState::Stopped => "stopped",
            DebugSessionState::Terminated => "ended",
        };
        let now = format!("{state}{}", place.unwrap_or_default());
        let known = told.debug.get(&session.session_id);
        // A session that ended before anything was told of it is no news.
        if known == Some(&now) || known.is_none() && session.state == DebugSessionState::Terminated {
            continue;
        }
        writeln!(text, "Debug session {} ({}): {now}", session.session_id, session.name).ok();
        told.debug.insert(session.session_id, now);
    }
}

fn changed_files(text: &mut String, changed: &[SeenFile], told: &mut Told) {
    let new: Vec<&SeenFile> =
        changed.iter().filter(|file| told.changed.get(&file.path) != Some(&file.digest)).collect();
    if new.is_empty() {
        return;
    }
    let shown: Vec<String> = new
        .iter()
        .take(MOST_FILES)
        .map(|file| if file.digest.is_none() { format!("{} (gone)", file.path) } else { file.path.clone() })
        .collect();
    let more = new.len().saturating_sub(MOST_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    writeln!(text, "Changed by others since you saw them: {}{more}", shown.join(", ")).ok();
    for file in new {
        told.changed.insert(file.path.clone(), file.digest.clone());
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MOST {
        text.truncate(text.floor_char_boundary(MOST));
        text.push_str("\n[cut]");
    }
    text
}
