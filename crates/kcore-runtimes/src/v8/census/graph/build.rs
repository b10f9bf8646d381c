//! Building the graph: every object is read once, all processors at the same time.

use std::sync::Arc;

use kcore_parallel::prelude::*;
use rustc_hash::FxHashMap;

use super::super::{Area, Census, References, Stopped, Watch};
use crate::{
    graph::{Edges, Nodes, ReadObjects},
    v8::Heap,
};

/// Areas between two looks at the user.
const STEP: usize = 256;

/// What was read of the objects of an area.
#[derive(Default)]
struct Piece {
    counts: Vec<u32>,
    targets: Vec<u32>,
    words: Vec<u32>,
    maps: Vec<u32>,
}

/// The values that keys of weak maps keep.
type Pairs = FxHashMap<u32, Vec<u32>>;

/// Reads all objects; `None` when there are too many edges.
pub fn build(
    heap: &Heap<'_>,
    census: &Arc<Census>,
    watch: Watch<'_>,
) -> Result<Option<ReadObjects>, Stopped> {
    let references = References::new(*heap, census);
    let pairs = pairs(&references, census);
    let mut read = ReadObjects {
        nodes: census.clone(),
        edges: Edges::new(),
        words: Vec::new(),
        class_of: Vec::new(),
        examples: census.maps().iter().map(|map| map.first).collect(),
    };
    let mut done = 0_u64;
    for areas in census.areas().chunks(STEP) {
        let pieces: Vec<Piece> =
            areas.par_iter().map(|area| piece(&references, census, area, &pairs)).collect();
        for piece in pieces {
            if !read.edges.add(&piece.counts, &piece.targets) {
                return Ok(None);
            }
            read.words.extend(piece.words);
            read.class_of.extend(piece.maps);
        }
        done = done.saturating_add(areas.len() as u64);
        if watch(done, census.areas().len() as u64).is_break() {
            return Err(Stopped);
        }
    }
    Ok(Some(read))
}

fn piece(references: &References<'_>, census: &Census, area: &Area, pairs: &Pairs) -> Piece {
    let mut piece = Piece::default();
    for at in area.starts.iter() {
        let before = piece.targets.len();
        references.each(at, &mut |reference| {
            if !reference.is_weak {
                piece.targets.extend(census.number(reference.to));
            }
        });
        if !pairs.is_empty() {
            let values = census.number(at).and_then(|node| pairs.get(&node));
            piece.targets.extend(values.into_iter().flatten());
        }
        let count = piece.targets.len().saturating_sub(before);
        piece.counts.push(u32::try_from(count).unwrap_or(u32::MAX));
        let size = references.size_at(at).unwrap_or(0);
        piece.words.push(u32::try_from(size / 8).unwrap_or(u32::MAX));
        piece.maps.push(references.map_index(at).unwrap_or(u32::MAX));
    }
    piece
}

/// What keys of weak maps keep, wherever the maps are.
fn pairs(references: &References<'_>, census: &Census) -> Pairs {
    let of_area = |area: &Area| {
        let mut found = Vec::new();
        for at in area.starts.iter() {
            let map = references.map(at);
            if map.is_some_and(|map| references.is_ephemeron_table(map)) {
                references.each_pair(at, &mut |key, value| found.push((key, value)));
            }
        }
        found
    };
    let found: Vec<Vec<_>> = census.areas().par_iter().map(of_area).collect();
    let mut pairs = Pairs::default();
    for (key, value) in found.into_iter().flatten() {
        if let (Some(key), Some(value)) = (census.number(key), census.number(value)) {
            pairs.entry(key).or_default().push(value);
        }
    }
    pairs
}
