//! Answers that need only the edges of objects. They are slower than a runtime's own, and enough for a small heap.

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::{NamedEdge, Objects, Referrer, Stopped, Targets, Watch};
use crate::Host;

/// Referrers that are remembered, at most.
const MAX_FOUND: usize = 1 << 20;

/// Reads what objects keep from their edges.
pub struct ByName<'a, O: ?Sized> {
    /// The objects.
    pub objects: &'a O,
    /// The process.
    pub host: &'a dyn Host,
}

impl<O: Objects + ?Sized> Targets for ByName<'_, O> {
    fn each(&mut self, at: Addr, tell: &mut dyn FnMut(Addr)) {
        let edges = self.objects.edges(self.host, at).into_iter();
        edges.filter(|edge| !edge.is_weak).for_each(|edge| tell(edge.to));
    }
}

/// What refers to any of some objects. Reads the edges of every object.
pub fn referrers(
    objects: &(impl Objects + ?Sized),
    host: &dyn Host,
    to: &[Addr],
    watch: Watch<'_>,
) -> Result<Vec<Referrer>, Stopped> {
    let wanted: FxHashSet<Addr> = to.iter().copied().collect();
    let mut found = Vec::new();
    objects.each_object(host, watch, &mut |object| {
        let edges = objects.edges(host, object.at).into_iter();
        for NamedEdge { to, edge, is_weak } in edges.filter(|edge| wanted.contains(&edge.to)) {
            if found.len() < MAX_FOUND {
                let class = objects.class_at(host, object.at);
                found.push(Referrer { to, at: object.at, class, edge, is_weak });
            }
        }
    })?;
    found.sort_by_key(|referrer| (referrer.to, referrer.at));
    Ok(found)
}
