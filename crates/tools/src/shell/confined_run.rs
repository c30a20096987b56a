//! Runs a program for a tool as `bash` runs commands: confined, its output live and without secrets.

use std::sync::Arc;

use stepwell_protocol::OutputStream;
use stepwell_tool_runtime::{ToolContext, ToolError};
use stepwell_workspace::process::{Finished, OutputFilters, ProgramCall, TextFilter, run_filtered};

use super::confine::{Confined, Confinement};
use super::output::{Redacted, show};
use super::plain::{From, Plain};

/// Runs a program to its end. `shown_as` gets the text of both streams, without escape sequences and secrets, and returns
/// what is shown of it live.
pub(crate) async fn run_confined(
    ctx: &ToolContext,
    confinement: &Confinement,
    call: ProgramCall,
    mut shown_as: impl FnMut(OutputStream, &str) -> String + Send,
) -> Result<Finished, ToolError> {
    let Confined { call, proxy } = confinement.confine(call, Some(Arc::clone(&ctx.network)), ctx.access)?;
    let filter = || -> Box<dyn TextFilter> {
        Box::new(Cleaned { plain: Plain::new(From::Pipe), redacted: Redacted(ctx.redactor.stream()) })
    };
    let filters = OutputFilters { stdout: filter(), stderr: filter() };
    let mut shown = 0;
    let finished = run_filtered(call, filters, &ctx.cancel, |stream, text| {
        let text = shown_as(stream, text);
        if !text.is_empty() {
            show(ctx, stream, &text, &mut shown);
        }
    })
    .await;
    // The way to the network ends with the program.
    drop(proxy);
    finished.map_err(|error| {
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        ToolError::execution(format!("{error}{hint}"))
    })
}

/// Takes escape sequences out before secrets are looked for.
struct Cleaned {
    plain: Plain,
    redacted: Redacted,
}

impl TextFilter for Cleaned {
    fn push(&mut self, text: &str) -> String {
        let plain = self.plain.push(text);
        self.redacted.push(&plain)
    }

    fn finish(&mut self) -> String {
        let rest = self.plain.finish();
        self.redacted.push(&rest) + &self.redacted.finish()
    }
}
