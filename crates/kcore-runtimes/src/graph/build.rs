//! Building the graph of any runtime's objects: each is read once, all processors at the same time.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_parallel::prelude::*;
use rustc_hash::FxHashMap;

use super::{Edges, Graph, MAX_OBJECTS, NONE, Nodes, ReadObjects, Root, nodes::SortedNodes};
use crate::{
    Host,
    objects::{HeapObject, Objects, Stopped, Watch},
};

/// Objects that one thread reads at a time, and those between two looks at the user.
const JOB: usize = 1 << 12;
const STEP: usize = 1 << 16;

impl Graph {
    /// Of the objects of a runtime; `None` when there are too many.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn of(
        objects: &(impl Objects + ?Sized),
        host: &dyn Host,
        watch: Watch<'_>,
    ) -> Result<Option<Self>, Stopped> {
        let Some(list) = listed(objects, host, watch)? else { return Ok(None) };
        let nodes = SortedNodes::new(list.iter().map(|object| object.at).collect());
        let Some(edges) = edges(objects, host, &list, &nodes, watch)? else { return Ok(None) };
        let (certain, guessed) = roots(objects, host, &nodes, watch)?;
        let (class_of, examples) = classes(&list);
        let words = list.iter().map(|object| u32::try_from(object.size / 8).unwrap_or(u32::MAX));
        let words = words.collect();
        let read = ReadObjects { nodes: Arc::new(nodes), edges, words, class_of, examples };
        Ok(Some(Self::new(read, certain, guessed)))
    }
}

/// All objects, lowest first; `None` when there are too many.
fn listed(
    objects: &(impl Objects + ?Sized),
    host: &dyn Host,
    watch: Watch<'_>,
) -> Result<Option<Vec<HeapObject>>, Stopped> {
    let mut list = Vec::new();
    objects.each_object(host, watch, &mut |object| {
        if list.len() as u64 <= MAX_OBJECTS {
            list.push(object);
        }
    })?;
    list.sort_unstable_by_key(|object| object.at);
    list.dedup_by_key(|object| object.at);
    Ok((list.len() as u64 <= MAX_OBJECTS).then_some(list))
}

/// What objects keep; `None` when there is too much of it.
fn edges(
    objects: &(impl Objects + ?Sized),
    host: &dyn Host,
    list: &[HeapObject],
    nodes: &SortedNodes,
    watch: Watch<'_>,
) -> Result<Option<Edges>, Stopped> {
    let mut edges = Edges::new();
    let mut done = 0_usize;
    for step in list.chunks(STEP) {
        let pieces: Vec<Piece> =
            step.par_chunks(JOB).map(|job| piece(objects, host, job, nodes)).collect();
        if !pieces.iter().all(|piece| edges.add(&piece.counts, &piece.targets)) {
            return Ok(None);
        }
        done = done.saturating_add(step.len());
        if watch(done as u64, list.len() as u64).is_break() {
            return Err(Stopped);
        }
    }
    Ok(Some(edges))
}

/// What some objects keep.
#[derive(Default)]
struct Piece {
    /// How much each does.
    counts: Vec<u32>,
    targets: Vec<u32>,
}

fn piece(
    objects: &(impl Objects + ?Sized),
    host: &dyn Host,
    job: &[HeapObject],
    nodes: &SortedNodes,
) -> Piece {
    let mut reader = objects.targets(host);
    let mut piece = Piece::default();
    for object in job {
        let before = piece.targets.len();
        reader.each(object.at, &mut |to| piece.targets.extend(nodes.number(to)));
        let count = piece.targets.len().saturating_sub(before);
        piece.counts.push(u32::try_from(count).unwrap_or(u32::MAX));
    }
    piece
}

/// The roots that are certain, and those that are not.
fn roots(
    objects: &(impl Objects + ?Sized),
    host: &dyn Host,
    nodes: &dyn Nodes,
    watch: Watch<'_>,
) -> Result<(Vec<Root>, Vec<Root>), Stopped> {
    let (mut certain, mut guessed) = (Vec::new(), Vec::new());
    objects.roots(host, nodes, watch, &mut |root| {
        let list = if root.kind.is_certain { &mut certain } else { &mut guessed };
        list.push(root);
    })?;
    Ok((certain, guessed))
}

/// The class of each object as an index, and an object of each class.
fn classes(list: &[HeapObject]) -> (Vec<u32>, Vec<Addr>) {
    let mut known: FxHashMap<Addr, u32> = FxHashMap::default();
    let mut examples = Vec::new();
    let mut index = |object: &HeapObject| {
        let Some(class) = object.class else { return NONE };
        *known.entry(class).or_insert_with(|| {
            examples.push(object.at);
            u32::try_from(examples.len().saturating_sub(1)).unwrap_or(NONE)
        })
    };
    let of_objects = list.iter().map(&mut index).collect();
    (of_objects, examples)
}
