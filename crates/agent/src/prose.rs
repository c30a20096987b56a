//! The stretches of a Markdown text that are no code.

/// Calls back with every stretch of a Markdown text that is no code.
pub(crate) fn outside_code(text: &str, mut each: impl FnMut(&str)) {
    outside_fences(text, |paragraph| outside_spans(paragraph, &mut each));
}

/// Calls back with every paragraph that is not in a fenced block of code.
pub(crate) fn outside_fences(text: &str, mut each: impl FnMut(&str)) {
    let mut fence: Option<(char, usize)> = None;
    let mut paragraph = String::new();
    let flush = |paragraph: &mut String, each: &mut dyn FnMut(&str)| {
        each(paragraph);
        paragraph.clear();
    };
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let mark = trimmed.chars().next().filter(|c| *c == '`' || *c == '~');
        let length = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        match (fence, mark) {
            (Some((open, least)), Some(mark)) if mark == open && length >= least => {
                // Only a line of nothing else closes a fence.
                if trimmed[length..].trim().is_empty() {
                    fence = None;
                }
            }
            (Some(_), _) => {}
            (None, Some(mark)) if length >= 3 && !(mark == '`' && trimmed[length..].contains('`')) => {
                flush(&mut paragraph, &mut each);
                fence = Some((mark, length));
            }
            (None, _) if trimmed.trim().is_empty() => {
                paragraph.push_str(line);
                flush(&mut paragraph, &mut each);
            }
            (None, _) => paragraph.push_str(line),
        }
    }
    flush(&mut paragraph, &mut each);
}

/// The stretches between code spans. A run of backticks that nothing closes is text.
fn outside_spans(text: &str, each: &mut dyn FnMut(&str)) {
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let ticks = rest[at..].chars().take_while(|c| *c == '`').count();
        let inside = &rest[at + ticks..];
        let Some(end) = closing(inside, ticks) else {
            each(&rest[..at]);
            rest = inside;
            continue;
        };
        each(&rest[..at]);
        rest = &inside[end + ticks..];
    }
    each(rest);
}

/// Where a run of exactly so many backticks begins.
fn closing(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let length = text[start..].chars().take_while(|c| *c == '`').count();
        if length == ticks {
            return Some(start);
        }
        at = start + length;
    }
    None
}
