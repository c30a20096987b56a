//! What is kept and shown of a command's output.

use std::borrow::Cow;

use stepwell_protocol::{Artifact, ArtifactId, Event, OutputStream, ToolCallId};
use stepwell_tool_runtime::{Host, StreamRedactor, ToolContext, counted};
use stepwell_workspace::process::{Captured, TextFilter};

use crate::files::readable_size;

/// Bytes shown live; who wants more reads the artifact.
const LARGEST_LIVE: usize = 1024 * 1024;

/// Hides secrets before output is kept: the file of a long one lies on the disk as it is written.
pub(super) struct Redacted(pub StreamRedactor);

impl TextFilter for Redacted {
    fn push(&mut self, text: &str) -> String {
        self.0.push(text)
    }

    fn finish(&mut self) -> String {
        self.0.finish()
    }
}

/// Shows output live, up to a limit.
pub(super) fn show(ctx: &ToolContext, stream: OutputStream, text: &str, shown: &mut usize) {
    show_to(&*ctx.host, &ctx.call_id, stream, text, shown);
}

pub(super) fn show_to(
    host: &dyn Host,
    call_id: &ToolCallId,
    stream: OutputStream,
    text: &str,
    shown: &mut usize,
) {
    if *shown >= LARGEST_LIVE {
        return;
    }
    *shown += text.len();
    let mut chunk = text.to_owned();
    if *shown >= LARGEST_LIVE {
        chunk.push_str("\n[live output ends here; the command goes on]\n");
    }
    host.show(Event::ToolOutput { call_id: call_id.clone(), stream, chunk });
}

/// What is shown of output that was read from the background: its end, when it is long.
pub(super) fn cut((text, lost): (String, u64)) -> String {
    const LONGEST: usize = 40 * 1024;
    let start = text.ceil_char_boundary(text.len().saturating_sub(LONGEST));
    let omitted = lost + start as u64;
    if omitted == 0 {
        return text;
    }
    format!("[{} before this are left out]\n{}", counted(omitted, "byte"), &text[start..])
}

pub(super) fn artifact(id: ArtifactId, output: &Captured) -> Option<Artifact> {
    let (path, bytes) = output.file.as_ref()?;
    Some(Artifact {
        id,
        label: match first_part(output) {
            Some(part) => format!("{part} of the output of bash"),
            None => "full output of bash".to_owned(),
        },
        path: path.display().to_string(),
        bytes: *bytes,
        media_type: "text/plain".to_owned(),
    })
}

/// What is shown of an output: all of it, or both ends and where the whole is.
pub(super) fn joined(output: &Captured) -> String {
    if output.omitted_bytes == 0 {
        return output.head.clone();
    }
    let place = match (&output.file, first_part(output)) {
        (Some((path, _)), Some(part)) => {
            format!("{part} of the output are in {}; read it with offset and limit", path.display())
        }
        (Some((path, _)), None) => {
            format!("the whole is in {}; read it with offset and limit", path.display())
        }
        (None, _) => "the rest was not kept".to_owned(),
    };
    // The cut falls into lines; half lines on both sides are left out too.
    let head = output.head.rfind('\n').map_or(output.head.as_str(), |end| &output.head[..=end]);
    let tail = output.tail.find('\n').map_or(output.tail.as_str(), |end| &output.tail[end + 1..]);
    let omitted = output.total_bytes - (head.len() + tail.len()) as u64;
    let gap = if head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{gap}[... {} left out; {place} ...]\n{tail}", counted(omitted, "byte"))
}

/// How much of an output its file has, where that is not all of it.
fn first_part(output: &Captured) -> Option<String> {
    let (_, bytes) = output.file.as_ref().filter(|(_, bytes)| *bytes < output.total_bytes)?;
    Some(format!("the first {}", readable_size(*bytes)))
}

/// The text with what a screen would hide or reorder written out: control, bidirectional and zero-width
/// characters.
pub(super) fn visible(text: &str) -> String {
    let hidden = |character: char| {
        character.is_control()
            || matches!(
                character,
                '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            )
    };
    let shown = text.chars().map(|character| {
        if hidden(character) { character.escape_unicode().to_string() } else { character.to_string() }
    });
    shown.collect()
}

pub(super) fn first_line(command: &str) -> Cow<'_, str> {
    const LONGEST: usize = 200;
    let line = command.lines().next().unwrap_or_default();
    let cut = line.char_indices().nth(LONGEST).map(|(end, _)| end);
    match cut {
        Some(end) => Cow::Owned(format!("{}… ({} characters)", &line[..end], command.chars().count())),
        None if line.len() < command.trim_end().len() => Cow::Owned(format!("{line} …")),
        None => Cow::Borrowed(line),
    }
}
