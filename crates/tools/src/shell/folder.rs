//! The folder commands run in, kept from one call to the next as in a terminal.
//!
//! The shell says where it ended: a trap prints the folder behind a mark to a copy of standard output, and the mark is
//! taken out of what anyone sees. A command that never comes to its end, or replaces the shell, leaves the folder as
//! it was.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use stepwell_protocol::TaskId;
use stepwell_workspace::process::TextFilter;

/// Where each task's shell is.
#[derive(Clone, Default)]
pub(super) struct Folders {
    all: Arc<Mutex<HashMap<TaskId, PathBuf>>>,
}

impl Folders {
    pub(super) fn of(&self, task: &TaskId) -> Option<PathBuf> {
        self.all.lock().get(task).cloned()
    }

    pub(super) fn keep(&self, task: &TaskId, folder: PathBuf) {
        self.all.lock().insert(task.clone(), folder);
    }
}

/// The mark of one call: nobody can print it by accident, and a command that means to fools only itself.
pub(super) struct Mark {
    text: String,
}

impl Mark {
    pub(super) fn new(id: &str) -> Self {
        Self { text: format!("\u{1f}stepwell-{id}:") }
    }

    /// What stands before the command. The copy of standard output outlives what the command does to its own.
    fn trap(&self) -> String {
        let mark = self.text.trim_start_matches('\u{1f}');
        format!(
            "exec {{STEPWELL_FD}}>&1; trap 'printf \"\\037{mark}%s\\037\" \"$(pwd -P)\" >&$STEPWELL_FD' EXIT; "
        )
    }

    /// The command with the trap before it, on the same line: the numbers of lines in messages stay right.
    pub(super) fn watch(&self, command: &str) -> String {
        format!("{}{command}", self.trap())
    }

    /// Takes the trap out of messages that show the first line.
    pub(super) fn hide_trap(&self, inner: Box<dyn TextFilter>) -> Box<dyn TextFilter> {
        Box::new(Without { text: self.trap(), inner })
    }

    /// A filter that takes the mark out, and where it leaves the folder.
    pub(super) fn filter(
        self,
        inner: Box<dyn TextFilter>,
    ) -> (Box<dyn TextFilter>, Arc<Mutex<Option<String>>>) {
        let found = Arc::new(Mutex::new(None));
        let filter = MarkFilter { mark: self.text, inner, held: String::new(), found: Arc::clone(&found) };
        (Box::new(filter), found)
    }
}

/// A message comes in one piece, so a text in it is found there or not at all.
struct Without {
    text: String,
    inner: Box<dyn TextFilter>,
}

impl TextFilter for Without {
    fn push(&mut self, text: &str) -> String {
        if text.contains(&self.text) {
            return self.inner.push(&text.replace(&self.text, ""));
        }
        self.inner.push(text)
    }

    fn finish(&mut self) -> String {
        self.inner.finish()
    }
}

struct MarkFilter {
    mark: String,
    inner: Box<dyn TextFilter>,
    /// Text that may be the mark's beginning.
    held: String,
    found: Arc<Mutex<Option<String>>>,
}

impl MarkFilter {
    /// Takes whole marks out of the held text and gives what cannot be one.
    fn release(&mut self) -> String {
        let mut free = String::new();
        while let Some(start) = self.held.find('\u{1f}') {
            free.extend(self.held.drain(..start));
            let rest = self.held.as_str();
            if rest.len() < self.mark.len() && self.mark.starts_with(rest) {
                return free;
            }
            let Some(behind) = rest.strip_prefix(self.mark.as_str()) else {
                free.extend(self.held.drain(..1));
                continue;
            };
            // The longest path the kernel knows.
            match behind.find('\u{1f}').filter(|end| *end <= 4096) {
                Some(end) => {
                    *self.found.lock() = Some(behind[..end].to_owned());
                    let length = self.mark.len() + end + 1;
                    self.held.drain(..length);
                }
                None if behind.len() <= 4096 => return free,
                None => free.extend(self.held.drain(..1)),
            }
        }
        free.push_str(&std::mem::take(&mut self.held));
        free
    }
}

impl TextFilter for MarkFilter {
    fn push(&mut self, text: &str) -> String {
        if self.held.is_empty() && !text.contains('\u{1f}') {
            return self.inner.push(text);
        }
        self.held.push_str(text);
        let free = self.release();
        self.inner.push(&free)
    }

    fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.held);
        self.inner.push(&rest) + &self.inner.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct AsIs;

    impl TextFilter for AsIs {
        fn push(&mut self, text: &str) -> String {
            text.to_owned()
        }

        fn finish(&mut self) -> String {
            String::new()
        }
    }

    #[test]
    fn the_mark_is_found_and_taken_out_wherever_it_is_cut() {
        let text = "out\u{1f}put\u{1f}stepwell-7:/work/a b\u{1f}rest";
        for cut in 0..=text.len() {
            let (mut filter, found) = Mark::new("7").filter(Box::new(AsIs));
            let shown = filter.push(&text[..cut]) + &filter.push(&text[cut..]) + &filter.finish();
            assert_eq!(shown, "out\u{1f}putrest", "{cut}");
            assert_eq!(found.lock().as_deref(), Some("/work/a b"));
        }
        let (mut filter, found) = Mark::new("7").filter(Box::new(AsIs));
        assert_eq!(filter.push("\u{1f}stepwell-8:/x\u{1f}") + &filter.finish(), "\u{1f}stepwell-8:/x\u{1f}");
        assert_eq!(*found.lock(), None);
    }
}
