//! Headings of a Markdown text and what stands below each.

use std::ops::Range;

/// A heading and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    pub level: usize,
    pub title: &'a str,
    /// Lines between the heading and the next one of its level or above.
    pub body: Range<usize>,
}

impl Section<'_> {
    pub fn is_about_steps(&self) -> bool {
        let title = self.title.to_lowercase();
        let names_steps = title.split(|c: char| !c.is_alphanumeric()).any(|word| word == "steps");
        self.level > 1 && (names_steps || title.contains("步骤"))
    }

    pub fn is_named(&self, name: &str) -> bool {
        self.title.eq_ignore_ascii_case(name)
    }
}

/// Every section of a text. A `#` in a code block is no heading.
pub fn sections<'a>(lines: &[&'a str]) -> Vec<Section<'a>> {
    let mut found: Vec<(usize, &str, usize)> = Vec::new();
    let mut fence = None;
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => fence = Some(marker),
            (Some(open), Some(marker)) if open == marker => fence = None,
            (None, None) => found.extend(heading(line).map(|(level, title)| (level, title, index))),
            (Some(_), _) => {}
        }
    }
    let end_of = |position: usize, level: usize| {
        let next = found[position + 1..].iter().find(|(other, ..)| *other <= level);
        next.map_or(lines.len(), |(_, _, index)| *index)
    };
    let section = |(position, (level, title, index)): (usize, &(usize, &'a str, usize))| Section {
        level: *level,
        title,
        body: index + 1..end_of(position, *level),
    };
    found.iter().enumerate().map(section).collect()
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?;
    ((1..=6).contains(&level) && title.starts_with([' ', '\t'])).then(|| (level, title.trim()))
}
