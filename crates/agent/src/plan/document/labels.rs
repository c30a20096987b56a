//! The labelled lines of a step: `Expected: ...`, `Result: ...`, `Checked: ...`.

/// What a labelled line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    Expected,
    Result,
    Checked,
}

const LABELS: [(&str, Label); 12] = [
    ("expected outcome", Label::Expected),
    ("expected result", Label::Expected),
    ("expected", Label::Expected),
    ("outcome", Label::Expected),
    ("预期结果", Label::Expected),
    ("预期", Label::Expected),
    ("result", Label::Result),
    ("结果", Label::Result),
    ("checked", Label::Checked),
    ("evidence", Label::Checked),
    ("验证", Label::Checked),
    ("证据", Label::Checked),
];

/// Splits a line that begins with a label, also with a bullet or in bold.
pub fn label_of(line: &str) -> Option<(Label, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim_start();
    let line = line.trim_start_matches(['*', '_']);
    LABELS.into_iter().find_map(|(name, label)| {
        let start = line.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name))?;
        let rest = line[start.len()..].trim_start_matches(['*', '_']).trim_start();
        let rest = rest.strip_prefix(':').or_else(|| rest.strip_prefix('：'))?;
        Some((label, rest.trim_start_matches(['*', '_']).trim()))
    })
}

/// Splits a description that names its expected outcome in the same line: `Do it. Expected: it is done`.
pub fn inline_expected(text: &str) -> Option<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    let names = ["expected outcome:", "expected result:", "expected:", "预期结果：", "预期：", "预期:"];
    let (start, name) = names.iter().find_map(|name| Some((lower.find(name)?, *name)))?;
    let before = text.get(..start)?.trim_end_matches([' ', '(', '-', '—', '–', '*', ';', '（']);
    let after = text.get(start + name.len()..)?.trim_start_matches(['*', ' ']);
    let closes = text[..start].contains(['(', '（']);
    let after = if closes { after.trim_end_matches([')', '）']) } else { after };
    Some((before, after))
}
