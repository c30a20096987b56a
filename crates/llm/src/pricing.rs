//! What is known of models before asking them: window, output limit, images, price.
//!
//! The table is text, and stays text: a look-up scans the headers for the longest pattern that fits and parses
//! that one table, so that starting costs microseconds. The person's own facts are asked first.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stepwell_protocol::Usage;

use crate::model::{ModelInfo, Price};
use crate::window::WindowSource;

const KNOWN_MODELS: &str = include_str!("models.toml");

/// What a model of which nothing is known is taken to bear.
const DEFAULT_CONTEXT_WINDOW: u64 = 128_000;

impl Price {
    /// What the tokens cost, in US dollars. A cache price that is not known is the input's.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let per_million = |tokens: u64, price: f64| tokens as f64 * price / 1_000_000.0;
        per_million(usage.input_tokens, self.input)
            + per_million(usage.output_tokens, self.output)
            + per_million(usage.cache_read_tokens, self.cache_read.unwrap_or(self.input))
            + per_million(usage.cache_write_tokens, self.cache_write.unwrap_or(self.input))
    }
}

/// Facts that stand in for what the catalog says or does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelFacts {
    pub context_window: Option<u64>,
    pub max_output_tokens: Option<u64>,
    pub images: Option<bool>,
    pub price: Option<Price>,
}

/// The table of known models, with the person's additions.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    user: Arc<BTreeMap<String, ModelFacts>>,
}

impl Catalog {
    /// The models Stepwell knows.
    pub fn built_in() -> Self {
        Self::default()
    }

    /// Adds the person's own: facts by pattern, where `*` stands for anything.
    ///
    /// ```
    /// use stepwell_llm::{Catalog, ModelFacts};
    ///
    /// let facts = ModelFacts { context_window: Some(64_000), ..ModelFacts::default() };
    /// let catalog = Catalog::with_user([("my-model*".to_owned(), facts)].into());
    /// assert_eq!(catalog.lookup("my-model-7b").unwrap().context_window, Some(64_000));
    /// ```
    pub fn with_user(facts: BTreeMap<String, ModelFacts>) -> Self {
        Self { user: Arc::new(facts) }
    }

    /// What is known of the model of that name: the person's word, completed by the longest pattern that fits.
    pub fn lookup(&self, model: &str) -> Option<ModelFacts> {
        match (self.said(model), known(model)) {
            (Some(said), Some(known)) => Some(ModelFacts {
                context_window: said.context_window.or(known.context_window),
                max_output_tokens: said.max_output_tokens.or(known.max_output_tokens),
                images: said.images.or(known.images),
                price: said.price.or(known.price),
            }),
            (said, known) => said.or(known),
        }
    }

    /// What the person says of a model.
    fn said(&self, model: &str) -> Option<ModelFacts> {
        let pattern = longest_fit(self.user.keys().map(String::as_str), model)?;
        self.user.get(pattern).copied()
    }

    /// The whole picture of a model, with defaults where nothing is known.
    pub fn info(&self, provider: &str, model: &str, overrides: &ModelFacts) -> ModelInfo {
        let known = self.lookup(model).unwrap_or_default();
        let said = overrides.context_window.or_else(|| self.said(model)?.context_window);
        let window_source = match (said, known.context_window) {
            (Some(_), _) => WindowSource::Settings,
            (None, Some(_)) => WindowSource::Catalog,
            (None, None) => WindowSource::Assumed,
        };
        ModelInfo {
            provider: provider.to_owned(),
            id: model.to_owned(),
            context_window: overrides
                .context_window
                .or(known.context_window)
                .unwrap_or(DEFAULT_CONTEXT_WINDOW),
            window_source,
            max_output_tokens: overrides.max_output_tokens.or(known.max_output_tokens),
            images: overrides.images.or(known.images).unwrap_or(false),
            price: overrides.price.or(known.price),
        }
    }
}

