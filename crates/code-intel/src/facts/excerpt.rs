//! A file of C or C++ as far as it is about some names.
//!
//! Who looks for the uses of a name in thousands of files needs of each what it says outside of functions, and the
//! functions in which the name stands. The bodies of the others, and tables without the name, are overwritten with
//! spaces before the parse, which then costs a fraction; every place stays true. In these languages nothing that a body
//! says is known outside of it but macros, and bodies with directives are left as they are.

use super::annotations::tokens::{Piece, Token, is_word, pieces};
use super::{Facts, LIMITS, read};
use crate::languages::Language;
use crate::syntax::Skipped;

/// What a text says, and whether all of it.
pub(crate) enum ReadFacts {
    Everything(Facts),
    /// What concerns some names.
    Excerpt(Facts),
}

/// Reads a text as far as it is about some names, where that is worth the trouble.
pub(crate) fn read_about(language: Language, text: &str, names: &[&str]) -> Result<ReadFacts, Skipped> {
    /// What is so short is parsed as fast as it is looked through.
    const SHORT: usize = 4_000;
    let is_known = matches!(language, Language::C | Language::Cpp);
    let is_worth_it = is_known && (SHORT..=LIMITS.bytes).contains(&text.len());
    match is_worth_it.then(|| excerpt(language, text, names)).flatten() {
        Some(excerpt) => read(language, &excerpt).map(ReadFacts::Excerpt),
        None => read(language, text).map(ReadFacts::Everything),
    }
}

/// The text with nothing in bodies and tables that none of the names stands in; `None` where there are none, or braces
/// do not come in pairs.
fn excerpt(language: Language, text: &str, names: &[&str]) -> Option<String> {
    let mut bytes = None;
    for (start, end) in bodies(language, text)? {
        let body = text.get(start..end).unwrap_or_default();
        // Columns behind it on its last line stay true.
        let Some(last_line) = body.rfind('\n') else { continue };
        if has_directive(body) || names.iter().any(|name| has_word(body, name)) {
            continue;
        }
        let bytes = bytes.get_or_insert_with(|| text.as_bytes().to_vec());
        for byte in bytes.get_mut(start..start + last_line).into_iter().flatten() {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes?).ok()
}

fn has_directive(body: &str) -> bool {
    body.contains('#') && body.lines().any(|line| line.trim_start().starts_with('#'))
}

fn has_word(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(start, _)| {
        let is_part = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().is_some_and(is_word);
        !is_part(start.checked_sub(1)) && !is_part(Some(start + word.len()))
    })
}

/// What stands before a brace since the last declaration ended.
#[derive(Clone, Copy, Default)]
struct Head<'t> {
    last: Option<Token>,
    last_word: &'t str,
    /// `class`, `namespace` and their like.
    opener: &'t str,
    has_star: bool,
    has_brackets: bool,
    is_assigned: bool,
    /// What it returns is told by its body.
    is_deduced: bool,
}

/// What a brace begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// The body of a function, or a table.
    Body,
    /// Declarations.
    Open,
    Other,
}

impl Head<'_> {
    fn block(&self, language: Language) -> Block {
        let is_behind_brackets = self.last == Some(Token::Sign(b')'))
            || self.last == Some(Token::Word)
                && self.has_brackets
                && matches!(self.last_word, "const" | "noexcept" | "override" | "final");
        if self.is_assigned {
            // In C++ a table may be what tells a type.
            let is_table = language == Language::C && self.last == Some(Token::Sign(b'='));
            return if is_table { Block::Body } else { Block::Other };
        }
        match self.opener {
            // `struct point *f(void) {`, but not `struct __attribute__((packed)) {`.
            "struct" | "class" | "union" | "enum" if is_behind_brackets => {
                if self.has_star && !self.is_deduced { Block::Body } else { Block::Other }
            }
            "struct" | "class" | "union" | "namespace" => Block::Open,
            "extern" if self.last == Some(Token::Literal) => Block::Open,
            "enum" => Block::Other,
            _ if is_behind_brackets && !self.is_deduced => Block::Body,
            _ => Block::Other,
        }
    }
}

