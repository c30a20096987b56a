//! Beneath the program's variables: places that are watched, instructions, bytes.

use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use stepwell_debug::session::{Access, Session};
use stepwell_debug::values::shortened;
use stepwell_debug::{Error, Result};
use stepwell_protocol::Risk;
use stepwell_tool_runtime::ToolContext;

use super::answer::Answer;
use super::debug_tool;
use super::service::DebugService;

const INSTRUCTIONS: i64 = 20;
const MOST_INSTRUCTIONS: i64 = 200;
const BYTES: i64 = 128;
const MOST_BYTES: i64 = 4096;
const BYTES_OF_A_LINE: usize = 16;

/// Stops the program when a variable or field is written or read (C, C++, Rust).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct SetDataBreakpointInput {
    /// The variable or field; without it, those that are set are listed.
    expression: Option<String>,
    /// `write` by default.
    access: Option<AccessWord>,
    /// Takes all data breakpoints away first.
    clear: Option<bool>,
    frame_id: Option<i64>,
    session_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AccessWord {
    Write,
    Read,
    ReadWrite,
}

/// Shows machine instructions where a frame stands.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct DisassembleInput {
    /// Instead of the frame's place.
    address: Option<String>,
    /// Instructions to begin before (negative) or after it.
    offset: Option<i64>,
    /// 20 by default.
    count: Option<i64>,
    frame_id: Option<i64>,
    session_id: Option<String>,
}

/// Shows bytes of the program's memory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ReadMemoryInput {
    /// An address, or a variable whose memory is meant.
    address: String,
    offset: Option<i64>,
    /// 128 by default.
    count: Option<i64>,
    frame_id: Option<i64>,
    session_id: Option<String>,
}

debug_tool!(
    SetDataBreakpoint,
    "set_data_breakpoint",
    &[],
    SetDataBreakpointInput,
    Risk::Read,
    set_data_breakpoint,
    plain_preview
);
debug_tool!(Disassemble, "disassemble", &[], DisassembleInput, Risk::Read, disassemble, plain_preview);
debug_tool!(ReadMemory, "read_memory", &[], ReadMemoryInput, Risk::Read, read_memory, plain_preview);

impl DebugService {
    async fn set_data_breakpoint(&self, _: &ToolContext, input: SetDataBreakpointInput) -> Result<Answer> {
        let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_deref()).await?;
        session.stopped()?;
        if input.clear == Some(true) {
            session.clear_data_breakpoints().await?;
        }
        if let Some(expression) = &input.expression {
            let access = match input.access {
                None | Some(AccessWord::Write) => Access::Write,
                Some(AccessWord::Read) => Access::Read,
                Some(AccessWord::ReadWrite) => Access::ReadWrite,
            };
            session.set_data_breakpoint(frame, expression, access).await?;
        }
        let rows: Vec<_> = session
            .data_breakpoints()
            .into_iter()
            .map(|place| {
                let mut row = json!({ "expression": place.expression, "access": place.access.name(),
                    "verified": place.verified });
                if let Some(message) = place.message {
                    row["message"] = message.into();
                }
                row
            })
            .collect();
        Ok(Answer::success().with("session_id", &session.id).with("data_breakpoints", rows))
    }

    async fn disassemble(&self, _: &ToolContext, input: DisassembleInput) -> Result<Answer> {
        let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_deref()).await?;
        session.stopped()?;
        let address = match input.address {
            Some(address) => address,
            None => instruction_of(&session, frame).await?,
        };
        let count = input.count.unwrap_or(INSTRUCTIONS).clamp(1, MOST_INSTRUCTIONS);
        let listing = session.disassemble(&address, input.offset.unwrap_or_default(), count).await?;
        let mut text = String::new();
        let mut symbol = None;
        for one in &listing {
            if one.symbol.is_some() && one.symbol != symbol {
                symbol.clone_from(&one.symbol);
                writeln!(text, "{}:", shortened(symbol.as_deref().unwrap_or_default(), 120)).ok();
            }
            let mark = if same_address(&one.address, &address) { '→' } else { ' ' };
            let line = one.line.map(|line| format!("  ; line {line}")).unwrap_or_default();
            writeln!(text, "{mark}{} {}{line}", one.address, shortened(&one.instruction, 120)).ok();
        }
        Ok(Answer::success().with("instructions", text.trim_end()))
    }

    async fn read_memory(&self, _: &ToolContext, input: ReadMemoryInput) -> Result<Answer> {
        let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_deref()).await?;
        session.stopped()?;
        let address = if input.address.starts_with(|first: char| first.is_ascii_digit()) {
            input.address
        } else {
            place_of(&session, frame, &input.address).await?
        };
        let count = input.count.unwrap_or(BYTES).clamp(1, MOST_BYTES);
        let memory = session.read_memory(&address, input.offset.unwrap_or_default(), count).await?;
        Ok(Answer::success()
            .with("address", &memory.address)
            .with("count", memory.bytes.len())
            .with("bytes", dump(&memory.bytes))
            .maybe("unreadable", (memory.unreadable > 0).then_some(memory.unreadable)))
    }
}

