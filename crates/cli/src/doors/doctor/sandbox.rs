//! The rows about the sandbox: one for each of its layers.

use super::{Finding, State};
use crate::assemble::{Assembly, confinement};

pub(super) fn findings(assembly: &Assembly) -> Vec<Finding> {
    if assembly.settings.sandbox().enabled == Some(false) {
        let hint = "remove `enabled = false` from `[sandbox]` in the settings";
        return vec![Finding::absent(
            "sandbox",
            "switched off; every command is asked about",
            Some(hint.into()),
        )];
    }
    let sandbox = confinement::sandbox(&assembly.workspace);
    let layers = sandbox.layers();
    let mut findings = vec![match layers.missing() {
        None => Finding::good("sandbox", "commands are confined"),
        Some(missing) => Finding::bad("sandbox", format!("every command is asked about: {missing}"), None),
    }];
    findings.extend(layers.all().iter().map(|layer| Finding {
        what: format!("  {}", layer.name),
        // What is not there, though nothing is missing for it, is no fault.
        state: if layer.holds { State::Good } else { State::Absent },
        detail: layer.detail.clone(),
        hint: layer.hint.map(str::to_owned),
    }));
    findings
}
