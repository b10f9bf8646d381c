//! All greenlets: they are in the lists of the collector.

use std::ops::ControlFlow;

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    super::{Python, heap::Heap},
    GreenletList, Greenlets,
};
use crate::Host;

/// `tp_base` of a type.
const BASE: u64 = 256;
/// Bases of one type, at most.
const MAX_BASES: usize = 64;
/// Greenlets of a process, at most.
const MAX_GREENLETS: usize = 1 << 22;

/// The objects of a class and of those derived from it, and how many lists of the collector are damaged.
pub fn objects(python: &Python, host: &dyn Host, class: Addr) -> (Vec<Addr>, u64) {
    let heap = python.heap(host);
    let mut classes: FxHashMap<Addr, bool> = FxHashMap::default();
    let mut found = Vec::new();
    let broken = python.each_collected(host, &mut |_, _| ControlFlow::Continue(()), &mut |it| {
        let of = |of: Addr| is_derived(&heap, of, class);
        let is_one = *classes.entry(it.class).or_insert_with(|| of(it.class));
        if is_one && found.len() < MAX_GREENLETS {
            found.push(it.at);
        }
    });
    (found, broken.unwrap_or(1))
}

fn is_derived(heap: &Heap<'_>, class: Addr, base: Addr) -> bool {
    let mut next = Some(class);
    for _ in 0..MAX_BASES {
        match next {
            Some(class) if class == base => return true,
            Some(class) => next = heap.pointer(class, BASE),
            None => break,
        }
    }
    false
}

impl Greenlets {
    /// Looks for all of them.
    pub(super) fn list(&self, host: &dyn Host) -> GreenletList {
        let (objects, broken) = objects(&self.python, host, self.class);
        let all = objects.into_iter().filter_map(|at| self.load(host, at)).collect();
        GreenletList { all, broken }
    }
}
