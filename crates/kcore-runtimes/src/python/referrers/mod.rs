//! Who refers to an object.

mod edge;
mod unlisted;
mod words;

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::{
    Census, Python,
    heap::{DICT, Heap, Object},
};
use crate::{
    Host,
    objects::{Referrer, Stopped, Watch},
};

use unlisted::Unlisted;
pub use words::Words;

/// Objects after which whoever waits is asked whether to go on.
const STRIDE: u64 = 1 << 12;
/// Objects that refer to one of those in question, at most.
const MAX_FOUND: usize = 1 << 20;
/// Where the link to the next object of a collector's list lies: before the object.
const LINK: u64 = 16;

impl Python {
    /// Who refers to any of some objects: other objects, and frames by their variables. An instance, a module or a
    /// class refers to what its own dict holds; the dict is not told beside it.
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
        Ok(told)
    }

    /// The objects that refer to any of some.
    fn searched(
        &self,
        host: &dyn Host,
        census: &Census,
        to: FxHashSet<Addr>,
        watch: Watch<'_>,
    ) -> Result<Vec<Object>, Stopped> {
        let heap = self.heap(host);
        let with_unlisted = to.iter().any(|at| !is_listed(&heap, *at));
        let unlisted = with_unlisted.then(|| Unlisted::new(heap, self.code_class(host)));
        let mut search = Search { words: Words::new(self, host), heap, to, unlisted };
        let mut found = Vec::new();
        search.run(census, watch, &mut |object, refers| {
            found.extend(Some(object).filter(|_| refers && found.len() < MAX_FOUND));
        })?;
        Ok(found)
    }

    /// Tells all objects that refer to others: those of a census, and those in no list that they lead to.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub(super) fn each_known(
        &self,
        host: &dyn Host,
        census: &Census,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Object),
    ) -> Result<(), Stopped> {
        let heap = self.heap(host);
        let unlisted = Some(Unlisted::new(heap, self.code_class(host)));
        let (words, to) = (Words::new(self, host), FxHashSet::default());
        Search { words, heap, to, unlisted }.run(census, watch, &mut |object, _| tell(object))
    }

    /// Instances, modules and classes whose own dict is one of some, each with that.
    fn owners(
        &self,
        host: &dyn Host,
        census: &Census,
        dicts: FxHashSet<Addr>,
        watch: Watch<'_>,
    ) -> Result<Vec<(Addr, Object)>, Stopped> {
        if dicts.is_empty() {
            return Ok(Vec::new());
        }
        let heap = self.heap(host);
        let found = self.searched(host, census, dicts.clone(), watch)?.into_iter();
        let own = |object: Object| Some((self.own_dict(host, &heap, object)?, object));
        Ok(found.filter_map(own).filter(|(dict, _)| dicts.contains(dict)).collect())
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
    /// Tells each object, and whether it refers to one of those in question.
    fn run(
        &mut self,
        census: &Census,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Object, bool),
    ) -> Result<(), Stopped> {
        let mut count = 0_u64;
        for listed in &census.objects {
            let mut next = Some(*listed);
            while let Some(at) = next {
                if let Some(object) = self.heap.object(at) {
                    tell(object, self.refers(object));
                }
                count = count.saturating_add(1);
                if count.is_multiple_of(STRIDE)
                    && watch(count, census.objects.len() as u64).is_break()
                {
                    return Err(Stopped);
                }
                next = self.unlisted.as_mut().and_then(Unlisted::pop);
            }
        }
        Ok(())
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
