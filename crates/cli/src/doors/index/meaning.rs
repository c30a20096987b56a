//! Vectors of code at the command line: made with the index, used by a search.

use std::io::IsTerminal;

use stepwell_code_intel::embeddings::{Embeddings, Missing};
use stepwell_code_intel::search::{self, Hits, Near, Question};

use super::Looked;
use crate::report;
use crate::terminal::error_line;

/// Vectors that a search makes by itself; more are made by `stepwell index build`.
const FEW: usize = 256;

/// Makes the vectors that are missing, where the settings name a server for them.
pub fn build(looked: &Looked<'_>) -> anyhow::Result<()> {
    let Some(embeddings) = looked.assembly.embeddings()? else { return Ok(()) };
    crate::wait(async {
        let mut missing = embeddings.missing(looked.index);
        let all = missing.count;
        while !missing.pieces.is_empty() {
            let (left, before) = (missing.count, all.saturating_sub(missing.count));
            if let Some(why) = make(looked, &embeddings, missing, (before, all)).await {
                return Err(report::failed(
                    format!("embeddings could not be made: {why}"),
                    "what was made is kept; look at `code.embeddings` in your settings and run this again",
                ));
            }
            missing = embeddings.missing(looked.index);
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

/// Finds code by words, and by meaning where the settings name a server; what must be known about that comes with it.
pub fn search(looked: &Looked<'_>, question: &Question<'_>) -> anyhow::Result<(Hits, Option<String>)> {
    let index = looked.index;
    let Some(embeddings) = looked.assembly.embeddings()? else {
        return Ok((search::search(index, question), None));
    };
    crate::wait(async {
        let sought = match embeddings.question(question.words).await {
            Ok(sought) => sought,
            Err(why) => return Ok((search::search(index, question), Some(why))),
        };
        let missing = embeddings.missing(index);
        let note = if missing.count > FEW {
            let (made, all) = (missing.all - missing.count, missing.all);
            Some(format!(
                "{made} of {all} symbols have an embedding; `stepwell index build` makes the others"
            ))
        } else {
            let failure = make(looked, &embeddings, missing, (0, FEW)).await;
            failure.map(|why| format!("embeddings of what changed could not be made: {why}"))
        };
        let near = Near { embeddings: &embeddings, sought: &sought };
        Ok((search::search(index, &Question { near: Some(near), ..*question }), note))
    })
}

/// Makes and keeps vectors; why not all of them, where that is so.
async fn make(
    looked: &Looked<'_>,
    embeddings: &Embeddings,
    missing: Missing,
    (before, all): (usize, usize),
) -> Option<String> {
    let is_shown = all > FEW && std::io::stderr().is_terminal();
    let words = looked.language.pick("making embeddings", "正在生成嵌入向量");
    let mut told = 0;
    let on_progress = |made: usize| {
        let percent = (before + made) * 10 / all.max(1) * 10;
        if is_shown && percent > told {
            told = percent;
            error_line(&format!("{words}: {percent} % ({}/{all})", before + made));
        }
    };
    let (made, failure) = embeddings.make(missing.pieces, on_progress).await;
    embeddings.keep(made);
    failure
}
