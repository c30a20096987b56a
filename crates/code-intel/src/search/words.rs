//! Words: those of a question, those in a name, and those that mean the same.

use super::synonyms::{SHORT_FORMS, SYNONYMS, ShortForm};

/// Words of questions that say nothing about code.
const EMPTY: &[&str] = &[
    "the", "a", "an", "of", "in", "to", "is", "are", "for", "and", "or", "where", "what", "how", "which",
    "does", "do", "that", "this", "it", "with", "by", "on", "be", "when", "who", "code", "function", "的",
    "在", "哪里", "如何", "什么",
];

/// A word of a question with those that mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    word: String,
    others: Vec<&'static str>,
    /// What it is short for, each as its words.
    phrases: Vec<Vec<&'static str>>,
}

impl Term {
    /// How well a list of words has it: another word for it counts half.
    pub(crate) fn matches(&self, words: &[String]) -> f64 {
        let mut sum = 0.0;
        for word in words {
            if is_form_of(word, &self.word) {
                sum += 1.0;
            } else if self.others.iter().any(|other| is_form_of(word, other)) {
                sum += 0.5;
            }
        }
        let has = |phrase: &&Vec<&str>| words.windows(phrase.len()).any(|window| is_phrase(window, phrase));
        sum + self.phrases.iter().filter(has).count() as f64
    }

    /// Whether the question is about tests.
    pub(crate) fn is_about_tests(&self) -> bool {
        matches!(self.word.as_str(), "test" | "tests" | "testing" | "fixture" | "fixtures" | "测试")
    }

    /// What every form of it begins with, then what those of the words that mean the same do.
    pub(crate) fn beginnings(&self) -> impl Iterator<Item = &str> {
        // Of a phrase its longest word tells most.
        let telling =
            self.phrases.iter().filter_map(|phrase| phrase.iter().copied().max_by_key(|word| word.len()));
        let words = std::iter::once(self.word.as_str()).chain(self.others.iter().copied()).chain(telling);
        words.map(|word| if word.len() >= 4 { stem(word) } else { word })
    }
}

fn is_phrase(words: &[String], phrase: &[&str]) -> bool {
    words.iter().zip(phrase).all(|(word, of)| is_form_of(word, of))
}

/// What the field writes short, where a text says it in full: how many words it takes.
fn short_form(words: &[String]) -> Option<(&'static ShortForm, usize)> {
    let fitting = SHORT_FORMS.iter().flat_map(|form| form.phrases.iter().map(move |phrase| (form, phrase)));
    let fitting = fitting.filter_map(|(form, phrase)| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        let window = words.get(..phrase.len())?;
        is_phrase(window, &phrase).then_some((form, phrase.len()))
    });
    fitting.max_by_key(|(_, length)| *length)
}

/// `parsing`, `parser` and `parsed` are forms of `parse`.
fn is_form_of(word: &str, of: &str) -> bool {
    word == of || of.len() >= 4 && stem(word) == stem(of)
}

fn stem(word: &str) -> &str {
    for ending in ["ations", "ation", "ings", "ing", "ers", "er", "ies", "ed", "es", "s", "e", "y"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= 3
        {
            return stem;
        }
    }
    word
}

/// The words of a question.
pub(super) fn terms(question: &str) -> Vec<Term> {
    const MOST: usize = 24;
    let mut terms: Vec<Term> = Vec::new();
    let mut words = Vec::new();
    for word in split(question) {
        if word.is_ascii() {
            words.push(word);
            continue;
        }
        // Chinese has no spaces: the words that are known, else the whole.
        let known = SYNONYMS.iter().flat_map(|group| group.iter()).filter(|known| !known.is_ascii());
        let known: Vec<String> =
            known.filter(|known| word.contains(**known)).map(ToString::to_string).collect();
        if known.is_empty() { words.push(word) } else { words.extend(known) }
    }
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let said = short_form(&words[at..]);
        at += said.map_or(1, |(_, length)| length);
        let form = said.map(|(form, _)| form).or_else(|| SHORT_FORMS.iter().find(|form| form.short == word));
        let word = form.map_or(word.as_str(), |form| form.short);
        if EMPTY.contains(&word) || terms.iter().any(|term| term.word == word) || terms.len() >= MOST {
            continue;
        }
        let groups = SYNONYMS.iter().filter(|group| group.iter().any(|other| is_form_of(word, other)));
        let mut others: Vec<&str> = form.map(|form| form.others.to_vec()).unwrap_or_default();
        others.extend(groups.flat_map(|group| group.iter().copied()).filter(|other| *other != word));
        others.sort_unstable();
        others.dedup();
        let phrases = form.map(|form| form.phrases).unwrap_or_default();
        let phrases = phrases.iter().map(|phrase| phrase.split(' ').collect()).collect();
        terms.push(Term { word: word.to_owned(), others, phrases });
    }
    terms
}

/// The words in a text or a name, in lower case: `parseHTTPRequest_v2` is `parse`, `http`, `request`, `v2`.
pub(super) fn split(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            continue;
        }
        let previous = at.checked_sub(1).and_then(|at| characters.get(at));
        let next = characters.get(at + 1);
        let is_hump = character.is_uppercase()
            && (previous.is_some_and(|previous| previous.is_lowercase() || previous.is_numeric())
                || previous.is_some_and(|previous| previous.is_uppercase())
                    && next.is_some_and(|next| next.is_lowercase()));
        if is_hump && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.extend(character.to_lowercase());
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_and_words_have_forms() {
        assert_eq!(split("parseHTTPRequest_v2"), ["parse", "http", "request", "v2"]);
        assert_eq!(split("删除 userName"), ["删除", "user", "name"]);
        for (word, of, expected) in [
            ("parser", "parse", true),
            ("parsing", "parsed", true),
            ("set", "setter", false),
            ("cat", "car", false),
        ] {
            assert_eq!(is_form_of(word, of), expected, "{word} {of}");
        }
        for (question, word) in [
            ("如何删除文件", "remove"),
            ("颜色", "color"),
            ("计算订单的价格", "price"),
            ("计算订单的价格", "order"),
            ("在哪里付款", "payment"),
            ("参数", "argument"),
        ] {
            let found = terms(question);
            assert!(found.iter().any(|term| term.matches(&[word.to_owned()]) > 0.0), "{question}: {found:?}");
        }
        // An English word that has one of Chinese stands for no other of English.
        assert!(terms("order").iter().all(|term| term.matches(&["price".to_owned()]) == 0.0));
    }
}
