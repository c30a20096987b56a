//! The text of a PDF, page by page, found by a process of its own.

mod extract;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stepwell_protocol::OutputStream;
use stepwell_sandbox::{Network, UnixSockets};
use stepwell_tool_runtime::{ToolError, counted};
use stepwell_workspace::process::{self, Ending, Environment, KeepOutput, ProgramCall};
use tokio_util::sync::CancellationToken;

use super::Document;
use crate::catalog::CatalogOptions;
use crate::{Confinement, secret_variables};

pub use extract::{PDF_TEXT_WORD, main as pdf_text_main};

/// For one document.
pub const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Bytes of the process's answer that are kept; it has a smaller bound of its own.
const LARGEST_ANSWER: usize = 32 * 1024 * 1024;

/// What the process tells, a line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Told {
    /// The document cannot be read.
    Problem(String),
    Pages(usize),
    /// The next page's text.
    Page(String),
    /// The next page cannot be read.
    BadPage(String),
}

/// Starts the process that reads a PDF.
#[derive(Clone, Debug)]
pub struct PdfReader {
    program: OsString,
    removed: Vec<OsString>,
    confinement: Confinement,
}

impl PdfReader {
    /// The reader, if there is a program that can be one.
    pub fn new(options: &CatalogOptions) -> Option<Self> {
        let program = options.own_program.clone()?.into_os_string();
        let mut removed: Vec<OsString> = options.removed_variables.iter().map(OsString::from).collect();
        removed.extend(secret_variables().into_iter().map(|(name, _)| OsString::from(name)));
        Some(Self { program, removed, confinement: options.confinement.clone() })
    }

