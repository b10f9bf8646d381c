//! What would be freed with an object: its own size, and that of all that only it keeps.

use rustc_hash::FxHashMap;

use super::{Edges, Graph, NONE, dominators::Dominators};
use crate::objects::{Stopped, Watch};

/// What objects retain.
#[derive(Debug)]
pub struct Retained {
    dominators: Dominators,
    /// By place in the order of dominators, in bytes.
    bytes: Vec<u64>,
    /// The place of each object; [`NONE`] of one that is not reachable.
    place: Vec<u32>,
}

impl Retained {
    /// Of all objects of a graph that are reachable.
    pub(super) fn of(graph: &Graph, watch: Watch<'_>) -> Result<Self, Stopped> {
        Self::of_nodes(&graph.edges, &graph.root_nodes, &|node| graph.bytes(node), watch)
    }

    /// Of all nodes that are reached from some; `own` tells how many bytes each has itself.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn of_nodes(
        edges: &Edges,
        roots: &[u32],
        own: &dyn Fn(u32) -> u64,
        watch: Watch<'_>,
    ) -> Result<Self, Stopped> {
        let dominators = Dominators::of(edges, roots, watch)?;
        let mut place = vec![NONE; edges.node_count()];
        for (index, node) in (0..).zip(&dominators.order) {
            if let Some(place) = place.get_mut(*node as usize) {
                *place = index;
            }
        }
        let mut bytes: Vec<u64> = dominators.order.iter().map(|node| own(*node)).collect();
        // A dominator comes before all that it dominates.
        for (index, dominator) in dominators.dominator.iter().enumerate().rev() {
            let held = bytes.get(index).copied().unwrap_or(0);
            if let Some(above) = bytes.get_mut(*dominator as usize) {
                *above = above.saturating_add(held);
            }
        }
        Ok(Self { dominators, bytes, place })
    }

    /// The nodes that only `node` keeps, and none of the others that it keeps does: each with how many nodes it retains,
    /// itself included. With `None`, those that no node alone keeps. Nothing of a node that is not reachable.
    pub fn kept_by(&self, node: Option<u32>) -> Vec<(u32, u64)> {
        let above = node.map_or(NONE, |node| get(&self.place, node));
        if node.is_some() && above == NONE {
            return Vec::new();
        }
        // For each place, which of those that are told it belongs to.
        let mut within = vec![NONE; self.dominators.order.len()];
        let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
        for (place, dominator) in (0..).zip(&self.dominators.dominator) {
            let of = if *dominator == above { place } else { get(&within, *dominator) };
            if let Some(within) = within.get_mut(place as usize).filter(|_| of != NONE) {
                *within = of;
                let count = counts.entry(of).or_default();
                *count = count.saturating_add(1);
            }
        }
        let told = counts.into_iter();
        told.map(|(place, count)| (get(&self.dominators.order, place), count)).collect()
    }

    /// The node without which `node` cannot be reached, the nearest of them; `None` where there is none.
    pub fn keeper_of(&self, node: u32) -> Option<u32> {
        let place = get(&self.place, node);
        let dominator = get(&self.dominators.dominator, place);
        self.dominators.order.get(dominator as usize).copied()
    }

    /// What an object retains, in bytes; `None` of one that is not reachable.
    pub fn bytes(&self, node: u32) -> Option<u64> {
        let place = *self.place.get(node as usize)?;
        self.bytes.get(place as usize).copied()
    }

    /// How many objects are reachable.
    pub fn reachable_count(&self) -> usize {
        self.dominators.order.len()
    }

    /// The reachable objects, each before those that it dominates.
    pub(super) fn order(&self) -> &[u32] {
        &self.dominators.order
    }

    /// For each of them, the place of its dominator.
    pub(super) fn dominators(&self) -> &[u32] {
        &self.dominators.dominator
    }

    pub(super) fn bytes_at(&self, place: usize) -> u64 {
        self.bytes.get(place).copied().unwrap_or(0)
    }
}

fn get(list: &[u32], index: u32) -> u32 {
    list.get(index as usize).copied().unwrap_or(NONE)
}
