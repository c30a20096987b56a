//! Embeddings at the command line: `index build` makes them, `index search` uses them.

use std::io::IsTerminal;

use stepwell_code_intel::ask::{Ask, SearchHits, SearchRequest};
use stepwell_code_intel::embeddings::{Embeddings, Missing};

use super::IndexedFolder;
use crate::report;
use crate::terminal::error_line;

/// Embeddings that a search makes by itself; more are made by `stepwell index build`.
const FEW: usize = 256;

/// Makes the embeddings that are missing, where the settings name a server for them.
pub fn build(folder: &IndexedFolder<'_>) -> anyhow::Result<()> {
    let Some(embeddings) = folder.assembly.embeddings()? else { return Ok(()) };
    crate::wait(async {
        let mut missing = embeddings.missing(folder.index);
        let all = missing.count;
        while !missing.symbols.is_empty() {
            let (left, before) = (missing.count, all.saturating_sub(missing.count));
            if let Some(why) = make(folder, &embeddings, missing, (before, all)).await {
                return Err(report::failed(
                    format!("embeddings could not be made: {why}"),
                    "what was made is kept; look at `code.embeddings` in your settings and run this again",
                ));
            }
            missing = embeddings.missing(folder.index);
            if missing.count >= left {
                return Err(report::failed(
                    "embeddings could not be kept",
                    "make room on the disk, or look at who owns Stepwell's data folder",
                ));
            }
        }
        Ok(())
    })
}

/// Finds code by words, and by meaning where the settings name a server.
pub fn search(folder: &IndexedFolder<'_>, request: &SearchRequest<'_>) -> anyhow::Result<SearchHits> {
    let ask = Ask::new(folder.index);
    let Some(embeddings) = folder.assembly.embeddings()? else { return Ok(ask.search(request)?) };
    crate::wait(async {
        let (vector, note) = match embeddings.question(request.words).await {
            Ok(vector) => {
                let missing = embeddings.missing(folder.index);
                let note = if missing.count > FEW {
                    let (made, all) = (missing.all - missing.count, missing.all);
                    Some(format!(
                        "{made} of {all} symbols have an embedding; `stepwell index build` makes the others"
                    ))
                } else {
                    let failure = make(folder, &embeddings, missing, (0, FEW)).await;
                    failure.map(|why| format!("embeddings of what changed could not be made: {why}"))
                };
                (Some(vector), note)
            }
            Err(why) => (None, Some(why)),
        };
        let vector = vector.as_ref().map(|vector| (embeddings.as_ref(), vector));
        let mut answer = ask.search(&SearchRequest { vector, ..*request })?;
        answer.notes.extend(note);
        Ok(answer)
    })
}

/// Makes and stores embeddings; returns why some could not be made.
async fn make(
    folder: &IndexedFolder<'_>,
    embeddings: &Embeddings,
    missing: Missing,
    (before, all): (usize, usize),
) -> Option<String> {
    let is_shown = all > FEW && std::io::stderr().is_terminal();
    let words = folder.language.word("making embeddings");
    let mut told = 0;
    let on_progress = |made: usize| {
        let percent = (before + made) * 10 / all.max(1) * 10;
        if is_shown && percent > told {
            told = percent;
            error_line(&format!("{words}: {percent} % ({}/{all})", before + made));
        }
    };
    let (made, failure) = embeddings.make(missing.symbols, on_progress).await;
    embeddings.keep(made);
    failure
}
