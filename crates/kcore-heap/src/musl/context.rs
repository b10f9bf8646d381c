//! `__malloc_context`, and the pages of metas that it leads to.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace};

use crate::{HeapHost, module_words::each_word, words::Words};

/// Offsets in `struct malloc_context`, where the page size is a constant.
const INIT_DONE: u64 = 8;
const META_AREA_HEAD: u64 = 56;
/// Offsets in `struct meta_area`.
const NEXT: u64 = 8;
const SLOT_COUNT: u64 = 16;
pub const SLOTS: u64 = 24;
/// Bytes of a `struct meta`.
pub const META: u64 = 40;
/// Bytes of a page of metas.
pub const AREA: u64 = 4096;
/// Metas of a page, at most.
const MAX_METAS: u64 = (AREA - SLOTS) / META;
/// Pages of metas, at most.
const MAX_AREAS: usize = 1 << 20;

/// The context of a process.
#[derive(Clone, Debug)]
pub struct Context {
    /// Where it lies.
    pub at: Addr,
    /// What every page of metas begins with.
    pub secret: u64,
    /// The pages of metas, and how many metas each has; in the order in which they were made.
    pub areas: Vec<(Addr, u64)>,
    /// What ended the list of pages before its end, if something did.
    pub torn: Option<Addr>,
}

impl Context {
    /// The one among the data of a module: a word that leads to a page which begins with the word 56 bytes before.
    pub fn find(host: &dyn HeapHost, data: &[AddrRange]) -> Option<Self> {
        let mut found = None;
        for range in data {
            let _ = each_word(host.space(), *range, &mut |at, value| {
                if value % AREA != 0 {
                    return ControlFlow::Continue(());
                }
                let start = at.get().checked_sub(META_AREA_HEAD).map(Addr::new);
                match start.and_then(|start| Self::load(host.space(), start)) {
                    Some(context) => {
                        found = Some(context);
                        ControlFlow::Break(())
                    }
                    None => ControlFlow::Continue(()),
                }
            });
        }
        found
    }

    /// The one at an address, if its first page of metas proves it.
    fn load(space: &dyn AddressSpace, at: Addr) -> Option<Self> {
        let mut words = Words::new(space);
        let secret = words.word(at.get()).filter(|secret| *secret != 0)?;
        let head = words.word(at.get().checked_add(META_AREA_HEAD)?)?;
        let is_set_up = words.half(at.get().checked_add(INIT_DONE)?) == Some(1);
        if !is_set_up || words.word(head) != Some(secret) {
            return None;
        }
        let mut context = Self { at, secret, areas: Vec::new(), torn: None };
        context.read_areas(&mut words, head);
        (!context.areas.is_empty()).then_some(context)
    }

    fn read_areas(&mut self, words: &mut Words<'_>, head: u64) {
        let mut seen = BTreeSet::new();
        let mut at = head;
        while at != 0 {
            let is_whole = at.is_multiple_of(AREA)
                && words.word(at) == Some(self.secret)
                && seen.insert(at)
                && seen.len() <= MAX_AREAS;
            let count = words.half(at.saturating_add(SLOT_COUNT)).map(u64::from);
            let count = count.filter(|count| is_whole && *count <= MAX_METAS);
            let (Some(count), Some(next)) = (count, words.word(at.saturating_add(NEXT))) else {
                self.torn = Some(Addr::new(at));
                return;
            };
            self.areas.push((Addr::new(at), count));
            at = next;
        }
    }
}
