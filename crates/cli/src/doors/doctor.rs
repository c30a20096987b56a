//! `stepwell doctor`: what works, what does not, and what to do about it.

use stepwell_protocol::{CheckState, DoctorCheck};

use crate::args::DoctorArgs;
use crate::assemble::Assembly;
use crate::checks::checks;
use crate::columns;
use crate::exit::Exit;
use crate::language::Language;
use crate::terminal::{Style, out_line};

/// Columns of what was looked at.
const WIDEST_CHECK: usize = 22;

pub async fn run(args: DoctorArgs) -> anyhow::Result<Exit> {
    let (assembly, problems) = Assembly::for_diagnosis()?;
    let checks = checks(&assembly, &problems, args.offline).await?;
    let bad = checks.iter().any(|check| check.state == CheckState::Failed);
    if args.json {
        out_line(&serde_json::to_string_pretty(&checks)?);
    } else {
        checks.iter().for_each(print);
    }
    Ok(if bad { Exit::Failed } else { Exit::Done })
}

fn print(check: &DoctorCheck) {
    let style = Style::for_stdout();
    let mark = match check.state {
        CheckState::Ok => style.green("✓"),
        CheckState::Absent => style.dim("-"),
        CheckState::Failed => style.red("✗"),
    };
    let language = Language::current();
    let what = columns::padded(&language.say(&check.check), WIDEST_CHECK);
    out_line(&format!("{mark} {what} {}", language.say(&check.detail)));
    if let Some(hint) = &check.hint {
        out_line(&format!("  {} {}", style.cyan(language.hint()), language.say(hint)));
    }
}
