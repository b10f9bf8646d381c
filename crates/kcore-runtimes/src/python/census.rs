//! The objects that the collector keeps, in its lists: `Include/internal/pycore_gc.h`.
//!
//! Those are the ones that may hold others: instances, lists, dicts, functions; a str, an int or a float is in no
//! list, nor is a dict or tuple of nothing but those.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Python,
    heap::{Heap, Object},
};
use crate::{
    Host,
    objects::{Stopped, Watch},
};

/// Bytes of `PyGC_Head`, which lies before an object, and where that has the next one and the previous one.
const HEAD: u64 = 16;
const PREVIOUS: u64 = 8;
/// Bits of a link that are no address.
const FLAGS: u64 = 3;
/// Where the generations may begin: behind four fields, or two. Patches of one version differ: in 3.13.5 as Debian
/// builds it they are aligned to 4.
const FIRST: [u64; 3] = [24, 20, 8];
/// Generations, and bytes of each. Behind them, after a pointer, lies the one that is never collected.
const GENERATIONS: u64 = 3;
const GENERATION: u64 = 24;
const PERMANENT: [u64; 2] = [80, 84];
/// Objects of one generation, at most.
const MAX_OBJECTS: usize = 1 << 28;
/// Objects after which who waits is asked whether to go on.
const STRIDE: u64 = 1 << 12;

/// Objects of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The class.
    pub class: Addr,
    /// How many there are.
    pub count: u64,
    /// Bytes of the objects themselves, without what they keep elsewhere.
    pub size: u64,
    /// One of them.
    pub example: Addr,
}

/// The objects that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Them, in the order of the collector's lists.
    pub objects: Vec<Addr>,
    /// Lists that end in what is damaged or not there.
    pub broken: u64,
}

impl Python {
    /// All objects in the collector's lists of all interpreters. They are listed once.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn census(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Arc<Census>, Stopped> {
        if let Some(census) = self.census.get() {
            return Ok(census.clone());
        }
        let census = Arc::new(self.take_census(host, watch)?);
        Ok(self.census.get_or_init(|| census).clone())
    }

    fn take_census(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Census, Stopped> {
        let mut objects = Vec::new();
        let broken = self.each_collected(host, watch, &mut |object| objects.push(object.at))?;
        Ok(Census { objects, broken })
    }

    /// Tells every object in the collector's lists of all interpreters, and how many lists end in what is damaged.
    pub(super) fn each_collected(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Object),
    ) -> Result<u64, Stopped> {
        let heap = self.heap(host);
        let (mut broken, mut count): (u64, u64) = (0, 0);
        for gc in self.collectors(host) {
            let Some(lists) = lists(&heap, gc) else {
                broken = broken.saturating_add(1);
                continue;
            };
            for list in lists {
                let is_whole = walk(&heap, list, &mut |object| {
                    tell(object);
                    count = count.saturating_add(1);
                    let asks = count.is_multiple_of(STRIDE);
                    if asks { watch(count, 0) } else { ControlFlow::Continue(()) }
                })?;
                broken = broken.saturating_add(u64::from(!is_whole));
            }
        }
        Ok(broken)
    }

    /// Where the state of each collector lies: in 3.8 there is one for all interpreters.
    fn collectors(&self, host: &dyn Host) -> Vec<Addr> {
        match (self.layout.interpreter.gc, self.layout.runtime.gc) {
            (Some(gc), _) => {
                let interpreters = &self.state(host).interpreters;
                interpreters.iter().filter_map(|it| it.at.checked_add(gc)).collect()
            }
            (None, gc) => {
                let at = self.runtime.zip(gc).and_then(|(runtime, gc)| runtime.checked_add(gc));
                at.into_iter().collect()
            }
        }
    }

    /// The objects of a census by class, the most bytes first.
    pub fn groups(&self, host: &dyn Host, census: &Census) -> Vec<Group> {
        let heap = self.heap(host);
        let mut groups: BTreeMap<Addr, Group> = BTreeMap::new();
        for at in &census.objects {
            let Some(object) = heap.object(*at) else { continue };
            let empty = Group { class: object.class, count: 0, size: 0, example: *at };
            let group = groups.entry(object.class).or_insert(empty);
            group.count = group.count.saturating_add(1);
            group.size = group.size.saturating_add(heap.size_of(object).unwrap_or_default());
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.size), group.class));
        groups
    }

    /// The class of an object.
    pub fn class_of(&self, host: &dyn Host, at: Addr) -> Option<Addr> {
        self.heap(host).object(at).map(|object| object.class)
    }

    /// Bytes of an object itself.
    pub fn size_of(&self, host: &dyn Host, at: Addr) -> Option<u64> {
        let heap = self.heap(host);
        heap.size_of(heap.object(at)?)
    }
}

fn link(heap: &Heap<'_>, at: Addr, offset: u64) -> Option<Addr> {
    heap.word(at, offset).map(|word| Addr::new(word & !FLAGS)).filter(|next| next.get() != 0)
}

/// The heads of a collector's lists: of the generations, and of what is never collected.
fn lists(heap: &Heap<'_>, gc: Addr) -> Option<Vec<Addr>> {
    let begins = FIRST.into_iter().filter_map(|first| gc.checked_add(first));
    let generations = begins.map(|first| {
        let offsets = (0..GENERATIONS).map(|index| index.saturating_mul(GENERATION));
        (first, offsets.filter_map(|offset| first.checked_add(offset)).collect::<Vec<_>>())
    });
    let is_it = |(_, lists): &(Addr, Vec<Addr>)| lists.iter().all(|list| is_list(heap, *list));
    let (first, mut lists) = { generations }.find(is_it)?;
    let permanent = PERMANENT.into_iter().filter_map(|offset| first.checked_add(offset));
    lists.extend({ permanent }.find(|list| is_list(heap, *list)));
    Some(lists)
}

/// Whether the head of a list lies here: its neighbours know it.
fn is_list(heap: &Heap<'_>, head: Addr) -> bool {
    let knows = || {
        let (next, previous) = (link(heap, head, 0)?, link(heap, head, PREVIOUS)?);
        Some(link(heap, next, PREVIOUS)? == head && link(heap, previous, 0)? == head)
    };
    knows().unwrap_or_default()
}

/// Tells the objects of a list; says whether it was followed to its end.
fn walk(
    heap: &Heap<'_>,
    head: Addr,
    tell: &mut dyn FnMut(Object) -> ControlFlow<()>,
) -> Result<bool, Stopped> {
    let mut next = link(heap, head, 0);
    // A node that is passed again, once it was marked, is in a circle without the head.
    let mut mark = None;
    for count in 1..=MAX_OBJECTS {
        let Some(node) = next else { break };
        if node == head {
            return Ok(true);
        }
        if mark == next {
            break;
        }
        if count.is_power_of_two() {
            mark = next;
        }
        let Some(object) = node.checked_add(HEAD).and_then(|at| heap.object(at)) else { break };
        if tell(object).is_break() {
            return Err(Stopped);
        }
        next = link(heap, node, 0);
    }
    Ok(false)
}
