//! The proof of a fix: what a failing program showed before the change, and what the same probe shows after it.

use stepwell_protocol::{EvidenceCard, EvidenceProbe, FileDiff, Observed, ToolCall, ToolDetail, ToolResult};

use crate::transcript::{Entry, ToolCard, Transcript};

/// Probes on a card at most.
const MOST_PROBES: usize = 8;
/// Longest text of one observation, in characters.
const LONGEST: usize = 2_000;

/// Collects the evidence in a task. Empty where nothing was changed.
pub fn evidence_of(transcript: &Transcript) -> EvidenceCard {
    let cards: Vec<(&ToolCard, &ToolResult)> = transcript
        .items()
        .iter()
        .filter_map(|item| match &item.entry {
            Entry::Tool(card) => Some((card.as_ref(), card.result.as_ref()?)),
            _ => None,
        })
        .collect();
    let changes = |(_, result): &(&ToolCard, &ToolResult)| !diffs(result).is_empty();
    let (first, last) = (cards.iter().position(changes), cards.iter().rposition(changes));
    let (Some(first), Some(last)) = (first, last) else { return EvidenceCard::default() };
    let mut probes: Vec<EvidenceProbe> = Vec::new();
    for (card, result) in &cards[..first] {
        let what = described(&card.call);
        let is_known = |probe: &EvidenceProbe| probe.tool == card.call.name && probe.what == what;
        if !runs_a_program(&card.call, result) || probes.iter().any(is_known) {
            continue;
        }
        let same = |(later, _): &&(&ToolCard, &ToolResult)| {
            later.call.name == card.call.name && described(&later.call) == what
        };
        let after = cards[last + 1..].iter().rfind(same).map(|(_, result)| observed(result));
        probes.push(EvidenceProbe { tool: card.call.name.clone(), what, before: observed(result), after });
    }
    let changed_unseen = !cards[..first].iter().any(|(card, result)| runs_a_program(&card.call, result));
    probes.sort_by_key(|probe| probe.after.is_none());
    probes.truncate(MOST_PROBES);
    let files = cards.iter().flat_map(|(_, result)| diffs(result)).cloned().collect();
    let hypotheses = transcript.summary.hypotheses.clone();
    EvidenceCard { probes, files, hypotheses, changed_unseen }
}

/// The diffs of a call that changed files.
fn diffs(result: &ToolResult) -> &[FileDiff] {
    if !result.is_success() {
        return &[];
    }
    match &result.detail {
        Some(detail) => detail.files(),
        None => &[],
    }
}

/// Whether a call ran a program or looked into one.
pub fn runs_a_program(call: &ToolCall, result: &ToolResult) -> bool {
    let shows = matches!(result.detail, Some(ToolDetail::Command { .. } | ToolDetail::Stop { .. }));
    shows || call.arguments.get("command").is_some_and(|command| !command.is_null())
}

fn described(call: &ToolCall) -> String {
    let Some(command) = call.arguments.get("command") else { return call.arguments.to_string() };
    let words =
        || Some(command.as_array()?.iter().filter_map(|word| word.as_str()).collect::<Vec<_>>().join(" "));
    command.as_str().map(str::to_owned).or_else(words).unwrap_or_else(|| call.arguments.to_string())
}

fn observed(result: &ToolResult) -> Observed {
    let exit_ok = match &result.detail {
        Some(ToolDetail::Command { command }) => command.exit_code == Some(0),
        _ => true,
    };
    let text = match &result.error {
        Some(error) if result.output.trim().is_empty() => error.message.as_str(),
        _ => result.output.trim(),
    };
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(end, _)| end);
    let cut = if end < text.len() { " [...]" } else { "" };
    Observed { succeeded: result.is_success() && exit_ok, text: format!("{}{cut}", &text[..end]) }
}
