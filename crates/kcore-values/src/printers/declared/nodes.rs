//! Along the nodes of lists and trees, as expressions say that they are linked.

use std::collections::HashSet;

use kcore_mem::Addr;

use super::{
    PrinterExpression,
    scope::PrinterScope,
    show::{Printed, trouble},
};
use crate::Object;

/// Levels of a tree, at most.
const MAX_LEVELS: usize = 1 << 16;
/// Nodes of a list or a tree that are remembered, so that one that leads back to itself ends; indices that are looked
/// at.
pub const MAX_NODES: u64 = 1 << 20;

/// Which node is none, where no null pointer stands for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeEnd<'p> {
    /// Its address.
    pub at: Option<u64>,
    /// A condition over the node.
    pub when: Option<&'p PrinterExpression>,
}

impl NodeEnd<'_> {
    fn is_at(&self, scope: &PrinterScope<'_>, node: &Object, at: Addr) -> Printed<bool> {
        match self.when {
            _ if self.at == Some(at.get()) => Ok(true),
            Some(_) => scope.over(node).holds(self.when),
            None => Ok(false),
        }
    }
}

/// Along a list.
#[derive(Debug)]
pub struct ListNodes<'p> {
    next: &'p PrinterExpression,
    end: NodeEnd<'p>,
    first: Option<Addr>,
    seen: HashSet<Addr>,
    node: Option<Object>,
}

impl<'p> ListNodes<'p> {
    /// From the first node, along the pointers that `next` gives.
    pub fn new(next: &'p PrinterExpression, end: NodeEnd<'p>, first: Option<Object>) -> Self {
        Self { next, end, first: None, seen: HashSet::new(), node: first }
    }

    /// The node that is next; `None` behind the last, and where the list leads back to its first node.
    ///
    /// # Errors
    /// When a node cannot be read, or the list runs in a circle. Behind an error there are no nodes.
    pub fn take(&mut self, scope: &PrinterScope<'_>) -> Printed<Option<Object>> {
        let Some(node) = self.node.take() else { return Ok(None) };
        let at = node.address().ok_or_else(|| trouble(self.next, "a node has no address"))?;
        if self.first == Some(at) || self.end.is_at(scope, &node, at)? {
            return Ok(None);
        }
        self.first.get_or_insert(at);
        remember(&mut self.seen, at, self.next, "list")?;
        self.node = scope.over(&node).target(self.next)?;
        Ok(Some(node))
    }
}

/// Through a tree, in order.
#[derive(Debug)]
pub struct TreeNodes<'p> {
    left: &'p PrinterExpression,
    right: &'p PrinterExpression,
    end: NodeEnd<'p>,
    /// Nodes whose left parts were seen.
    above: Vec<Object>,
    /// The node that was given last, whose right part comes next.
    given: Option<Object>,
    seen: HashSet<Addr>,
}

impl<'p> TreeNodes<'p> {
    /// A tree, whose nodes have pointers to the left and to the right. Nothing is in it before [`Self::descend`].
    pub fn new(
        (left, right): (&'p PrinterExpression, &'p PrinterExpression),
        end: NodeEnd<'p>,
    ) -> Self {
        Self { left, right, end, above: Vec::new(), given: None, seen: HashSet::new() }
    }

    /// Goes down to the leftmost node of a part of the tree.
    ///
    /// # Errors
    /// When a node cannot be read, or leads to one that was seen.
    pub fn descend(&mut self, scope: &PrinterScope<'_>, from: Option<Object>) -> Printed<()> {
        let mut next = from;
        while let Some(node) = next {
            let at = node.address().ok_or_else(|| trouble(self.left, "a node has no address"))?;
            if self.end.is_at(scope, &node, at)? {
                return Ok(());
            }
            remember(&mut self.seen, at, self.left, "tree")?;
            if self.above.len() >= MAX_LEVELS {
                return Err(trouble(self.left, &format!("more than {MAX_LEVELS} levels")));
            }
            next = scope.over(&node).target(self.left)?;
            self.above.push(node);
        }
        Ok(())
    }

    /// The node that is next in order; `None` behind the last.
    ///
    /// # Errors
    /// As [`Self::descend`].
    pub fn take(&mut self, scope: &PrinterScope<'_>) -> Printed<Option<Object>> {
        if let Some(given) = self.given.take() {
            let right = scope.over(&given).target(self.right)?;
            self.descend(scope, right)?;
        }
        self.given = self.above.pop();
        Ok(self.given.clone())
    }
}

/// Notes that a node was met.
///
/// # Errors
/// When it was met before, or there are too many.
fn remember(
    seen: &mut HashSet<Addr>,
    at: Addr,
    link: &PrinterExpression,
    what: &str,
) -> Printed<()> {
    if !seen.insert(at) {
        return Err(trouble(link, &format!("the {what} runs in a circle")));
    }
    match seen.len() as u64 {
        0..=MAX_NODES => Ok(()),
        _ => Err(trouble(link, &format!("more than {MAX_NODES} nodes"))),
    }
}
