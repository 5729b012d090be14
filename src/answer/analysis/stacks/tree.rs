//! All stacks that occurred, as a tree, with a number for each.

use super::calls::StackFrame;
use std::collections::HashMap;

/// A stack: index into the tree's nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node(usize);

/// The stacks below their roots. Memory grows with the number of different stacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackTree<R> {
    nodes: Vec<(Parent<R>, u64)>,
    known: HashMap<(Node, StackFrame), Node>,
    roots: HashMap<R, Node>,
}

#[derive(Clone, Debug)]
enum Parent<R> {
    Root(R),
    Of(Node, StackFrame),
}

impl<R: Clone + Eq + std::hash::Hash> StackTree<R> {
    pub(crate) fn new() -> Self {
        StackTree { nodes: Vec::new(), known: HashMap::new(), roots: HashMap::new() }
    }

    /// The stack of nothing but `root`.
    pub(crate) fn root(&mut self, root: &R) -> Node {
        if let Some(known) = self.roots.get(root) {
            return *known;
        }
        let node = self.push(Parent::Root(root.clone()));
        self.roots.insert(root.clone(), node);
        node
    }

    /// The stack `below` with another frame.
    pub(crate) fn child(&mut self, below: Node, frame: StackFrame) -> Node {
        if let Some(known) = self.known.get(&(below, frame)) {
            return *known;
        }
        let node = self.push(Parent::Of(below, frame));
        self.known.insert((below, frame), node);
        node
    }

    /// The stack without its innermost frame; of a root, the root.
    pub(crate) fn parent(&self, node: Node) -> Node {
        match self.nodes.get(node.0) {
            Some((Parent::Of(below, _), _)) => *below,
            _ => node,
        }
    }

    /// Adds to the number of a stack.
    pub(crate) fn add(&mut self, node: Node, more: u64) {
        if let Some((_, number)) = self.nodes.get_mut(node.0) {
            *number = number.saturating_add(more);
        }
    }

    /// The stacks with a number, each with its root and its frames, the outermost first.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = (&R, Vec<StackFrame>, u64)> {
        self.nodes.iter().enumerate().filter(|(_, (_, number))| *number > 0).filter_map(|(index, (_, number))| {
            let (mut at, mut frames) = (Node(index), Vec::new());
            loop {
                match &self.nodes.get(at.0)?.0 {
                    Parent::Of(below, frame) => {
                        frames.push(*frame);
                        at = *below;
                    }
                    Parent::Root(root) => {
                        frames.reverse();
                        return Some((root, frames, *number));
                    }
                }
            }
        })
    }

    fn push(&mut self, parent: Parent<R>) -> Node {
        self.nodes.push((parent, 0));
        Node(self.nodes.len() - 1)
    }
}
