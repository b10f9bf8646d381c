//! Who refers to an object.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_parallel::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    super::{Heap, V8, heap::Object},
    Area, Census, Edge, Reference, References, Stopped, Watch,
};
use crate::{Host, objects::Referrer};

/// Areas that one thread looks at between two looks at the user.
const STEP: usize = 256;
/// Referrers that are told between two looks at the user.
const TOLD: usize = 1024;
/// Referrers that are remembered, at most.
const MAX_FOUND: usize = 1 << 20;

/// A word that refers to an object.
#[derive(Clone, Copy)]
struct ReferringWord {
    from: Addr,
    reference: Reference,
}

impl V8 {
    /// Who refers to any of some objects. What refers to them by a store of its own, as an object does by its
    /// properties and elements, is told itself.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn referrers(
        &self,
        host: &dyn Host,
        census: &Census,
        to: &[Addr],
        watch: Watch<'_>,
    ) -> Result<Vec<Referrer>, Stopped> {
        let heap = self.heap(host);
        let search = Search { heap, census, references: References::new(heap, census) };
        let mut found = search.words(&to.iter().copied().collect(), watch)?;
        let stores = found.iter().map(|found| found.from).filter(|at| search.is_store(*at));
        let stores: FxHashSet<Addr> = stores.collect();
        let owners = match stores.is_empty() {
            true => Vec::new(),
            false => search.words(&stores, watch)?,
        };
        found.sort_unstable_by_key(|found| (found.reference.to, found.from));
        Teller { search, classes: FxHashMap::default() }.told(&found, &owners, watch)
    }
}

struct Search<'a> {
    heap: Heap<'a>,
    census: &'a Census,
    references: References<'a>,
}

impl Search<'_> {
    /// All words of objects that refer to any of some objects.
    fn words(&self, to: &FxHashSet<Addr>, watch: Watch<'_>) -> Result<Vec<ReferringWord>, Stopped> {
        let areas = self.census.areas();
        let mut found = Vec::new();
        for (step, areas) in areas.chunks(STEP).enumerate() {
            let parts: Vec<Vec<ReferringWord>> =
                areas.par_iter().map(|area| self.words_in(area, to)).collect();
            found.extend(parts.into_iter().flatten());
            found.truncate(MAX_FOUND);
            let done = step.saturating_add(1).saturating_mul(STEP) as u64;
            if watch(done, self.census.areas().len() as u64).is_break() {
                return Err(Stopped);
            }
        }
        Ok(found)
    }

    fn words_in(&self, area: &Area, to: &FxHashSet<Addr>) -> Vec<ReferringWord> {
        let mut found = Vec::new();
        for from in area.starts.iter() {
            self.references.each_to(from, to, &mut |reference| {
                found.push(ReferringWord { from, reference });
            });
        }
        found
    }

    /// Whether an object holds what another object has: properties, elements, entries.
    fn is_store(&self, at: Addr) -> bool {
        let types = &self.heap.layout.types;
        self.heap.object_at(at).is_some_and(|object| {
            let kind = object.kind;
            kind == types.property_array || (kind >= types.fixed_array && kind < types.byte_array)
        })
    }
}

/// Tells references, by names.
struct Teller<'a> {
    search: Search<'a>,
    /// What objects are counted as, by their maps.
    classes: FxHashMap<Addr, Arc<str>>,
}

impl Teller<'_> {
    fn told(
        &mut self,
        found: &[ReferringWord],
        owners: &[ReferringWord],
        watch: Watch<'_>,
    ) -> Result<Vec<Referrer>, Stopped> {
        let mut of_store: FxHashMap<Addr, Vec<&ReferringWord>> = FxHashMap::default();
        for owner in owners {
            of_store.entry(owner.reference.to).or_default().push(owner);
        }
        let mut told = Vec::new();
        for (done, one) in found.iter().enumerate() {
            if done.is_multiple_of(TOLD) && watch(done as u64, found.len() as u64).is_break() {
                return Err(Stopped);
            }
            let owners = of_store.get(&one.from).map(Vec::as_slice).unwrap_or_default();
            let before = told.len();
            told.extend(owners.iter().filter_map(|owner| self.by_owner(one, owner)));
            if told.len() == before {
                told.extend(self.own(one));
            }
            if told.len() >= MAX_FOUND {
                break;
            }
        }
        told.truncate(MAX_FOUND);
        Ok(told)
    }

    fn by_owner(&mut self, found: &ReferringWord, owner: &ReferringWord) -> Option<Referrer> {
        let heap = self.search.heap;
        let object = heap.object_at(owner.from).filter(|it| heap.is_receiver(*it))?;
        let store = heap.object_at(found.from)?;
        let (at, offset) = (owner.reference.offset, found.reference.offset);
        let edge = heap.stored_edge(object, at, store, offset)?;
        Some(self.referrer(object, found, edge))
    }

    fn own(&mut self, found: &ReferringWord) -> Option<Referrer> {
        let object = self.search.heap.object_at(found.from)?;
        let edge = self.search.heap.edge(object, found.reference.offset);
        Some(self.referrer(object, found, edge))
    }

    fn referrer(&mut self, object: Object, found: &ReferringWord, edge: Edge) -> Referrer {
        let heap = self.search.heap;
        let class = self.classes.entry(object.map);
        Referrer {
            to: found.reference.to,
            at: object.at,
            class: Some(class.or_insert_with(|| heap.class_of_object(object).into()).clone()),
            edge,
            is_weak: found.reference.is_weak,
        }
    }
}
