//! What was found out while a question is answered, so that it is not found out again.
//!
//! Questions lead back to themselves: the base of a class may be a member of the class, whose members are looked for
//! in its bases. Such a question is left out where it comes up again, and only an answer in which nothing was left
//! out is kept.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::Hash;

/// Answers to questions of one kind.
pub(crate) struct Memory<K, V> {
    known: RefCell<HashMap<K, V>>,
    /// The questions that are being answered, each of which came up in the one before.
    open: RefCell<Vec<K>>,
    /// The first of them that came up again while the last was being answered.
    again: Cell<usize>,
}

impl<K, V> Default for Memory<K, V> {
    fn default() -> Self {
        Self { known: RefCell::default(), open: RefCell::default(), again: Cell::new(usize::MAX) }
    }
}

impl<K: Clone + Eq + Hash, V: Clone + Default> Memory<K, V> {
    /// The answer to a question, from memory or by asking; nothing where the question is being answered.
    /// `is_whole` tells whether what was just asked was answered to its end.
    pub(crate) fn recall(&self, question: K, ask: impl FnOnce() -> V, is_whole: impl FnOnce() -> bool) -> V {
        if let Some(known) = self.known.borrow().get(&question) {
            return known.clone();
        }
        if let Some(place) = self.open.borrow().iter().position(|open| *open == question) {
            self.again.set(self.again.get().min(place));
            return V::default();
        }
        let place = self.open.borrow().len();
        self.open.borrow_mut().push(question.clone());
        let before = self.again.replace(usize::MAX);
        let answer = ask();
        self.open.borrow_mut().pop();
        let again = self.again.replace(before);
        if again < place {
            // An answer that left out a question that is still open is good for that question alone.
            self.again.set(before.min(again));
        } else if is_whole() {
            self.known.borrow_mut().insert(question, answer.clone());
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters that can be reached from one by arrows, asked through the memory.
    fn reached(memory: &Memory<char, Vec<char>>, arrows: &[(char, char)], from: char) -> Vec<char> {
        memory.recall(
            from,
            || {
                let mut all = vec![from];
                for (_, to) in arrows.iter().filter(|(of, _)| *of == from) {
                    all.extend(reached(memory, arrows, *to));
                }
                all.sort_unstable();
                all.dedup();
                all
            },
            || true,
        )
    }

    #[test]
    fn an_answer_in_which_something_was_left_out_is_not_kept() {
        let memory = Memory::default();
        let arrows = [('a', 'b'), ('b', 'c'), ('c', 'a'), ('c', 'd'), ('d', 'd')];
        assert_eq!(reached(&memory, &arrows, 'a'), ['a', 'b', 'c', 'd']);
        // `b` and `c` were asked while `a` was open and know too little of it.
        let mut kept: Vec<char> = memory.known.borrow().keys().copied().collect();
        kept.sort_unstable();
        assert_eq!(kept, ['a', 'd']);
        assert_eq!(reached(&memory, &arrows, 'c'), ['a', 'b', 'c', 'd']);
        assert!(memory.open.borrow().is_empty());
    }

    #[test]
    fn an_answer_that_was_cut_short_is_asked_again() {
        let memory: Memory<u32, u32> = Memory::default();
        assert_eq!(memory.recall(1, || 10, || false), 10);
        assert_eq!(memory.recall(1, || 11, || true), 11);
        assert_eq!(memory.recall(1, || 12, || true), 11);
    }
}
