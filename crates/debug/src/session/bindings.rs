//! Sends breakpoints to the adapter and records their bindings.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::emulation::same_file;
use super::{ANSWER, Session};
use crate::adapters::AdapterQuirks;
use crate::breakpoints::hit_condition::HitCondition;
use crate::breakpoints::{FunctionBreakpoint, LineBreakpoint};
use crate::dap::Sent;
use crate::dap::types::{BreakpointEvent, Breakpoints, SourceBreakpoint, StackFrame};
use crate::ids::BreakpointId;
use crate::{Error, Result};

/// The binding of a breakpoint in a session.
#[derive(Clone, Debug)]
pub struct Binding {
    pub id: BreakpointId,
    pub adapter_id: Option<i64>,
    pub verified: bool,
    pub message: Option<String>,
    pub wanted_line: i64,
    /// The line it was bound to.
    pub line: i64,
    /// What Stepwell evaluates itself when it is hit.
    pub emulated: Emulated,
}

/// Whether the person's breakpoints are set in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserBreakpoints {
    Set,
    Suspended,
}

/// The parts of a breakpoint that Stepwell emulates because the adapter lacks them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Emulated {
    pub condition: Option<String>,
    pub hits: Option<HitCondition>,
    pub log: Option<String>,
}

impl Emulated {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Breakpoints that were sent and not answered yet.
#[derive(Debug)]
pub(crate) struct Sending {
    /// `None` for those on functions.
    path: Option<PathBuf>,
    bindings: Vec<Binding>,
    sent: Sent,
}

impl Session {
    /// Sends the breakpoints of every file, without waiting for answers.
    pub(super) fn send_all_breakpoints(&self) -> Result<Vec<Sending>> {
        let mut paths: Vec<PathBuf> = if self.has_user_breakpoints() {
            self.shared.breakpoints.lines().into_iter().map(|breakpoint| breakpoint.path).collect()
        } else {
            Vec::new()
        };
        paths.extend(self.state.lock().probes.keys().cloned());
        paths.sort();
        paths.dedup();
        let mut sending: Vec<Sending> = Vec::new();
        for path in paths {
            sending.push(self.send_breakpoints(&path)?);
        }
        let wished = !self.shared.breakpoints.functions().is_empty()
            || !self.panic_functions.is_empty()
            || !self.state.lock().function_probes.is_empty();
        if wished && self.can("supportsFunctionBreakpoints") {
            sending.push(self.send_function_breakpoints()?);
        }
        Ok(sending)
    }

    fn send_breakpoints(&self, path: &Path) -> Result<Sending> {
        let probes = self.state.lock().probes.get(path).cloned().unwrap_or_default();
        let quirks = self.adapter.quirks();
        let mut asked = Vec::new();
        let mut bindings = Vec::new();
        let kept =
            if self.has_user_breakpoints() { self.shared.breakpoints.in_file(path) } else { Vec::new() };
        for breakpoint in kept {
            let shared = probes.contains(&breakpoint.line);
            let (ask, emulated) =
                if shared { emulate_all(&breakpoint) } else { split_for_adapter(&breakpoint, quirks) };
            asked.push(ask);
            bindings.push(binding(breakpoint.id, breakpoint.line, emulated));
        }
        for line in probes {
            if !bindings.iter().any(|binding| binding.wanted_line == line) {
                asked.push(SourceBreakpoint { line, ..SourceBreakpoint::default() });
                bindings.push(binding(BreakpointId::PROBE, line, Emulated::default()));
            }
        }
        let lines: Vec<i64> = asked.iter().map(|ask| ask.line).collect();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let arguments = json!({
            "source": { "name": name, "path": path },
            "breakpoints": asked, "lines": lines, "sourceModified": false,
        });
        let sent = self.client()?.send("setBreakpoints", arguments)?;
        Ok(Sending { path: Some(path.to_path_buf()), bindings, sent })
    }

    fn send_function_breakpoints(&self) -> Result<Sending> {
        let functions =
            if self.has_user_breakpoints() { self.shared.breakpoints.functions() } else { Vec::new() };
        let mut bindings = Vec::new();
        let mut asked = Vec::new();
        for FunctionBreakpoint { id, name, condition, hit_condition } in functions {
            let hits = hit_condition.and_then(|hits| hits.parse().ok());
            let emulated = Emulated { hits, ..Emulated::default() };
            let mut ask = json!({ "name": name });
            if let Some(condition) = condition {
                ask["condition"] = condition.into();
            }
            asked.push(ask);
            bindings.push(binding(id, 0, emulated));
        }
        for name in &self.state.lock().function_probes {
            asked.push(json!({ "name": name }));
            bindings.push(binding(BreakpointId::PROBE, 0, Emulated::default()));
        }
        for name in &self.panic_functions {
            asked.push(json!({ "name": name }));
            bindings.push(binding(BreakpointId::PANIC, 0, Emulated::default()));
        }
        let sent = self.client()?.send("setFunctionBreakpoints", json!({ "breakpoints": asked }))?;
        Ok(Sending { path: None, bindings, sent })
    }

