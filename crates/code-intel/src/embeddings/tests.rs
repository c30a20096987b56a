//! Vectors that a scripted maker makes: what is sent, what is kept, what is found, and what happens when it fails.

#![allow(clippy::disallowed_methods, reason = "tests make files to look at")]

use std::sync::atomic::{AtomicUsize, Ordering};

use stepwell_workspace::Workspace;

use super::*;
use crate::search::{Question, search};

/// Texts about taking away and texts about weather point in two directions; everything else in a third.
struct Scripted {
    name: &'static str,
    sent: Mutex<Vec<String>>,
    fails_after: AtomicUsize,
}

impl Scripted {
    fn named(name: &'static str) -> Arc<Self> {
        Arc::new(Self { name, sent: Mutex::default(), fails_after: AtomicUsize::new(usize::MAX) })
    }
}

impl Embedder for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn batch(&self) -> usize {
        2
    }

    fn embed(&self, texts: Vec<String>, _: Duration) -> Vectors<'_> {
        Box::pin(async move {
            if self.fails_after.fetch_sub(1, Ordering::Relaxed) == 0 {
                return Err("the server is on fire".to_owned());
            }
            let vector = |text: &String| match text {
                text if text.contains("prune") || text.contains("get rid") => vec![1.0, 0.1, 0.0],
                text if text.contains("rain") => vec![0.0, 1.0, 0.0],
                _ => vec![0.0, 0.0, 1.0],
            };
            let vectors = texts.iter().map(vector).collect();
            self.sent.lock().extend(texts);
            Ok(vectors)
        })
    }
}

struct Strict;

impl Guard for Strict {
    fn allows(&self, path: &str) -> bool {
        !path.contains("secret")
    }

    fn clean(&self, text: &str) -> String {
        text.replace("hunter2", "[hidden]")
    }
}

struct Lab {
    folder: tempfile::TempDir,
    index: Index,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        std::fs::create_dir(&work).unwrap();
        for (name, text) in [
            ("store.py", "def prune(old):\n    password = 'hunter2'\n    return old[1:]\n"),
            ("sky.py", "def rain():\n    return 'wet'\n\n\ndef sun():\n    return 'dry'\n"),
            ("secret_keys.py", "def rotate():\n    return 'prune'\n"),
            ("data.json", "{\"prune\": 1}\n"),
        ] {
            std::fs::write(work.join(name), text).unwrap();
        }
        let workspace = Workspace::open(&work, &[]).unwrap();
        let index = Index::open(&folder.path().join("index"), &workspace).unwrap();
        let mut lab = Self { folder, index };
        lab.refresh();
        lab
    }

    fn refresh(&mut self) {
        self.index.refresh(&|_, _| {}, &|| false).unwrap();
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join("work").join(name), text).unwrap();
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn fill(embeddings: &Embeddings, index: &Index) -> Option<String> {
    let missing = embeddings.missing(index);
    let (made, failure) = run(embeddings.make(missing.symbols, |_| {}));
    embeddings.keep(made);
    failure
}

#[test]
fn only_meaning_finds_what_no_word_names() {
    let lab = Lab::new();
    let maker = Scripted::named("a");
    let embeddings = Embeddings::new(Arc::clone(&maker) as _, Arc::new(Strict));
    assert_eq!(fill(&embeddings, &lab.index), None);
    let question = "get rid of stale things";
    let search =
        |words: &str, vector| search(&lab.index, &Question { words, vector, open_files: &[], limit: 5 });
    assert!(search(question, None).hits.is_empty());
    let vector = run(embeddings.question(question)).unwrap();
    let near = (&embeddings, &vector);
    let hits = search(question, Some(near)).hits;
    let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths, ["prune"]);
    // Words and meaning together: what both rank comes first.
    let hits = search("sun", Some(near)).hits;
    let mut paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["prune", "sun"]);
}

#[test]
fn secrets_and_data_stay_here() {
    let lab = Lab::new();
    let maker = Scripted::named("a");
    let embeddings = Embeddings::new(Arc::clone(&maker) as _, Arc::new(Strict));
    fill(&embeddings, &lab.index);
    run(embeddings.question("where is hunter2")).unwrap();
    let sent = maker.sent.lock().join("\n");
    assert!(sent.contains("def prune") && sent.contains("[hidden]"), "{sent}");
    assert!(!sent.contains("hunter2") && !sent.contains("rotate") && !sent.contains("{\"prune\""), "{sent}");
}

#[test]
fn only_what_changed_is_sent_again_and_another_model_makes_all_anew() {
    let mut lab = Lab::new();
    let maker = Scripted::named("a");
    let embeddings = Embeddings::new(Arc::clone(&maker) as _, Arc::new(Strict));
    assert_eq!(embeddings.missing(&lab.index).count, 3);
    fill(&embeddings, &lab.index);
    lab.write("sky.py", "# moved\n\ndef rain():\n    return 'wet'\n\n\ndef sun():\n    return 'very dry'\n");
    lab.refresh();
    // Opened anew: the vectors are on the disk.
    let embeddings = Embeddings::new(Arc::clone(&maker) as _, Arc::new(Strict));
    let missing = embeddings.missing(&lab.index);
    assert_eq!((missing.count, missing.all), (1, 3));
    assert!(missing.symbols[0].text.contains("very dry"));
    let other = Embeddings::new(Scripted::named("b") as _, Arc::new(Strict));
    assert_eq!(other.missing(&lab.index).count, 3);
}

#[test]
fn what_was_made_before_a_failure_is_kept() {
    let lab = Lab::new();
    let maker = Scripted::named("a");
    let embeddings = Embeddings::new(Arc::clone(&maker) as _, Arc::new(Strict));
    maker.fails_after.store(1, Ordering::Relaxed);
    assert_eq!(fill(&embeddings, &lab.index).as_deref(), Some("the server is on fire"));
    assert_eq!(embeddings.missing(&lab.index).count, 1);
    maker.fails_after.store(0, Ordering::Relaxed);
    let failure = run(embeddings.question("anything")).unwrap_err();
    assert_eq!(failure, "the search went without embeddings: the server is on fire");
    // It is not asked again at once.
    let failure = run(embeddings.question("anything")).unwrap_err();
    assert_eq!(failure, "the search went without embeddings: the server is on fire (a moment ago)");
    assert!(!maker.sent.lock().iter().any(|text| text == "anything"));
}

#[test]
fn a_damaged_file_of_vectors_is_made_anew() {
    let lab = Lab::new();
    let maker = Scripted::named("a");
    let embeddings = Embeddings::new(Arc::clone(&maker) as _, Arc::new(Strict));
    fill(&embeddings, &lab.index);
    std::fs::write(lab.index.beside("vectors"), "no database").unwrap();
    for ending in ["vectors-wal", "vectors-shm"] {
        std::fs::remove_file(lab.index.beside(ending)).ok();
    }
    let embeddings = Embeddings::new(Arc::clone(&maker) as _, Arc::new(Strict));
    assert_eq!(embeddings.missing(&lab.index).count, 3);
    assert_eq!(fill(&embeddings, &lab.index), None);
    assert_eq!(embeddings.missing(&lab.index).count, 0);
}
