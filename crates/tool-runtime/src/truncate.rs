//! Cuts long text in the middle: how it began and how it ended say most.

/// Text that fits, and how much was left out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated {
    pub text: String,
    pub omitted_bytes: usize,
    pub omitted_lines: usize,
}

/// Cuts `text` so that it has at most `limit` bytes, what stands in the gap included. `None` when it fits.
///
/// `explain` is given the omitted bytes and lines and says what stands in the gap. Cuts fall on line ends where
/// one is near, else between characters.
pub fn cut_middle(text: &str, limit: usize, explain: impl Fn(usize, usize) -> String) -> Option<Truncated> {
    if text.len() <= limit {
        return None;
    }
    // The gap's words are longest for the largest numbers.
    let widest = explain(text.len(), text.len()).len() + 2;
    if widest >= limit {
        let head = &text[..floor(text, limit)];
        let omitted = &text[head.len()..];
        return Some(Truncated {
            text: head.to_owned(),
            omitted_bytes: omitted.len(),
            omitted_lines: lines(omitted),
        });
    }
    let room = limit - widest;
    let head_end = line_end_before(text, floor(text, room / 2), room / 8);
    let tail_start = line_start_after(text, ceil(text, text.len() - (room - room / 2)), room / 8);
    let omitted = &text[head_end..tail_start];
    let (omitted_bytes, omitted_lines) = (omitted.len(), lines(omitted));
    let mut out = String::with_capacity(limit);
    out.push_str(&text[..head_end]);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&explain(omitted_bytes, omitted_lines));
    out.push('\n');
    out.push_str(&text[tail_start..]);
    Some(Truncated { text: out, omitted_bytes, omitted_lines })
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn floor(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

fn ceil(text: &str, index: usize) -> usize {
    (index..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

fn line_end_before(text: &str, index: usize, within: usize) -> usize {
    let from = floor(text, index.saturating_sub(within));
    text[from..index].rfind('\n').map_or(index, |at| from + at + 1)
}

fn line_start_after(text: &str, index: usize, within: usize) -> usize {
    let to = floor(text, index.saturating_add(within)).max(index);
    text[index..to].find('\n').map_or(index, |at| index + at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn gap(bytes: usize, lines: usize) -> String {
        format!("[... {bytes} bytes, {lines} lines ...]")
    }

    #[test]
    fn the_middle_goes_on_line_boundaries() {
        let lines: Vec<String> = (0..100).map(|number| format!("line {number}\n")).collect();
        let text = lines.concat();
        let cut = cut_middle(&text, 200, gap).expect("too long");
        assert!(cut.text.starts_with("line 0\n"), "{}", cut.text);
        assert!(cut.text.ends_with("line 99\n"));
        assert!(cut.text.lines().all(|line| line.starts_with("line ") || line.starts_with("[...")));
        assert_eq!(cut_middle("short", 200, gap), None);
    }

    proptest! {
        #[test]
        fn never_longer_than_the_limit_and_always_text(text in "(\\PC|\n){0,300}", limit in 0usize..400) {
            match cut_middle(&text, limit, gap) {
                None => prop_assert!(text.len() <= limit),
                Some(cut) => {
                    prop_assert!(cut.text.len() <= limit);
                    prop_assert!(cut.omitted_bytes > 0);
                }
            }
        }
    }
}