    /// Waits for the answer and records the bindings.
    pub(super) async fn take_bindings(&self, sending: Sending) {
        let Sending { path, mut bindings, sent } = sending;
        match sent.answer(ANSWER).await {
            Ok(body) => {
                let answer: Breakpoints =
                    body.and_then(|body| serde_json::from_str(body.get()).ok()).unwrap_or_default();
                for (binding, answer) in bindings.iter_mut().zip(answer.breakpoints) {
                    binding.adapter_id = answer.id;
                    binding.verified = answer.verified;
                    binding.message = answer.message.filter(|message| !message.is_empty());
                    binding.line = answer.line.filter(|line| *line > 0).unwrap_or(binding.wanted_line);
                }
            }
            Err(error) => {
                for binding in &mut bindings {
                    binding.message = Some(error.to_string());
                }
            }
        }
        let mut state = self.state.lock();
        match path {
            Some(path) => {
                state.bound.insert(path, bindings);
            }
            None => state.bound_functions = bindings,
        }
        drop(state);
        self.changed();
    }

    /// Sends the breakpoints of a file again.
    pub(crate) async fn sync_file(&self, path: &Path) -> Result<()> {
        let sending = self.send_breakpoints(path)?;
        self.take_bindings(sending).await;
        Ok(())
    }

    pub(crate) async fn sync_functions(&self) -> Result<()> {
        if self.can("supportsFunctionBreakpoints") {
            let sending = self.send_function_breakpoints()?;
            self.take_bindings(sending).await;
        }
        Ok(())
    }

    /// Whether the person's breakpoints are set.
    pub(crate) fn has_user_breakpoints(&self) -> bool {
        self.state.lock().user_breakpoints
    }

    /// Sets the person's breakpoints, or takes them away while a tool follows the program by itself.
    pub(crate) async fn set_user_breakpoints(&self, user: UserBreakpoints) -> Result<()> {
        let wanted = user == UserBreakpoints::Set;
        if std::mem::replace(&mut self.state.lock().user_breakpoints, wanted) == wanted
            || self.phase().is_over()
        {
            return Ok(());
        }
        let mut paths: Vec<PathBuf> =
            self.shared.breakpoints.lines().into_iter().map(|breakpoint| breakpoint.path).collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            self.sync_file(&path).await?;
        }
        if self.shared.breakpoints.functions().is_empty() { Ok(()) } else { self.sync_functions().await }
    }

    /// Sets temporary breakpoints of a tool in a file, beside the person's own.
    pub async fn set_probes(&self, path: &Path, lines: Vec<i64>) -> Result<Vec<Binding>> {
        {
            let mut state = self.state.lock();
            if lines.is_empty() {
                state.probes.remove(path);
            } else {
                state.probes.insert(path.to_path_buf(), lines);
            }
        }
        self.sync_file(path).await?;
        Ok(self.state.lock().bound.get(path).cloned().unwrap_or_default())
    }

    /// Sets one temporary breakpoint by line or by function; line 0 and no function remove it.
    pub async fn set_temporary_breakpoint(
        &self,
        line: &Option<(PathBuf, i64)>,
        function: &Option<String>,
    ) -> Result<()> {
        if let Some((path, line)) = line {
            let lines = if *line > 0 { vec![*line] } else { Vec::new() };
            self.set_probes(path, lines).await?;
        }
        let wished: Vec<String> = function.iter().cloned().collect();
        if !wished.is_empty() && !self.can("supportsFunctionBreakpoints") {
            return Err(Error::Unable {
                adapter: self.adapter.kind().name().to_owned(),
                what: "stop at functions by name".to_owned(),
                hint: Some("give the function's `file_path` too".to_owned()),
            });
        }
        let changed = {
            let mut state = self.state.lock();
            let changed = state.function_probes != wished;
            state.function_probes = wished;
            changed
        };
        if changed { self.sync_functions().await } else { Ok(()) }
    }

    /// Returns the line at which a temporary breakpoint was requested, where the program is stopped at one. Adapters
    /// move them to the next line with code.
    pub(crate) fn probe_line(&self, frame: &StackFrame) -> Option<i64> {
        let path = Path::new(frame.source.as_ref()?.path.as_deref()?);
        let state = self.state.lock();
        let (_, lines) = state.probes.iter().find(|(file, _)| same_file(file, path))?;
        let (_, bindings) = state.bound.iter().find(|(file, _)| same_file(file, path))?;
        let here = bindings.iter().filter(|binding| binding.line == frame.line);
        here.map(|binding| binding.wanted_line).find(|line| lines.contains(line))
    }

