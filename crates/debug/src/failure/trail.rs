//! Follows the calls of a second run: which line of a function was reached with which values, call by call.

use super::FailureReport;
use super::value_history::{Scope, alike};
use super::writes::Passage;
use crate::ids::ThreadId;

/// Lines of one call that are recorded.
pub(super) const KEPT: usize = 400;

/// A call that is going on.
#[derive(Debug)]
struct Call {
    scope: usize,
    thread: ThreadId,
    depth: usize,
    passages: Vec<Passage>,
}

/// The failing line was reached: the failing call and the one that called it, as far as they had come.
#[derive(Debug)]
pub(super) struct Arrival {
    pub failing: Vec<Passage>,
    pub caller: Vec<Passage>,
}

#[derive(Debug, Default)]
pub(super) struct Trail {
    calls: Vec<Call>,
    /// The line each scope begins at, as first seen.
    entries: Vec<Option<i64>>,
}

impl Trail {
    pub(super) fn new(scopes: usize) -> Self {
        Self { calls: Vec::new(), entries: vec![None; scopes] }
    }

    pub(super) fn pass(&mut self, scope: usize, thread: ThreadId, depth: usize, passage: Passage) {
        self.calls.retain(|call| call.thread != thread || call.depth <= depth);
        let entry = *self.entries[scope].get_or_insert(passage.line);
        let known = self
            .calls
            .iter()
            .position(|call| call.thread == thread && call.depth == depth && call.scope == scope);
        let begins = passage.line == entry;
        match known {
            Some(at) if !begins => {
                let passages = &mut self.calls[at].passages;
                if passages.len() >= KEPT {
                    passages.remove(0);
                }
                passages.push(passage);
            }
            known => {
                if let Some(at) = known {
                    self.calls.remove(at);
                }
                self.calls.push(Call { scope, thread, depth, passages: vec![passage] });
            }
        }
    }

    pub(super) fn arrival(&self, thread: ThreadId, depth: usize) -> Option<Arrival> {
        let of = |call: &&Call| call.thread == thread;
        let failing = self.calls.iter().filter(of).find(|call| call.scope == 0 && call.depth == depth)?;
        let caller = self.calls.iter().filter(of).rfind(|call| call.scope == 1 && call.depth < depth);
        Some(Arrival {
            failing: failing.passages.clone(),
            caller: caller.map(|call| call.passages.clone()).unwrap_or_default(),
        })
    }
}

/// What a second run has shown so far: the last arrival at the failing line that has the values of the failure.
#[derive(Debug)]
pub(super) struct Following {
    trail: Trail,
    best: Option<(usize, Arrival)>,
    /// Whether more lines ran than are followed.
    pub is_too_much: bool,
    /// Whether the failing line was reached, with whatever values.
    pub has_arrived: bool,
}

impl Following {
    pub(super) fn new(scopes: usize) -> Self {
        Self { trail: Trail::new(scopes), best: None, is_too_much: false, has_arrived: false }
    }

    /// A line of a scope was about to run, in a thread with so many frames.
    pub(super) fn pass(
        &mut self,
        scopes: &[Scope],
        report: &FailureReport,
        (scope, thread, depth): (usize, ThreadId, usize),
        passage: Passage,
    ) {
        let is_failing = scope == 0 && passage.line == scopes[0].line;
        self.trail.pass(scope, thread, depth, passage);
        if is_failing && let Some(arrival) = self.trail.arrival(thread, depth) {
            self.has_arrived = true;
            let alike = alike(report, &scopes[0], &arrival);
            if alike > 0 && self.best.as_ref().is_none_or(|(most, _)| alike >= *most) {
                self.best = Some((alike, arrival));
            }
        }
    }

    pub(super) fn arrival(self) -> Option<Arrival> {
        self.best.map(|(_, arrival)| arrival).filter(|_| !self.is_too_much)
    }
}
