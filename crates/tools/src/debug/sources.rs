//! Which files the debugger's answers may quote: what the model cannot read with the file tools, it does not read in the
//! context of a frame either, whatever paths a program or its adapter names.

use std::path::{Path, PathBuf};

use stepwell_debug::failure::{FailureReport, SourceLocation, ValueHistory};
use stepwell_workspace::{Denial, Workspace, files};

use super::service::DebugService;
use crate::shell::confine::Confinement;

/// Folders whose files are others inside the sandbox than outside, or are no sources.
const NO_SOURCES: &[&str] = &["/tmp", "/var/tmp", "/run", "/var/run", "/proc", "/sys", "/dev"];

/// Denies the sources that commands cannot read.
pub(super) fn hidden_sources(workspace: &Workspace, confinement: &Confinement) -> Denial {
    let workspace = workspace.clone();
    let resolved = |paths: &[PathBuf]| paths.iter().map(|path| files::resolved(path)).collect::<Vec<_>>();
    let policy = match confinement {
        Confinement::Walls(walls) => Some(&walls.policy),
        Confinement::Off { .. } => None,
    };
    let hidden = policy.map(|policy| resolved(&policy.hidden)).unwrap_or_default();
    let opened = policy.map(|policy| resolved(&[&policy.writable[..], &policy.read_only].concat()));
    Denial::new(move |path| {
        let real = files::resolved(path);
        match workspace.place(&real.to_string_lossy()) {
            Err(error @ stepwell_workspace::Error::Hidden { .. }) => return Some(error.to_string()),
            // What a root holds is its own, wherever the root lies.
            Ok(_) => return None,
            Err(_) => {}
        }
        let lies_in = |folder: &PathBuf| real.starts_with(folder);
        if hidden.iter().any(lies_in) {
            return Some(format!("`{}` is hidden from programs", path.display()));
        }
        let opened = opened.as_ref()?;
        let is_unseen =
            NO_SOURCES.iter().any(|folder| real.starts_with(folder)) && !opened.iter().any(lies_in);
        is_unseen.then(|| format!("`{}` is another file in the sandbox", path.display()))
    })
}

impl DebugService {
    /// Removes quotes of hidden files. A report names files that the program itself named, in what it printed or recorded.
    pub(super) fn withhold_hidden(&self, report: &mut FailureReport) {
        let denial = &self.debugger.options().hidden_sources;
        let is_hidden = |file: &str| denial.of(Path::new(file)).is_some();
        let clean = |place: &mut SourceLocation| {
            if is_hidden(&place.file) {
                place.source.clear();
            }
        };
        let clean_values = |values: &mut Vec<ValueHistory>| {
            for value in values {
                for write in value.writes.iter_mut().filter(|write| is_hidden(&write.file)) {
                    write.source.clear();
                }
                if let Some(origin) = value.origin.as_mut().filter(|origin| is_hidden(&origin.file)) {
                    origin.source.clear();
                }
            }
        };
        report.place.iter_mut().for_each(clean);
        report.causes.iter_mut().filter_map(|cause| cause.place.as_mut()).for_each(clean);
        report.blocked.iter_mut().filter_map(|thread| thread.place.as_mut()).for_each(clean);
        clean_values(&mut report.values);
        for frame in &mut report.frames {
            if is_hidden(&frame.file) {
                frame.source = None;
            }
            clean_values(&mut frame.values);
        }
        let steps = report.recursion.iter_mut().flat_map(|recursion| &mut recursion.steps);
        for step in steps.filter(|step| is_hidden(&step.file)) {
            step.source.clear();
        }
    }
}