    /// The text of a PDF; `name` is what the person calls it.
    pub async fn text(
        &self,
        name: &str,
        bytes: Vec<u8>,
        time_limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Document, ToolError> {
        let failed = |problem: String| {
            ToolError::execution(format!("`{name}` is a PDF whose text cannot be read: {problem}"))
        };
        let call = ProgramCall {
            program: self.program.clone(),
            arguments: vec![PDF_TEXT_WORD.into()],
            folder: PathBuf::from("/"),
            environment: Environment { removed: self.removed.clone(), set: Vec::new() },
            input: Some(bytes),
            time_limit,
            keep: KeepOutput { memory: 0, file: None, file_limit: 0 },
        };
        let call = self.confined(call).map_err(|error| failed(error.to_string()))?;
        let mut answer = String::new();
        let ran = process::run(call, cancel, |stream, text| {
            if stream == OutputStream::Stdout && answer.len() < LARGEST_ANSWER {
                answer.push_str(text);
            }
        });
        let ending = ran.await.map_err(|error| failed(error.to_string()))?.ending;
        if ending == Ending::Cancelled {
            return Err(ToolError::interrupted(format!("reading `{name}` was stopped")));
        }
        document(&answer, ending).map_err(failed)
    }

    /// The text of a PDF that is no file of the workspace.
    pub async fn plain_text(
        &self,
        name: &str,
        bytes: Vec<u8>,
        cancel: &CancellationToken,
    ) -> Result<String, ToolError> {
        Ok(self.text(name, bytes, TIME_LIMIT, cancel).await?.text)
    }

    /// The process needs nothing but its input: it can write nowhere and reach nobody.
    fn confined(&self, call: ProgramCall) -> Result<ProgramCall, stepwell_sandbox::Error> {
        let Confinement::Walls(walls) = &self.confinement else { return Ok(call) };
        let mut policy = walls.policy.clone();
        policy.writable.clear();
        policy.network = Network::None;
        policy.unix_sockets = UnixSockets::Refused;
        policy.withheld = None;
        walls.sandbox.confine(&policy, call)
    }
}

/// What the process told, as one text; or why it told nothing.
fn document(answer: &str, ending: Ending) -> Result<Document, String> {
    let early = match ending {
        Ending::Exited(0) => None,
        Ending::TimedOut => Some("it takes too long to read"),
        Ending::Exited(_) | Ending::Signalled(_) | Ending::Cancelled => {
            Some("it is damaged, or needs too much memory")
        }
    };
    let mut told = answer.lines().map_while(|line| serde_json::from_str::<Told>(line).ok());
    let pages = match told.next() {
        Some(Told::Pages(pages)) => pages,
        Some(Told::Problem(problem)) => return Err(problem),
        Some(Told::Page(_) | Told::BadPage(_)) | None => {
            return Err(early.unwrap_or("its reader gave no answer").to_owned());
        }
    };
    let mut text = String::new();
    let (mut read, mut bad, mut letters) = (0, 0, false);
    for page in told {
        read += 1;
        text.push_str(&format!("[page {read}]\n"));
        match page {
            Told::Page(page) => {
                letters |= !page.trim().is_empty();
                push_page(&mut text, &page);
            }
            Told::BadPage(problem) | Told::Problem(problem) => {
                bad += 1;
                text.push_str(&format!("(cannot be read: {})\n", problem.replace('\n', " ")));
            }
            Told::Pages(_) => break,
        }
    }
    let mut note = format!("PDF document, {}, as text", counted(pages as u64, "page"));
    if read < pages {
        let why = early.unwrap_or("the rest is too large");
        note.push_str(&format!("; reading ended after page {read}: {why}"));
    }
    if !letters && bad == 0 && read > 0 {
        note.push_str("; it holds none, only pictures of pages perhaps");
    }
    Ok(Document { text, note, images: Vec::new() })
}

/// A page without the blank lines at its ends, and never more than one in a row.
fn push_page(text: &mut String, page: &str) {
    let mut blank = false;
    for line in page.trim().lines().map(str::trim_end) {
        if !(line.is_empty() && blank) {
            text.push_str(line);
            text.push('\n');
        }
        blank = line.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(answer: &str, ending: Ending, expected: Expect) {
        let shown = match document(answer, ending) {
            Ok(document) => format!("{}({})", document.text, document.note),
            Err(problem) => format!("error: {problem}"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn whatever_becomes_of_the_process_is_an_answer() {
        let two = "{\"pages\":2}\n{\"page\":\"a\\n\\n\\nb \\n\"}\n";
        let done = Ending::Exited(0);
        check(
            &format!("{two}{{\"bad_page\":\"no font\"}}\n"),
            done,
            expect![[r"
                [page 1]
                a

                b
                [page 2]
                (cannot be read: no font)
                (PDF document, 2 pages, as text)"]],
        );
        let early = |why: &str| {
            format!("[page 1]\na\n\nb\n(PDF document, 2 pages, as text; reading ended after page 1: {why})")
        };
        for (ending, why) in [
            (done, "the rest is too large"),
            (Ending::TimedOut, "it takes too long to read"),
            (Ending::Signalled(6), "it is damaged, or needs too much memory"),
        ] {
            let document = document(&format!("{two}{{\"page\":\"cu"), ending).expect("a page");
            assert_eq!(format!("{}({})", document.text, document.note), early(why));
        }
        check("", Ending::Signalled(11), expect!["error: it is damaged, or needs too much memory"]);
        check("", Ending::TimedOut, expect!["error: it takes too long to read"]);
        check("", done, expect!["error: its reader gave no answer"]);
        check("garbage\n", done, expect!["error: its reader gave no answer"]);
        check("{\"problem\":\"no trailer\"}\n", done, expect!["error: no trailer"]);
        check("{\"pages\":0}\n", done, expect!["(PDF document, 0 pages, as text)"]);
        check(
            "{\"pages\":1}\n{\"page\":\" \"}\n",
            done,
            expect![[r"
                [page 1]
                (PDF document, 1 page, as text; it holds none, only pictures of pages perhaps)"]],
        );
    }
}
