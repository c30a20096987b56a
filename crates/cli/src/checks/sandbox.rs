//! The rows about the sandbox: one for each of its layers.

use stepwell_protocol::{CheckState, DoctorCheck};

use super::{absent, bad, good};
use crate::assemble::{Assembly, confinement};

pub(super) fn checks(assembly: &Assembly) -> Vec<DoctorCheck> {
    if assembly.settings.sandbox().enabled == Some(false) {
        let hint = "remove `enabled = false` from `[sandbox]` in the settings";
        return vec![absent("sandbox", "switched off; every command is asked about", Some(hint.into()))];
    }
    let sandbox = confinement::sandbox(&assembly.workspace);
    let layers = sandbox.layers();
    let mut checks = vec![match layers.missing() {
        None => good("sandbox", "commands are confined"),
        Some(missing) => bad("sandbox", format!("every command is asked about: {missing}"), None),
    }];
    checks.extend(layers.all().iter().map(|layer| DoctorCheck {
        check: format!("  {}", layer.name),
        // What is not there, though nothing is missing for it, is no fault.
        state: if layer.holds { CheckState::Ok } else { CheckState::Absent },
        detail: layer.detail.clone(),
        hint: layer.hint.map(str::to_owned),
    }));
    checks
}
