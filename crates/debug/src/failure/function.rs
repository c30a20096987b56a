//! Where the function around a line begins and ends, by its looks: the debugger tells no such thing, and the code index
//! is not for programs that lie outside a workspace.

/// Lines above and below that are looked at.
const FARTHEST: usize = 400;
/// Lines of code of one function that are told.
const MOST_LINES: usize = 120;

/// What a function begins with.
const HEADS: [&str; 4] = ["def ", "fn ", "func ", "function"];
/// Words that may stand before that.
const QUALIFIERS: [&str; 12] = [
    "async",
    "pub",
    "pub(crate)",
    "pub(super)",
    "unsafe",
    "const",
    "export",
    "default",
    "static",
    "extern",
    "\"C\"",
    "inline",
];
/// What also has parentheses and a brace behind them.
const STATEMENTS: [&str; 14] = [
    "if", "for", "while", "switch", "else", "catch", "match", "return", "do", "try", "loop", "let", "await",
    "elif",
];

/// The inside of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    pub first: i64,
    pub last: i64,
    /// The lines that look like code, nearest to the place that was asked for where there are many.
    pub code: Vec<i64>,
}

impl Body {
    pub fn contains(&self, line: i64) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// The inside of the function that a line is in; what stands outside of functions has none but the lines above.
pub fn body_around(file: &str, line: i64) -> Option<Body> {
    let text = super::origin::text_of(file)?;
    let lines: Vec<&str> = text.lines().collect();
    body_in(&lines, usize::try_from(line).ok()?.checked_sub(1)?)
}

fn body_in(lines: &[&str], at: usize) -> Option<Body> {
    let failing = lines.get(at)?;
    let head = (at.saturating_sub(FARTHEST)..at)
        .rev()
        .find(|number| begins_function(lines, *number) && indent(lines[*number]) < indent(failing));
    let (first, last) = if let Some(head) = head {
        let depth = indent(lines[head]);
        let end = (at + 1..lines.len().min(at + FARTHEST))
            .find(|number| !lines[*number].trim().is_empty() && indent(lines[*number]) <= depth);
        (head + 1, end.unwrap_or(lines.len()) - 1)
    } else {
        // A script: functions it defines on the way are not run here.
        (at.saturating_sub(MOST_LINES), at)
    };
    let mut code: Vec<usize> = (first..=last.max(at)).filter(|number| is_code(lines[*number])).collect();
    if head.is_none() {
        code.retain(|number| indent(lines[*number]) <= indent(failing) && !begins_function(lines, *number));
    }
    while code.len() > MOST_LINES {
        // The farther end goes.
        let (low, high) = (code[0], code[code.len() - 1]);
        if at.saturating_sub(low) > high.saturating_sub(at) {
            code.remove(0)
        } else {
            code.pop()?
        };
    }
    let number = |line: usize| i64::try_from(line + 1).ok();
    let first = code.first().copied().unwrap_or(at).min(at);
    Some(Body {
        first: number(first)?,
        last: number(last.max(at))?,
        code: code.into_iter().filter_map(number).collect(),
    })
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_code(line: &str) -> bool {
    let text = line.trim();
    let is_comment = ["//", "#", "/*", "* ", "*/", "\"\"\"", "'''"].iter().any(|mark| text.starts_with(mark));
    !is_comment && text.chars().any(char::is_alphanumeric)
}

/// Whether a line begins a function in any of the languages.
pub fn begins_function(lines: &[&str], number: usize) -> bool {
    let Some(line) = lines.get(number) else { return false };
    let text = line.trim();
    let mut rest = text;
    while let Some((word, after)) = rest.split_once(' ')
        && QUALIFIERS.contains(&word)
    {
        rest = after.trim_start();
    }
    if HEADS.iter().any(|head| rest.starts_with(head)) {
        return true;
    }
    // `int sum(int *from, int n) {`, `  total(items) {`, `Money Cart::total() const {`, the brace on its own line too.
    let opens = text.ends_with('{')
        || text.ends_with(')') && lines.get(number + 1).is_some_and(|next| next.trim() == "{");
    let Some((before, parameters)) = text.split_once('(') else { return false };
    let is_callback = text.ends_with("=> {") || parameters.contains("function");
    let looks_like_name =
        before.chars().all(|letter| letter.is_alphanumeric() || "_:*&<>~, []#$".contains(letter));
    let first = before.split_whitespace().next().unwrap_or_default();
    opens && (is_callback || looks_like_name && !before.is_empty() && !STATEMENTS.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_heads() {
        let rows = [
            ("def total(self):", true),
            ("    async def total(self):", true),
            ("pub(crate) async fn total(&self) -> u32 {", true),
            ("func (t Trip) Total() int {", true),
            ("export default function total(items) {", true),
            ("  total(items) {", true),
            ("const total = (items) => {", true),
            ("items.forEach((item) => {", true),
            ("int sum(const int *from, size_t n) {", true),
            ("Money Cart::total() const {", true),
            ("if (a > b) {", false),
            ("} else if (a) {", false),
            ("for (int i = 0; i < n; i++) {", false),
            ("let x = Some(Thing {", false),
            ("match total(x) {", false),
            ("total(items);", false),
            ("struct Cart {", false),
        ];
        for (line, expected) in rows {
            assert_eq!(begins_function(&[line], 0), expected, "{line}");
        }
        assert!(begins_function(&["int sum(int a)", "{"], 0));
    }

    #[test]
    fn a_body_ends_where_its_function_does() {
        let text = "x = 1\n\ndef a(n):\n    # why\n    y = n\n\n    return y\n\ndef b():\n    pass\n";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(body_in(&lines, 6), Some(Body { first: 5, last: 8, code: vec![5, 7] }));
        let script: Vec<&str> = "def a():\n    pass\nx = 1\ny = a(x)\n".lines().collect();
        assert_eq!(body_in(&script, 3), Some(Body { first: 3, last: 4, code: vec![3, 4] }));
        let braces: Vec<&str> =
            "int f(int a)\n{\n    int b = a;\n    return b;\n}\nint c;\n".lines().collect();
        assert_eq!(body_in(&braces, 3), Some(Body { first: 3, last: 4, code: vec![3, 4] }));
        assert_eq!(body_in(&braces, 99), None);
    }
}
