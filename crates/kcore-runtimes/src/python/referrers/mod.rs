//! Who refers to an object.

mod edge;
mod unlisted;
mod words;

use std::{ops::ControlFlow, sync::Arc};

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::{
    Census, Python,
    heap::{DICT, Heap, Object},
};
use crate::Host;

pub use edge::Edge;
use unlisted::Unlisted;
use words::Words;

/// Objects after which who waits is asked whether to go on.
const STRIDE: usize = 1 << 12;
/// Objects that refer to one of those in question, at most.
const MAX_FOUND: usize = 1 << 20;
/// Where the link to the next object of a collector's list lies: before the object.
const LINK: u64 = 16;

/// An object, or a frame, that refers to another object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referrer {
    /// The object that it refers to.
    pub to: Addr,
    /// Where it lies.
    pub at: Addr,
    /// Its class, or of a frame the name of its function.
    pub class: Option<Arc<str>>,
    /// How it refers to it.
    pub edge: Edge,
}

impl Python {
    /// Who refers to any of some objects: other objects, and frames by their variables. An instance, a module or a
    /// class refers to what its own dict holds; the dict is not told beside it. `watch` is told how many objects
    /// were looked at, and may break off: then there is no answer.
    pub fn referrers(
        &self,
        host: &dyn Host,
        census: &Census,
        to: &[Addr],
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Option<Vec<Referrer>> {
        let to: FxHashSet<Addr> = to.iter().copied().collect();
        let mut objects = self.searched(host, census, to.clone(), watch)?;
        let dicts = objects.iter().filter(|object| object.is(DICT)).map(|object| object.at);
        let owners = self.owners(host, census, dicts.collect(), watch)?;
        let owned: FxHashSet<Addr> = owners.iter().map(|(dict, _)| *dict).collect();
        objects.extend(owners.into_iter().map(|(_, owner)| owner));
        objects.retain(|object| !owned.contains(&object.at));
        objects.sort_unstable_by_key(|object| object.at);
        objects.dedup();
        let mut told: Vec<Referrer> =
            objects.iter().flat_map(|object| self.edges(host, *object, &to)).collect();
        let known: FxHashSet<Addr> = told.iter().map(|referrer| referrer.at).collect();
        told.extend(self.of_frames(host, &to).into_iter().filter(|it| !known.contains(&it.at)));
        told.sort_by_key(|referrer| (referrer.to, referrer.at));
        Some(told)
    }

    /// The objects that refer to any of some.
    fn searched(
        &self,
        host: &dyn Host,
        census: &Census,
        to: FxHashSet<Addr>,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Option<Vec<Object>> {
        let heap = self.heap(host);
        let with_unlisted = to.iter().any(|at| !is_listed(&heap, *at));
        let unlisted = with_unlisted.then(|| Unlisted::new(heap, self.code_class(host)));
        Search { words: Words::new(self, host), heap, to, unlisted }.run(census, watch)
    }

    /// Instances, modules and classes whose own dict is one of some, each with that.
    fn owners(
        &self,
        host: &dyn Host,
        census: &Census,
        dicts: FxHashSet<Addr>,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Option<Vec<(Addr, Object)>> {
        if dicts.is_empty() {
            return Some(Vec::new());
        }
        let heap = self.heap(host);
        let found = self.searched(host, census, dicts.clone(), watch)?.into_iter();
        let own = |object: Object| Some((self.own_dict(host, &heap, object)?, object));
        Some(found.filter_map(own).filter(|(dict, _)| dicts.contains(dict)).collect())
    }
}

/// Whether an object is in a list of the collector.
fn is_listed(heap: &Heap<'_>, at: Addr) -> bool {
    let link = at.get().checked_sub(LINK).and_then(|at| heap.word(Addr::new(at), 0));
    let next = link.and_then(|next| heap.word(Addr::new(next & !3), 8));
    // The next one knows it.
    next.is_some_and(|back| (back & !3).checked_add(LINK) == Some(at.get()))
}

/// Looks for objects that refer to some.
struct Search<'a> {
    heap: Heap<'a>,
    words: Words<'a>,
    to: FxHashSet<Addr>,
    /// Objects that are in no list, where they may refer to one of those: they hold nothing that is in a list.
    unlisted: Option<Unlisted<'a>>,
}

impl Search<'_> {
    fn run(
        &mut self,
        census: &Census,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Option<Vec<Object>> {
        let (mut found, mut count) = (Vec::new(), 0_usize);
        for listed in &census.objects {
            let mut next = Some(*listed);
            while let Some(at) = next {
                let object = self.heap.object(at).filter(|object| self.refers(*object));
                found.extend(object.filter(|_| found.len() < MAX_FOUND));
                count = count.saturating_add(1);
                if count.is_multiple_of(STRIDE) && watch(count).is_break() {
                    return None;
                }
                next = self.unlisted.as_mut().and_then(Unlisted::pop);
            }
        }
        Some(found)
    }

    /// Whether an object refers to one of those in question.
    fn refers(&mut self, object: Object) -> bool {
        let mut refers = false;
        let Self { words, to, unlisted, .. } = self;
        words.of(object, &mut |word| {
            // Since 3.14 the lowest bits of a word of a frame are a tag.
            let at = Addr::new(word & !3);
            refers |= to.contains(&at);
            if let Some(unlisted) = unlisted {
                unlisted.meet(at);
            }
        });
        refers
    }
}
