//! Long text on a terminal goes through the person's pager, as with `git`.

use std::io::{IsTerminal, Write};

use stepwell_workspace::process;

use crate::terminal::{harmless, out_line};

/// Options that leave what fits on one screen, and colours, as they are.
const LESS_OPTIONS: &str = "-FRX";

/// Shows a text: through the pager on a terminal, as it is in a pipe.
pub fn show(text: &str) {
    if !std::io::stdout().is_terminal() {
        out_line(text.trim_end_matches('\n'));
        return;
    }
    let text = harmless(text);
    let paged = program().is_some_and(|program| page(&program, &text).unwrap_or(false));
    if !paged {
        out_line(text.trim_end_matches('\n'));
    }
}

/// The pager: `$PAGER`, or `less` where there is one. An empty `$PAGER` and `cat` stand for none.
fn program() -> Option<String> {
    let less = || {
        let here = std::env::current_dir().unwrap_or_default();
        process::find_program("less", &here).map(|_| "less".to_owned())
    };
    let program = match std::env::var("PAGER") {
        Ok(program) => Some(program.trim().to_owned()),
        Err(_) => less(),
    };
    let program = program.filter(|program| !program.is_empty() && program != "cat")?;
    let plain_less = program == "less" && std::env::var_os("LESS").is_none();
    Some(if plain_less { format!("less {LESS_OPTIONS}") } else { program })
}

/// Runs the pager; `false` when it did not start.
fn page(program: &str, text: &str) -> anyhow::Result<bool> {
    let mut file = tempfile::Builder::new().prefix("stepwell-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    // How it ended is between the person and the pager; whether it started is not.
    Ok(process::run_in_foreground(program, file.path()).is_ok())
}