async fn instruction_of(session: &Arc<Session>, frame: i64) -> Result<String> {
    const DEEPEST: i64 = 200;
    let thread = session.top_frame_thread().await?;
    let stack = session.stack(thread, 0, DEEPEST).await?.stack_frames;
    let found = stack.into_iter().find(|one| one.id == frame);
    found.and_then(|frame| frame.instruction_pointer_reference).ok_or_else(|| Error::Unable {
        adapter: session.adapter.kind().name().to_owned(),
        what: "tell the address of a frame".to_owned(),
        hint: Some("give `address`".to_owned()),
    })
}

/// Where an expression's value is: as the adapter says, or as C says.
async fn place_of(session: &Arc<Session>, frame: i64, expression: &str) -> Result<String> {
    let value = session.evaluate(expression, Some(frame), "watch").await?;
    if let Some(reference) = value.memory_reference.filter(|reference| !reference.is_empty()) {
        return Ok(reference);
    }
    let address = session.evaluate(&format!("&({expression})"), Some(frame), "watch").await.ok();
    let found = address.and_then(|address| {
        let at = address.value.find("0x")?;
        let digits = address.value[at + 2..].chars().take_while(char::is_ascii_hexdigit).count();
        Some(address.value[at..at + 2 + digits].to_owned())
    });
    found.ok_or_else(|| Error::parameter(format!("`{expression}` has no address that is known")))
}

fn same_address(one: &str, other: &str) -> bool {
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    number(one).is_some() && number(one) == number(other)
}

/// Sixteen bytes a line, as numbers and as letters.
fn dump(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (at, line) in bytes.chunks(BYTES_OF_A_LINE).enumerate() {
        let numbers: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let letters: String = line
            .iter()
            .map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' })
            .collect();
        writeln!(text, "+{:04x} {:<47} {letters}", at * BYTES_OF_A_LINE, numbers.join(" ")).ok();
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{dump, same_address};

    #[test]
    fn bytes_are_shown_as_numbers_and_letters() {
        let bytes: Vec<u8> = b"Ada\0\xff tea and cake".to_vec();
        assert_eq!(
            dump(&bytes),
            "+0000 41 64 61 00 ff 20 74 65 61 20 61 6e 64 20 63 61 Ada.. tea and ca\n\
             +0010 6b 65                                           ke"
        );
        assert_eq!(dump(&[]), "");
    }

    #[test]
    fn addresses_are_compared_as_numbers() {
        for (one, other, same) in
            [("0x401136", "0x0000000000401136", true), ("0x1", "0x2", false), ("", "", false)]
        {
            assert_eq!(same_address(one, other), same, "{one} {other}");
        }
    }
}
