//! Pages that proxies and login servers send in place of an answer.

pub(super) fn looks_like_html(text: &str) -> bool {
    let start = text.trim_start();
    let head = start.get(..start.len().min(15)).unwrap_or_default().to_ascii_lowercase();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

/// The readable words of a page, without tags, scripts and styles.
pub(super) fn words_of_html(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        out.push(' ');
        let tag = &rest[open..];
        let lower = tag.get(..7).unwrap_or_default().to_ascii_lowercase();
        let skip_to = match () {
            () if lower.starts_with("<script") => tag.find("</script"),
            () if lower.starts_with("<style") => tag.find("</style"),
            () => None,
        };
        let tag = &tag[skip_to.unwrap_or(0)..];
        match tag.find('>') {
            Some(close) => rest = &tag[close + 1..],
            None => return out,
        }
    }
    out.push_str(rest);
    out
}