/// The built-in facts of a model.
fn known(model: &str) -> Option<ModelFacts> {
    let pattern = longest_fit(KNOWN_MODELS.lines().filter_map(header), model)?;
    toml::from_str(section_of(KNOWN_MODELS, pattern)?).ok()
}

/// The longest of the patterns that fits the model's name.
fn longest_fit<'a>(patterns: impl Iterator<Item = &'a str>, model: &str) -> Option<&'a str> {
    // Routers put the maker before the name: `anthropic/claude-sonnet-4.5`, and a variant after it: `:free`.
    let names = [plain(model), plain(model.rsplit('/').next().unwrap_or(model))];
    patterns
        .filter(|pattern| names.iter().any(|name| fits(&plain(pattern), name)))
        .max_by_key(|pattern| pattern.len())
}

/// Makers write the same version as `4.5` and `4-5`.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c == '.' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn header(line: &str) -> Option<&str> {
    line.trim().strip_prefix("[\"")?.strip_suffix("\"]")
}

/// The lines under the header of that pattern.
fn section_of<'a>(text: &'a str, pattern: &str) -> Option<&'a str> {
    let mut offset = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        if let Some(found) = header(line) {
            if let Some(start) = start {
                return Some(&text[start..offset]);
            }
            if found == pattern {
                start = Some(offset + line.len());
            }
        }
        offset += line.len();
    }
    start.map(|start| &text[start..])
}

/// Whether the text fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for piece in pieces {
        if let Some(piece) = last.replace(piece) {
            match rest.find(piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
    }
    last.map_or(rest.is_empty(), |piece| rest.ends_with(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("gpt-4o*", "gpt-4o-mini", true),
            ("gpt-4o", "gpt-4o-mini", false),
            ("*coder*", "qwen3-coder-plus", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn every_known_model_is_well_formed() {
        let tables: BTreeMap<String, ModelFacts> = toml::from_str(KNOWN_MODELS).unwrap();
        assert!(tables.len() > 40);
        for (pattern, facts) in tables {
            let found = known(&pattern.replace('*', "")).unwrap();
            assert!(facts.context_window.unwrap() >= 4096, "{pattern}");
            assert!(found.context_window.is_some(), "{pattern}");
            if let Some(price) = facts.price {
                assert!(
                    price.input <= price.output && price.cache_read.is_none_or(|read| read <= price.input)
                );
            }
        }
    }

    #[test]
    fn the_longest_pattern_wins() {
        let catalog = Catalog::built_in();
        let price = |name: &str| catalog.lookup(name).and_then(|facts| facts.price).map(|price| price.input);
        assert_eq!(price("gpt-4o-2024-11-20"), Some(2.5));
        assert_eq!(price("gpt-4o-mini"), Some(0.15));
        assert_eq!(price("claude-sonnet-4-5-20250929"), Some(3.0));
        assert_eq!(price("anthropic/claude-sonnet-4.5"), Some(3.0));
        assert_eq!(price("some-unknown-model"), None);
        assert_eq!(catalog.info("p", "some-unknown-model", &ModelFacts::default()).context_window, 128_000);
    }

    #[test]
    fn the_person_is_asked_first() {
        let facts = |window| ModelFacts { context_window: Some(window), ..ModelFacts::default() };
        let catalog = Catalog::with_user([("gpt-4o*".into(), facts(5)), ("mine".into(), facts(6))].into());
        let window = |name: &str| catalog.lookup(name).and_then(|facts| facts.context_window);
        assert_eq!(window("gpt-4o-mini"), Some(5));
        assert_eq!(window("mine"), Some(6));
        assert!(window("claude-opus-4-1").is_some());
    }

    #[test]
    fn cost_counts_each_kind_of_token_once() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: None };
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cache_read_tokens: 1_000_000,
            cache_write_tokens: 1_000_000,
            reasoning_tokens: 50_000,
            cost_usd: None,
        };
        assert!((price.cost(&usage) - (3.0 + 1.5 + 0.3 + 3.0)).abs() < 1e-9);
    }
}
