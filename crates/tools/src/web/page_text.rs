//! A page as Markdown: its main text, or all of it.

/// Elements that are nested deeper are not converted: the converters call themselves for each level.
const DEEPEST: usize = 256;
/// Stack of the thread that converts.
const STACK: usize = 64 * 1024 * 1024;
/// Elements without an end.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr", "p", "li", "td", "tr", "th", "dd", "dt", "option",
];

/// What is read of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Main,
    Whole,
}

#[derive(Debug)]
pub(super) struct PageText {
    pub title: Option<String>,
    pub text: String,
}

/// Converts a page on a thread of its own. A page that is nested too deep gives its bare text.
pub(super) fn convert(html: String, url: String, part: Part) -> PageText {
    if depth(&html) > DEEPEST {
        return PageText { title: None, text: bare_text(&html) };
    }
    let fallback = html.clone();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || markdown(&html, &url, part));
    let converted = thread.ok().and_then(|thread| thread.join().ok());
    converted.unwrap_or_else(|| PageText { title: None, text: bare_text(&fallback) })
}

fn markdown(html: &str, url: &str, part: Part) -> PageText {
    let article = match part {
        Part::Main => dom_smoothie::Readability::new(html, Some(url), None)
            .and_then(|mut page| page.parse())
            .ok()
            .filter(|article| article.text_content.trim().len() > 200),
        Part::Whole => None,
    };
    let title =
        article.as_ref().map(|article| article.title.trim().to_owned()).filter(|title| !title.is_empty());
    let source = article.as_ref().map_or(html, |article| &article.content);
    let converter = htmd::HtmlToMarkdown::builder()
        .skip_tags(vec!["script", "style", "noscript", "template", "svg", "iframe", "head"])
        .build();
    let text = converter.convert(source).unwrap_or_else(|_| bare_text(source));
    let title = title.or_else(|| element_text(html, "title"));
    PageText { title, text: tidy(&text) }
}

/// No more than one empty line in a row, and no blanks at the ends of lines.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty <= 1 {
            tidied.push_str(line);
            tidied.push('\n');
        }
    }
    tidied.trim().to_owned()
}

fn element_text(html: &str, name: &str) -> Option<String> {
    let start = html.to_ascii_lowercase().find(&format!("<{name}"))?;
    let inner = html[start..].split_once('>')?.1;
    let text = inner.split('<').next()?.trim();
    (!text.is_empty()).then(|| text.chars().take(300).collect())
}

/// How deep elements are nested, at most.
fn depth(html: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0usize);
    for tag in html.split('<').skip(1) {
        let is_end = tag.starts_with('/');
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .take(16)
            .collect::<String>()
            .to_ascii_lowercase();
        if name.is_empty() || VOID.contains(&name.as_str()) {
            continue;
        }
        if is_end {
            open = open.saturating_sub(1);
        } else if !tag.split('>').next().unwrap_or_default().ends_with('/') {
            open += 1;
            deepest = deepest.max(open);
        }
    }
    deepest
}

/// The text between tags, without scripts and styles.
fn bare_text(html: &str) -> String {
    let mut text = String::new();
    let mut skipped: Option<&str> = None;
    for piece in html.split('<') {
        let (tag, rest) = piece.split_once('>').unwrap_or(("", piece));
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n', '\t'])
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        match (skipped, tag.starts_with('/')) {
            (Some(until), true) if name == until => skipped = None,
            (Some(_), _) => continue,
            (None, false) => skipped = ["script", "style"].into_iter().find(|skip| *skip == name),
            (None, true) => {}
        }
        if skipped.is_none() && !rest.trim().is_empty() {
            text.push_str(rest.trim());
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_markdown_without_scripts() {
        let article = "A sentence of the article that is long enough to be one. ".repeat(12);
        let html = format!(
            "<html><head><title>A title</title><script>var evil = 1;</script></head><body><nav><a href='/x'>menu</a></nav><article><h1>Heading</h1><p>{article}</p><ul><li><a href='/more'>More</a></li></ul><pre><code>let x = 1;</code></pre></article></body></html>"
        );
        let main = convert(html.clone(), "https://example.org/a".into(), Part::Main);
        assert_eq!(main.title.as_deref(), Some("A title"));
        assert!(
            main.text.contains("A sentence of the article") && !main.text.contains("evil"),
            "{}",
            main.text
        );
        let whole = convert(html, "https://example.org/a".into(), Part::Whole);
        assert!(whole.text.contains("[menu](/x)") && whole.text.contains("# Heading"), "{}", whole.text);
        assert!(whole.text.contains("let x = 1;"));
    }

    #[test]
    fn deep_and_torn_pages_do_not_overflow_the_stack() {
        let deep = format!("{}<p>inside</p><script>x</script>", "<div>".repeat(200_000));
        let read = convert(deep, "https://example.org".into(), Part::Main);
        assert!(
            read.text.contains("inside") && !read.text.contains('x'),
            "{}",
            &read.text[..100.min(read.text.len())]
        );
        for torn in ["", "<", "<div", "</", "<<<<", "plain text", "<p>a<p>b", "<!--"] {
            convert(torn.to_owned(), "https://example.org".into(), Part::Main);
        }
    }
}
