//! The process that reads a PDF: the product's own program, started once more for one document.
//!
//! What reads PDF was not made for hostile files; it may panic, loop or fill the memory. So it runs in a process of its
//! own, with bounds, and whatever becomes of it is an answer to the one who started it. Pages are told as they are
//! found: those before a crash are kept.

use std::io::{self, Read, Write};

use lopdf::{Document, LoadOptions};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::Told;

/// The word after the program's name that makes it the reader of a PDF.
pub const PDF_TEXT_WORD: &str = "pdf-text";

/// Bytes of a document; the one who asks has a smaller bound of its own.
const LARGEST_INPUT: u64 = 64 * 1024 * 1024;
const LARGEST_MEMORY: u64 = 2 * 1024 * 1024 * 1024;
/// Bytes of one stream of a document once it is unpacked.
const LARGEST_STREAM: usize = 64 * 1024 * 1024;
/// Bytes that are told; more than a model reads in many calls.
const LARGEST_TEXT: usize = 16 * 1024 * 1024;
/// Deep documents are read with recursion.
const STACK: usize = 64 * 1024 * 1024;
const SECONDS: u64 = 30;

/// Reads a PDF from standard input and writes what it holds to standard output; gives the exit code.
pub fn main() -> u8 {
    // A limit that the system refuses is still held by the time limit of the one who waits.
    for (resource, limit) in
        [(Resource::As, LARGEST_MEMORY), (Resource::Cpu, SECONDS), (Resource::Core, 0), (Resource::Fsize, 0)]
    {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) }).ok();
    }
    // Where it broke is nothing that anyone can act on.
    std::panic::set_hook(Box::new(|_| {}));
    let mut bytes = Vec::new();
    if io::stdin().take(LARGEST_INPUT).read_to_end(&mut bytes).is_err() {
        return 1;
    }
    let reading = std::thread::Builder::new().stack_size(STACK).spawn(move || tell_pages(&bytes));
    match reading.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => 0,
        _ => 1,
    }
}

fn tell_pages(bytes: &[u8]) -> io::Result<()> {
    let options = LoadOptions { max_decompressed_size: Some(LARGEST_STREAM), ..LoadOptions::default() };
    let document = match Document::load_mem_with_options(bytes, options) {
        Ok(document) => document,
        Err(error) => return tell(&Told::Problem(error.to_string())).map(|_| ()),
    };
    let pages = document.get_pages();
    tell(&Told::Pages(pages.len()))?;
    let mut left = LARGEST_TEXT;
    for number in pages.keys() {
        let page = match document.extract_text_with_limit(&[*number], LARGEST_STREAM) {
            Ok(text) => Told::Page(text),
            Err(error) => Told::BadPage(error.to_string()),
        };
        left = left.saturating_sub(tell(&page)?);
        if left == 0 {
            break;
        }
    }
    Ok(())
}

/// One line of JSON, at once; gives its size.
fn tell(told: &Told) -> io::Result<usize> {
    let mut line = serde_json::to_vec(told).map_err(io::Error::other)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()?;
    Ok(line.len())
}