    /// Returns the binding of a temporary breakpoint that could not be bound.
    pub(crate) fn unbound_probe(&self, path: &Path, line: i64) -> Option<Binding> {
        let state = self.state.lock();
        let bindings = state.bound.get(path)?;
        let binding = bindings.iter().find(|binding| binding.wanted_line == line)?;
        (!binding.verified).then(|| binding.clone())
    }

    /// Whether a temporary function breakpoint was never bound.
    pub fn has_unbound_function_probe(&self) -> bool {
        let state = self.state.lock();
        state.bound_functions.iter().any(|binding| binding.id == BreakpointId::PROBE && !binding.verified)
    }

    /// Returns the binding of a breakpoint.
    pub fn binding_of(&self, id: BreakpointId) -> Option<Binding> {
        let state = self.state.lock();
        state.bound.values().flatten().chain(&state.bound_functions).find(|binding| binding.id == id).cloned()
    }

    pub(super) fn handle_breakpoint(&self, event: &BreakpointEvent) {
        let Some(id) = event.breakpoint.id else { return };
        let mut state = self.state.lock();
        let state = &mut *state;
        let bindings = state.bound.values_mut().flatten().chain(&mut state.bound_functions);
        for binding in bindings.filter(|binding| binding.adapter_id == Some(id)) {
            if event.reason == "removed" {
                binding.verified = false;
                continue;
            }
            binding.verified = event.breakpoint.verified;
            binding.message = event.breakpoint.message.clone().filter(|message| !message.is_empty());
            if let Some(line) = event.breakpoint.line.filter(|line| *line > 0) {
                binding.line = line;
            }
        }
        self.changed();
    }

    /// Maps the adapter's breakpoint ids to ours.
    pub(super) fn our_breakpoints(&self, adapter_ids: &[i64]) -> Vec<BreakpointId> {
        if adapter_ids.is_empty() {
            return Vec::new();
        }
        let state = self.state.lock();
        let bindings = state.bound.values().flatten().chain(&state.bound_functions);
        bindings
            .filter(|binding| binding.id.is_set_by_user())
            .filter(|binding| binding.adapter_id.is_some_and(|id| adapter_ids.contains(&id)))
            .map(|binding| binding.id)
            .collect()
    }

    /// Whether the adapter hit a function through which the runtime reports a failure.
    pub(super) fn is_panic(&self, adapter_ids: &[i64]) -> bool {
        let state = self.state.lock();
        let mut bindings = state.bound_functions.iter().filter(|binding| binding.id == BreakpointId::PANIC);
        bindings.any(|binding| binding.adapter_id.is_some_and(|id| adapter_ids.contains(&id)))
    }

    /// Returns the breakpoints on a line, for adapters that do not say which was hit.
    pub(crate) fn breakpoints_at(&self, path: &Path, line: i64) -> Vec<BreakpointId> {
        let state = self.state.lock();
        let files = state.bound.iter().filter(|(file, _)| same_file(file, path));
        files
            .flat_map(|(_, bindings)| bindings)
            .filter(|binding| binding.id.is_set_by_user() && binding.line == line)
            .map(|binding| binding.id)
            .collect()
    }
}

fn binding(id: BreakpointId, line: i64, emulated: Emulated) -> Binding {
    Binding { id, adapter_id: None, verified: false, message: None, wanted_line: line, line, emulated }
}

/// Splits a breakpoint into what the adapter is asked for and what is emulated.
fn split_for_adapter(breakpoint: &LineBreakpoint, quirks: &AdapterQuirks) -> (SourceBreakpoint, Emulated) {
    let hits = breakpoint.hits();
    let has_condition = breakpoint.condition.is_some();
    let log = breakpoint.log_message.as_deref();
    let delegated_log = log.and_then(|log| quirks.delegated_log(log, has_condition, hits.is_some()));
    let log_is_ours = log.is_some() && delegated_log.is_none();
    let ask = SourceBreakpoint {
        line: breakpoint.line,
        column: breakpoint.column,
        condition: breakpoint.condition.clone(),
        // Adapters disagree about what a hit is, and forget their count whenever a file's breakpoints are sent again.
        hit_condition: None,
        log_message: delegated_log,
    };
    let emulated = Emulated { condition: None, hits, log: log.filter(|_| log_is_ours).map(str::to_owned) };
    (ask, emulated)
}

/// Emulates everything: a tool must see every hit of this line.
fn emulate_all(breakpoint: &LineBreakpoint) -> (SourceBreakpoint, Emulated) {
    let ask =
        SourceBreakpoint { line: breakpoint.line, column: breakpoint.column, ..SourceBreakpoint::default() };
    let emulated = Emulated {
        condition: breakpoint.condition.clone(),
        hits: breakpoint.hits(),
        log: breakpoint.log_message.clone(),
    };
    (ask, emulated)
}
