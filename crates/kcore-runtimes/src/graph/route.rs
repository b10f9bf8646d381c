//! Ways from roots to objects, in the words of a language.

use std::{collections::BTreeSet, sync::Arc};

use kcore_mem::Addr;

use super::{Graph, Root};
use crate::{
    Host,
    objects::{Edge, NamedEdge, Objects, Stopped, Watch},
};

/// How many objects may lie between two that are one step for the language: its dict lies between an instance and the
/// value of an attribute.
const MAX_BETWEEN: usize = 2;

/// A way from a root to an object; no other is shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// What keeps the first object.
    pub root: Root,
    /// The objects on the way, the one that the root keeps first and the wanted one last.
    pub steps: Vec<PathStep>,
}

/// An object on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// Where it begins, without tag.
    pub at: Addr,
    /// Its class; `None` where that cannot be read.
    pub class: Option<Arc<str>>,
    /// How the one before keeps it; `None` of the first.
    pub edge: Option<Edge>,
}

/// The path to the object that begins at `at`. An object without a number in the graph is a leaf: the path leads to one
/// of its referrers, and on to it. A guessed root counts only if nothing certain keeps the object.
pub fn path_to(
    objects: &(impl Objects + ?Sized),
    host: &dyn Host,
    at: Addr,
    watch: Watch<'_>,
) -> Result<Option<Path>, Stopped> {
    let Some(graph) = objects.graph(host, watch)? else { return Ok(None) };
    let direct = |is_certain: bool| {
        let mut roots = graph.roots().iter();
        roots.find(|root| root.to == at && root.kind.is_certain == is_certain).cloned()
    };
    let path = |root, way: &[Addr]| Path { root, steps: steps(objects, host, way) };
    if let Some(root) = direct(true) {
        return Ok(Some(path(root, &[at])));
    }
    let found = way_to(objects, host, &graph, at, watch)?;
    match (found, direct(false)) {
        (Some((root, way)), None) => Ok(Some(path(root, &way))),
        (Some((root, way)), Some(_)) if root.kind.is_certain => Ok(Some(path(root, &way))),
        (_, guessed) => Ok(guessed.map(|root| path(root, &[at]))),
    }
}

/// A root, and the objects from it to the one that begins at `at`.
fn way_to(
    objects: &(impl Objects + ?Sized),
    host: &dyn Host,
    graph: &Graph,
    at: Addr,
    watch: Watch<'_>,
) -> Result<Option<(Root, Vec<Addr>)>, Stopped> {
    let (wanted, is_leaf) = match graph.nodes().number(at) {
        Some(node) => (BTreeSet::from([node]), false),
        None => (holders(objects, host, graph, at, watch)?, true),
    };
    let Some(found) = graph.shortest_path(&wanted) else { return Ok(None) };
    let addresses = found.nodes.iter().filter_map(|node| graph.nodes().address(*node));
    let way = addresses.chain(is_leaf.then_some(at)).collect();
    Ok(Some((found.root.clone(), way)))
}

/// The numbers of those that keep an object without one.
fn holders(
    objects: &(impl Objects + ?Sized),
    host: &dyn Host,
    graph: &Graph,
    at: Addr,
    watch: Watch<'_>,
) -> Result<BTreeSet<u32>, Stopped> {
    let referrers = objects.referrers(host, &[at], watch)?.into_iter();
    let kept = referrers.filter(|referrer| !referrer.is_weak);
    Ok(kept.filter_map(|referrer| graph.nodes().number(referrer.at)).collect())
}

/// The steps of a way. What the language does not see, because an object before names what lies behind, is left out.
fn steps(objects: &(impl Objects + ?Sized), host: &dyn Host, way: &[Addr]) -> Vec<PathStep> {
    let mut steps = Vec::new();
    let mut index = 0_usize;
    let mut edge = None;
    while let Some(at) = way.get(index) {
        steps.push(PathStep { at: *at, class: objects.class_at(host, *at), edge });
        let rest = way.get(index.saturating_add(1)..).unwrap_or_default();
        let (by, skipped) = next_edge(&objects.edges(host, *at), rest);
        edge = by;
        index = index.saturating_add(1).saturating_add(skipped);
    }
    steps
}

/// How an object keeps one of those behind it, the farthest that it names, and how many lie between.
fn next_edge(edges: &[NamedEdge], rest: &[Addr]) -> (Option<Edge>, usize) {
    let to = |at: &Addr| edges.iter().find(|edge| edge.to == *at && !edge.is_weak);
    let near = rest.iter().enumerate().take(MAX_BETWEEN.saturating_add(1));
    let named = near.rev().find_map(|(skipped, at)| Some((to(at)?.edge.clone(), skipped)));
    match named {
        Some((edge, skipped)) => (Some(edge), skipped),
        None => (rest.first().map(|_| Edge::Inside), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_language_does_not_see_is_no_step() {
        let edge = |to, edge| NamedEdge { to: Addr::new(to), edge, is_weak: false };
        let member = Edge::Member("held".into());
        let edges = [edge(1, Edge::Slot("dict")), edge(2, member.clone())];
        let way = |way: &[u64]| way.iter().map(|at| Addr::new(*at)).collect::<Vec<_>>();
        assert_eq!(next_edge(&edges, &way(&[1, 2, 3])), (Some(member), 1));
        assert_eq!(next_edge(&edges, &way(&[1])), (Some(Edge::Slot("dict")), 0));
        assert_eq!(next_edge(&edges, &way(&[7, 8, 9, 1])), (Some(Edge::Inside), 0));
        assert_eq!(next_edge(&edges, &[]), (None, 0));
    }
}