/// The bytes between the braces of functions that stand where declarations do, and of tables.
fn bodies(language: Language, text: &str) -> Option<Vec<(usize, usize)>> {
    let mut found = Vec::new();
    let mut open: Vec<(Block, usize)> = Vec::new();
    let (mut brackets, mut head) = (0_usize, Head::default());
    for Piece { token, start, end } in pieces(text) {
        let is_inside = open.iter().any(|(block, _)| *block != Block::Open);
        match token {
            Token::Sign(b'{') => {
                let is_plain = !is_inside && brackets == 0;
                let block = if is_plain { head.block(language) } else { Block::Other };
                open.push((block, end));
                if block == Block::Open {
                    head = Head::default();
                }
                continue;
            }
            Token::Sign(b'}') => {
                let (block, from) = open.pop()?;
                if block == Block::Body {
                    found.push((from, start));
                }
                // What follows another block belongs to what is before it: `struct { ... } name;`.
                if block != Block::Other {
                    head = Head::default();
                }
            }
            _ if is_inside => continue,
            Token::Sign(b'(' | b'[') => {
                brackets += 1;
                head.has_brackets = true;
            }
            Token::Sign(b')' | b']') => brackets = brackets.checked_sub(1)?,
            _ if brackets > 0 => continue,
            Token::Sign(b';') => head = Head::default(),
            Token::Sign(b'=') => head.is_assigned = true,
            Token::Sign(b'*' | b'&') => head.has_star = true,
            Token::Word => {
                let word = &text[start..end];
                match word {
                    "struct" | "class" | "union" | "enum" | "namespace" | "extern" => {
                        (head.opener, head.has_star) = (word, false);
                    }
                    "auto" | "decltype" => head.is_deduced = true,
                    _ => {}
                }
                head.last_word = word;
            }
            // Which of the branches belongs to what follows is not known here.
            Token::If | Token::Else | Token::End => continue,
            Token::Sign(_) | Token::Path | Token::Literal => {}
        }
        head.last = Some(token);
    }
    open.is_empty().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines with `// gone` are left out, all others stay; nothing is left out of a text without such a line.
    fn check(language: Language, text: &str) {
        let found = excerpt(language, text, &["wanted"]);
        assert_eq!(found.is_some(), text.contains("// gone"), "{text}");
        let Some(found) = found else { return };
        assert_eq!(found.len(), text.len());
        let shown = |text: &str, is_shown: &dyn Fn(&str) -> bool| {
            text.lines().filter(|line| is_shown(line)).map(str::to_owned).collect::<Vec<_>>()
        };
        let expected = shown(text, &|line| !line.contains("// gone"));
        assert_eq!(shown(&found, &|line| !line.trim().is_empty()), expected);
    }

    #[test]
    fn bodies_and_tables_without_the_name_are_empty() {
        let text = "\
#define F(x) { x
static struct point *one(int a) /* { */
{
    return wanted_not(\"}\"); // gone
}
struct __attribute__((packed)) {
    int kept;
} a;
static const int table[] = {
    1, '{', // gone
};
struct ops calls = {
    .call = wanted,
};
int two(void) {
    return wanted();
}
int three(void) {
#define INSIDE 1
    return 1;
}
enum { A,
B };
int four(void) { return 1; }
int five(void) {
    int six = 6; // gone
    return 2; } int seven;
";
        check(Language::C, text);
        check(Language::C, "int f(void) {\n  return 1;\n");
        check(Language::C, "int f(void) {\n  return 1;\n}}\n");
        check(Language::C, "int f(void)) {\n  return 1;\n}\n");
    }

    #[test]
    fn classes_and_namespaces_are_gone_into() {
        let text = "\
namespace a {
class B : public C<int> {
 public:
  B() : x_(1), y_{2} {
    stays();
  }
  int get() const {
    return x_; // gone
  }
  auto told() {
    return x_;
  }
  int x_ = 1;
};
extern \"C\" {
void c(int x) {
  d(x); // gone
}
}
std::vector<int> all = {
  1,
};
}
";
        check(Language::Cpp, text);
    }
}
