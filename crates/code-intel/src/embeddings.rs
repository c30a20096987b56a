//! Finding code by what it means, with vectors that a server of the person's choice makes of it.
//!
//! Every symbol that can be searched for becomes a piece of text. Its vector is kept by the hash of that text, so only
//! what changed is sent again. Three steps, because a server is not waited for while the index is held: symbols are
//! taken from the index ([`Embeddings::missing`]), made into vectors ([`Embeddings::make`]), kept
//! ([`Embeddings::keep`]). What may be sent, and what must be taken out of it, a [`Guard`] says.

mod store;

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::facts::{self, Facts};
use crate::index::Index;
use crate::languages::Language;
use crate::search;
use store::{Key, MOST_VECTORS, QuantizedVector, Store};

/// A question is answered without vectors rather than late.
const QUESTION_DEADLINE: Duration = Duration::from_secs(8);
const BATCH_DEADLINE: Duration = Duration::from_mins(2);
/// A server that did not answer is left alone for a while, so that not every search waits for it.
const LEFT_ALONE: Duration = Duration::from_secs(30);
/// Characters of a symbol that are sent; more says little more, and models have windows.
const LONGEST_PIECE: usize = 1600;
/// Symbols taken from the index per round.
const ROUND: usize = 4096;

/// The vectors of texts, or the reason why there are none.
pub type Vectors<'e> = Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, String>> + Send + 'e>>;

/// Port to a server that makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Names what makes the vectors; those of another name are never compared.
    fn name(&self) -> &str;

    /// Texts of one request.
    fn batch(&self) -> usize;

    fn embed(&self, texts: Vec<String>, deadline: Duration) -> Vectors<'_>;
}

/// Decides what may leave the machine.
pub trait Guard: Send + Sync {
    /// Whether anything of a file may be sent.
    fn allows(&self, path: &str) -> bool;

    /// The text without secrets.
    fn clean(&self, text: &str) -> String;
}

/// The text of a symbol as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolText {
    key: Key,
    text: String,
}

/// The symbols that have no vector yet.
#[derive(Clone, Debug, Default)]
pub struct Missing {
    /// The first of them.
    pub symbols: Vec<SymbolText>,
    /// How many symbols have none, and how many there are.
    pub count: usize,
    pub all: usize,
}

/// A vector made for a symbol.
#[derive(Debug)]
pub struct NewVector(Key, QuantizedVector);

/// The vector of a search.
#[derive(Clone, Debug)]
pub struct QueryVector(QuantizedVector);

/// The vectors of a workspace, with the server that makes them.
pub struct Embeddings {
    embedder: Arc<dyn Embedder>,
    guard: Arc<dyn Guard>,
    kept: Mutex<VectorStore>,
    /// When and why the last question got no vector.
    failure: Mutex<Option<(Instant, String)>>,
}

#[derive(Default)]
struct VectorStore {
    store: Option<Store>,
    /// What the files hold, as of the last look.
    in_use: HashSet<Key>,
}

impl Embeddings {
    pub fn new(embedder: Arc<dyn Embedder>, guard: Arc<dyn Guard>) -> Self {
        Self { embedder, guard, kept: Mutex::default(), failure: Mutex::default() }
    }

    /// Lists the symbols that have no vector.
    pub fn missing(&self, index: &Index) -> Missing {
        let mut missing = Missing::default();
        let mut in_use = HashSet::new();
        let mut kept = self.kept.lock();
        let store = kept.store.get_or_insert_with(|| Store::open(&index.beside("vectors")));
        let mut files: Vec<_> = index.entries().collect();
        files.sort_by(|left, right| left.1.path.cmp(&right.1.path));
        for (file, entry) in files {
            if in_use.len() >= MOST_VECTORS {
                break;
            }
            if !entry.language.is_some_and(is_code) || !self.guard.allows(&entry.path) {
                continue;
            }
            let (source, outline) = (index.source(file), index.outline(file));
            for place in search::wanted(&outline) {
                let text = piece(&source, &outline, place);
                let key = self.key(&text);
                if !in_use.insert(key) {
                    continue;
                }
                if store.get(&key).is_none() {
                    missing.count += 1;
                    if missing.symbols.len() < ROUND {
                        missing.symbols.push(SymbolText { key, text: self.guard.clean(&text) });
                    }
                }
            }
        }
        missing.all = in_use.len();
        kept.in_use = in_use;
        missing
    }

