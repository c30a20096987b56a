//! The request of a run: from the arguments, a file or standard input, with images.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use stepwell_protocol::{Image, Part};
use stepwell_workspace::files;

use crate::args::{InputFormat, RunArgs};
use crate::doors::demo::DEMO_VARIABLE;
use crate::language::Language;
use crate::report;
use crate::terminal;

/// What a model takes at most in one image, as most providers have it.
const IMAGE_LIMIT: u64 = 20 << 20;
/// A request longer than this belongs in a file the agent can read.
const PROMPT_LIMIT: u64 = 10 << 20;

/// How long standard input may say nothing before the person is told what is waited for.
const SILENCE: Duration = Duration::from_secs(3);

/// The parts of the first message; `None` when nothing was given and there is no pipe to read from.
pub fn read(args: &RunArgs) -> anyhow::Result<Option<Vec<Part>>> {
    let here = crate::assemble::current_dir()?;
    let given = match &args.prompt_file {
        Some(path) => Some(prompt_file(&super::beside(&here, path))?),
        None if args.prompt.is_empty() => None,
        None => Some(join_arguments(&args.prompt)?),
    };
    let reads_pipe = match &given {
        // It stands where the `-` is.
        Some(_) if args.prompt.iter().any(|word| word == "-") => false,
        Some(_) => true,
        // With --resume a run may go on without a word, so a pipe nobody writes to is not waited for.
        None => args.resume.is_none() || args.edit.is_some(),
    };
    let piped = if reads_pipe && is_piped(args) { Some(standard_input()?) } else { None };
    let piped = piped.filter(|text| !text.trim().is_empty());
    let text = match (given, piped) {
        (Some(given), Some(piped)) => {
            Some(format!("{}\n\n<stdin>\n{}\n</stdin>", given.trim_end(), piped.trim_end_matches('\n')))
        }
        (given, piped) => given.or(piped),
    };
    let text = text.filter(|text| !text.trim().is_empty());
    if text.is_none() && args.image.is_empty() {
        return Ok(None);
    }
    let mut parts: Vec<Part> = text.map(Part::text).into_iter().collect();
    for path in &args.image {
        parts.push(Part::Image { image: read_image(&super::beside(&here, path))? });
    }
    Ok(Some(parts))
}

/// Whether standard input is for the request: not a terminal, no program that talks, and not what the demo inherited.
fn is_piped(args: &RunArgs) -> bool {
    args.input_format == InputFormat::Text
        && !std::io::stdin().is_terminal()
        && std::env::var_os(DEMO_VARIABLE).is_none()
}

fn prompt_file(path: &Path) -> anyhow::Result<String> {
    let wrong = |problem: String| report::usage(problem, "give a text file of at most 10 MB");
    let size = files::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
    if size > PROMPT_LIMIT {
        return Err(wrong(format!("`{}` has {size} bytes", path.display())));
    }
    files::read_to_string(path).map_err(|error| wrong(error.to_string()))
}

fn join_arguments(words: &[String]) -> anyhow::Result<String> {
    let mut text = String::new();
    for word in words {
        if word == "-" {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&standard_input()?);
        } else {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
        }
    }
    Ok(text)
}

fn standard_input() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    tell_silence();
    std::io::stdin().lock().take(PROMPT_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > PROMPT_LIMIT {
        return Err(report::usage(
            "standard input is longer than 10 MB",
            "put it into a file of the workspace and name the file in the request",
        ));
    }
    String::from_utf8(bytes)
        .map_err(|error| report::usage(format!("standard input is not UTF-8: {error}"), "convert it first"))
}

/// Says what is waited for where nothing comes: who started us may have left a pipe open by mistake.
fn tell_silence() {
    let stdin = std::io::stdin();
    let mut waiting = [rustix::event::PollFd::new(&stdin, rustix::event::PollFlags::IN)];
    let silence = rustix::event::Timespec { tv_sec: SILENCE.as_secs() as i64, tv_nsec: 0 };
    if matches!(rustix::event::poll(&mut waiting, Some(&silence)), Ok(0)) {
        terminal::error_line(
            Language::choose(None).word("waiting for standard input to end; `< /dev/null` gives none"),
        );
    }
}

fn read_image(path: &Path) -> anyhow::Result<Image> {
    let wrong =
        |error: stepwell_workspace::Error| report::usage(error.to_string(), "give the path of an image");
    let size = files::metadata(path).map_err(wrong)?.len();
    if size > IMAGE_LIMIT {
        return Err(report::usage(
            format!("the image `{}` has {size} bytes; models take at most {IMAGE_LIMIT}", path.display()),
            "make it smaller",
        ));
    }
    let bytes = files::read(path).map_err(wrong)?;
    let media_type = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => {
            return Err(report::usage(
                format!("`{}` is no PNG, JPEG, GIF or WebP image", path.display()),
                "convert it first",
            ));
        }
    };
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    Ok(Image { media_type: media_type.into(), data })
}
