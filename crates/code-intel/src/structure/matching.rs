//! A pattern laid over a syntax tree, within a bound on steps.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use tree_sitter::Node;

use super::pattern::{Form, Match, Pattern};
use super::{LIMITS, Refusal, Result, SourceText, form_children};

/// Comparisons in one file: holes for any number of nodes can be laid in many ways.
const MOST_STEPS: usize = 5_000_000;

pub(crate) struct Search<'s, 't> {
    source: &'s SourceText<'t>,
    pattern: &'s Pattern,
    bound: Vec<(&'s str, Range<usize>)>,
    steps: usize,
    started: Instant,
}

impl<'s, 't> Search<'s, 't> {
    pub(crate) fn new(source: &'s SourceText<'t>, pattern: &'s Pattern) -> Self {
        Self { source, pattern, bound: Vec::new(), steps: 0, started: Instant::now() }
    }

    /// All matches, in the order of the text.
    pub(crate) fn all(mut self, most: usize) -> Result<Vec<Match>> {
        let mut found = Vec::new();
        let mut cursor = self.source.root().walk();
        loop {
            let node = cursor.node();
            let here = self.at(node)?;
            let is_one = self.pattern.forms.len() == 1 && !here.is_empty();
            // Of a sequence the children may hold more; those that are taken already are skipped below.
            let taken: usize = found.last().map_or(0, |last: &Match| last.range.end);
            found.extend(here.into_iter().filter(|one| one.range.start >= taken));
            if found.len() > most {
                return Err(Refusal::TooMany(most));
            }
            let is_taken = is_one
                || found.last().is_some_and(|last| {
                    node.start_byte() >= last.range.start && node.end_byte() <= last.range.end
                });
            if !is_taken && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Ok(found);
                }
            }
        }
    }

    /// The matches at a node: the node itself, or runs of its children.
    fn at(&mut self, node: Node<'s>) -> Result<Vec<Match>> {
        self.step()?;
        let pattern = self.pattern;
        if let [only] = pattern.forms.as_slice() {
            self.bound.clear();
            let fits = self.fits(only, node)?;
            let range = node.byte_range();
            return Ok(if fits { vec![self.finished(range)] } else { Vec::new() });
        }
        if (node.child_count() as usize) < pattern.forms.len().saturating_sub(1).max(1) {
            return Ok(Vec::new());
        }
        let children = self.children(node);
        let (mut found, mut at) = (Vec::new(), 0);
        while at < children.len() {
            self.bound.clear();
            match self.run(&pattern.forms, &children, at, End::Anywhere)? {
                Some(end) if end > at => {
                    let range = children[at].start_byte()..children[end - 1].end_byte();
                    found.push(self.finished(range));
                    at = end;
                }
                _ => at += 1,
            }
        }
        Ok(found)
    }

    fn finished(&self, range: Range<usize>) -> Match {
        let holes = self.bound.iter().map(|(name, range)| ((*name).to_owned(), range.clone()));
        Match { range, holes: holes.collect::<BTreeMap<_, _>>() }
    }

    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        let is_late = self.steps.is_multiple_of(4096) && self.started.elapsed() > LIMITS.time;
        if self.steps > MOST_STEPS || is_late { Err(Refusal::TooSlow) } else { Ok(()) }
    }

    fn children(&mut self, node: Node<'s>) -> Vec<Node<'s>> {
        self.steps += node.child_count() as usize;
        form_children(node)
    }

    fn fits(&mut self, form: &'s Form, node: Node<'s>) -> Result<bool> {
        self.step()?;
        match form {
            Form::Hole(name) | Form::Rest(name) => {
                Ok(node.is_named() && self.bind(name.as_deref(), node.byte_range()))
            }
            Form::Leaf { kind, text } => Ok(node.child_count() == 0
                && node.kind_id() == *kind
                && self.source.slice(node.byte_range()) == text),
            Form::Node { kind, children } => {
                if node.kind_id() != *kind {
                    return Ok(false);
                }
                let nodes = self.children(node);
                Ok(self.run(children, &nodes, 0, End::All)?.is_some())
            }
        }
    }

    /// Binds a name to a piece of code; a name that is bound already must stand for the same text.
    fn bind(&mut self, name: Option<&'s str>, range: Range<usize>) -> bool {
        let Some(name) = name else { return true };
        if let Some((_, known)) = self.bound.iter().find(|(other, _)| *other == name) {
            return self.source.slice(known.clone()) == self.source.slice(range);
        }
        self.bound.push((name, range));
        true
    }

    /// Lays forms over nodes from one on; where they end.
    fn run(&mut self, forms: &'s [Form], nodes: &[Node<'s>], at: usize, end: End) -> Result<Option<usize>> {
        self.step()?;
        let Some((first, rest)) = forms.split_first() else {
            return Ok((end == End::Anywhere || at == nodes.len()).then_some(at));
        };
        let mark = self.bound.len();
        if let Form::Rest(name) = first {
            return self.rest(name.as_deref(), rest, nodes, at, end);
        }
        if let Some(node) = nodes.get(at) {
            if self.fits(first, *node)?
                && let Some(stop) = self.run(rest, nodes, at + 1, end)?
            {
                return Ok(Some(stop));
            }
            self.bound.truncate(mark);
        }
        // `f($A, $$$REST)` fits `f(a)`: the comma goes with what is not there.
        if is_comma(first)
            && let Some((Form::Rest(name), after)) = rest.split_first()
        {
            let here = nodes.get(at).map_or(0, Node::start_byte);
            if self.bind(name.as_deref(), here..here)
                && let Some(stop) = self.run(after, nodes, at, end)?
            {
                return Ok(Some(stop));
            }
            self.bound.truncate(mark);
        }
        Ok(None)
    }

    fn rest(
        &mut self,
        name: Option<&'s str>,
        forms: &'s [Form],
        nodes: &[Node<'s>],
        at: usize,
        end: End,
    ) -> Result<Option<usize>> {
        let mark = self.bound.len();
        let is_separator = |place: usize| nodes.get(place).is_some_and(|node| node.kind() == ",");
        for stop in at..=nodes.len() {
            self.step()?;
            // A comma before the closing bracket belongs to no argument.
            let has_last_comma = stop > at + 1 && stop + 1 == nodes.len() && is_separator(stop - 1);
            if stop > at && (is_separator(at) || is_separator(stop - 1) && !has_last_comma) {
                continue;
            }
            let from = nodes.get(at).map_or(0, Node::start_byte);
            let last = if has_last_comma { stop.saturating_sub(2) } else { stop.saturating_sub(1) };
            let range = if stop == at { from..from } else { from..nodes[last].end_byte() };
            if self.bind(name, range) {
                if let Some(found) = self.run(forms, nodes, stop, end)? {
                    return Ok(Some(found));
                }
                let is_empty = stop == at;
                if is_empty
                    && let Some((comma, after)) = forms.split_first()
                    && is_comma(comma)
                    && let Some(found) = self.run(after, nodes, stop, end)?
                {
                    return Ok(Some(found));
                }
            }
            self.bound.truncate(mark);
        }
        Ok(None)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// All nodes must be used.
    All,
    Anywhere,
}

fn is_comma(form: &Form) -> bool {
    matches!(form, Form::Leaf { text, .. } if text == ",")
}
