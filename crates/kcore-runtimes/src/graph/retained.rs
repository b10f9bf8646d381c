//! What would be freed with an object: its own size, and that of all that only it keeps.

use super::{Graph, NONE, dominators::Dominators};
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
        let dominators = Dominators::of(&graph.edges, &graph.root_nodes, watch)?;
        let mut place = vec![NONE; graph.node_count()];
        for (index, node) in (0..).zip(&dominators.order) {
            if let Some(place) = place.get_mut(*node as usize) {
                *place = index;
            }
        }
        let own = dominators.order.iter().map(|node| graph.bytes(*node));
        let mut bytes: Vec<u64> = own.collect();
        // A dominator comes before all that it dominates.
        for (index, dominator) in dominators.dominator.iter().enumerate().rev() {
            let held = bytes.get(index).copied().unwrap_or(0);
            if let Some(above) = bytes.get_mut(*dominator as usize) {
                *above = above.saturating_add(held);
            }
        }
        Ok(Self { dominators, bytes, place })
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