    /// Makes vectors of symbols in batches. Returns those made before a failure, and the failure.
    pub async fn make(
        &self,
        symbols: Vec<SymbolText>,
        mut on_progress: impl FnMut(usize) + Send,
    ) -> (Vec<NewVector>, Option<String>) {
        let mut made = Vec::with_capacity(symbols.len());
        for batch in symbols.chunks(self.embedder.batch().clamp(1, 256)) {
            let texts = batch.iter().map(|piece| piece.text.clone()).collect();
            let vectors = match self.embedder.embed(texts, BATCH_DEADLINE).await {
                Ok(vectors) if vectors.len() == batch.len() => vectors,
                Ok(_) => return (made, Some("it made too few vectors".to_owned())),
                Err(why) => return (made, Some(why)),
            };
            for (piece, vector) in batch.iter().zip(vectors) {
                let Some(small) = QuantizedVector::of(&vector) else {
                    return (made, Some("it made a vector without a direction".to_owned()));
                };
                made.push(NewVector(piece.key, small));
            }
            on_progress(made.len());
        }
        (made, None)
    }

    /// Stores vectors.
    pub fn keep(&self, made: Vec<NewVector>) {
        let mut kept = self.kept.lock();
        let VectorStore { store, in_use } = &mut *kept;
        if let Some(store) = store {
            let made = made.into_iter().map(|NewVector(key, vector)| (key, vector)).collect();
            store.put(made, |key| in_use.contains(key));
        }
    }

    /// Makes the vector of a search within a deadline.
    pub async fn question(&self, words: &str) -> Result<QueryVector, String> {
        let failure = self.failure.lock().clone();
        if let Some((when, why)) = failure
            && when.elapsed() < LEFT_ALONE
        {
            return Err(format!("{why} (a moment ago)"));
        }
        let text = self.guard.clean(words);
        let asked = self.embedder.embed(vec![text], QUESTION_DEADLINE).await;
        let small = asked.and_then(|vectors| {
            let small = vectors.first().and_then(|vector| QuantizedVector::of(vector));
            small.ok_or_else(|| "the vector has no direction".to_owned())
        });
        let vector =
            small.map(QueryVector).map_err(|why| format!("the search went without embeddings: {why}"));
        *self.failure.lock() = vector.as_ref().err().map(|why| (Instant::now(), why.clone()));
        vector
    }

    /// How near a symbol is to a question; nothing where it has no vector.
    pub(crate) fn similarity(
        &self,
        text: &str,
        facts: &Facts,
        place: u32,
        vector: &QueryVector,
    ) -> Option<f32> {
        let key = self.key(&piece(text, facts, place));
        self.kept.lock().store.as_ref()?.get(&key)?.similarity(&vector.0)
    }

    fn key(&self, text: &str) -> Key {
        let mut hasher = Sha256::new();
        hasher.update(self.embedder.name());
        hasher.update([0]);
        hasher.update(text);
        let digest = hasher.finalize();
        let mut key = Key::default();
        key.copy_from_slice(&digest[..size_of::<Key>()]);
        key
    }
}

impl std::fmt::Debug for Embeddings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Embeddings").field("model", &self.embedder.name()).finish_non_exhaustive()
    }
}

/// A symbol as text: what it is, and how it begins. Not where it lies, so that a file can be moved.
fn piece(text: &str, facts: &Facts, place: u32) -> String {
    let Some(definition) = facts.definitions.get(place as usize) else { return String::new() };
    let body = facts::whole(text, definition).of(text);
    let end = body.char_indices().nth(LONGEST_PIECE).map_or(body.len(), |(at, _)| at);
    format!("{} {}\n{}", definition.kind.name(), facts::described(facts, place), &body[..end])
}

/// Data is not searched for by meaning, and may hold what nobody wants to send.
fn is_code(language: Language) -> bool {
    use Language::{Css, Html, Json, Toml, Yaml};
    !matches!(language, Css | Html | Json | Toml | Yaml)
}

#[cfg(test)]
#[path = "embeddings/tests.rs"]
mod tests;
