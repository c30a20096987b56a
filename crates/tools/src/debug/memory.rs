//! Disassembly and memory of a stopped program.

use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_debug::ids::{AdapterFrameId, FrameId, SessionId};
use stepwell_debug::session::Session;
use stepwell_debug::values::shortened;
use stepwell_debug::{Error, Result};
use stepwell_protocol::Risk;
use stepwell_tool_runtime::ToolContext;

use super::answer::Success;
use super::debug_tool;
use super::service::DebugService;

const INSTRUCTIONS: i64 = 20;
const MOST_INSTRUCTIONS: i64 = 200;
const BYTES: i64 = 128;
const MOST_BYTES: i64 = 4096;
const BYTES_OF_A_LINE: usize = 16;

/// Shows machine instructions where a frame stands.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct DisassembleInput {
    /// Instead of the frame's place.
    address: Option<String>,
    /// Instructions to begin before (negative) or after it.
    offset: Option<i64>,
    /// 20 by default.
    count: Option<i64>,
    frame_id: Option<FrameId>,
    session_id: Option<SessionId>,
}

/// Shows bytes of the program's memory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct ReadMemoryInput {
    /// An address, or a variable whose memory is meant.
    address: String,
    offset: Option<i64>,
    /// 128 by default.
    count: Option<i64>,
    frame_id: Option<FrameId>,
    session_id: Option<SessionId>,
}

debug_tool!(Disassemble, "disassemble", &[], DisassembleInput => Success<DisassemblyBody>, Risk::Read, disassemble, plain_preview);
debug_tool!(ReadMemory, "read_memory", &[], ReadMemoryInput => Success<MemoryBody>, Risk::Read, read_memory, plain_preview);

/// Machine instructions, one per line; an arrow marks the address that was asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DisassemblyBody {
    instructions: String,
}

/// Bytes of memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryBody {
    address: String,
    count: usize,
    /// Sixteen bytes a line, as hexadecimal numbers and as characters.
    bytes: String,
    /// How many of the bytes asked for cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<u64>,
}

impl DebugService {
    async fn disassemble(
        &self,
        _: &ToolContext,
        input: DisassembleInput,
    ) -> Result<Success<DisassemblyBody>> {
        let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_ref()).await?;
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
        Ok(Success::new(DisassemblyBody { instructions: text.trim_end().to_owned() }))
    }

    async fn read_memory(&self, _: &ToolContext, input: ReadMemoryInput) -> Result<Success<MemoryBody>> {
        let (session, frame) = self.frame_or_top(input.frame_id, input.session_id.as_ref()).await?;
        session.stopped()?;
        let address = if input.address.starts_with(|first: char| first.is_ascii_digit()) {
            input.address
        } else {
            if !is_place(&input.address) {
                return Err(Error::Parameter {
                    what: format!("`{}` is neither an address nor a variable", input.address),
                    hint: Some(
                        "`evaluate_expression` evaluates expressions, which may change the program"
                            .to_owned(),
                    ),
                });
            }
            address_of(&session, frame, &input.address).await?
        };
        let count = input.count.unwrap_or(BYTES).clamp(1, MOST_BYTES);
        let memory = session.read_memory(&address, input.offset.unwrap_or_default(), count).await?;
        Ok(Success::new(MemoryBody {
            address: memory.address,
            count: memory.bytes.len(),
            bytes: dump(&memory.bytes),
            unreadable: (memory.unreadable > 0).then_some(memory.unreadable),
        }))
    }
}

async fn instruction_of(session: &Arc<Session>, frame: AdapterFrameId) -> Result<String> {
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

/// Whether a text names a variable, a part of one or what it points to. Such a text can be evaluated without changing the
/// program.
fn is_place(text: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || "_.$:*&[]-> ".contains(letter);
    text.starts_with(|first: char| first.is_alphabetic() || "_$*&".contains(first))
        && text.chars().all(plain)
        && !text.contains("--")
        && !text.replace("->", "").contains(['-', '>'])
}

/// Returns the address of an expression's value: by the adapter's memory reference, or by C's `&`.
async fn address_of(session: &Arc<Session>, frame: AdapterFrameId, expression: &str) -> Result<String> {
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

/// Formats sixteen bytes a line, as hexadecimal numbers and as characters.
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
    use super::{dump, is_place, same_address};

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
    fn only_variables_are_evaluated_for_their_memory() {
        let rows = [
            ("total", true),
            ("self.items[2]", true),
            ("*node->next", true),
            ("&账户", true),
            ("f()", false),
            ("x = 3", false),
            ("i--", false),
            ("-1", false),
            ("a > b", false),
            ("", false),
        ];
        for (text, expected) in rows {
            assert_eq!(is_place(text), expected, "{text}");
        }
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
