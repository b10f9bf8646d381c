//! The heap: its blocks, all of them and the one that holds an address, and its totals.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange};

use super::check;
use super::context::{AREA, Context};
use super::group::{self, Group, Groups, HEADER};
use super::slot::{self, SlotHeader};
use crate::{
    Amount, Block, BlockList, BlockSink, BlockState, Depth, Equality, HeapHost, HeapIdentity,
    ListId, NativeHeap, Torn, Usage, Watch, words::Words,
};

/// Groups within one another.
const MAX_DEPTH: u32 = 8;
/// Notes of torn metas.
const MAX_NOTES: usize = 64;
/// Slots that were never handed out.
const AVAILABLE: ListId = ListId(0);
/// Slots that were freed.
const FREED: ListId = ListId(1);
/// Bytes of `struct malloc_context`.
const CONTEXT: u64 = 928;

/// mallocng in a process.
#[derive(Debug)]
pub(super) struct Musl {
    identity: HeapIdentity,
    pub(super) context: Context,
    groups: OnceLock<Groups>,
    outer: OnceLock<Vec<Group>>,
}

impl Musl {
    pub(super) const fn new(identity: HeapIdentity, context: Context) -> Self {
        Self { identity, context, groups: OnceLock::new(), outer: OnceLock::new() }
    }

    pub(super) fn survey(&self, host: &dyn HeapHost) -> &Groups {
        self.groups.get_or_init(|| group::read(host, &self.context))
    }

    /// All groups, lowest first; one that lies in a slot comes behind the one that has it.
    pub(super) fn groups(&self, host: &dyn HeapHost) -> &[Group] {
        &self.survey(host).all
    }

    /// What is torn, so that blocks are missing.
    fn notes(&self, host: &dyn HeapHost) -> Vec<String> {
        let page = self
            .context
            .torn
            .map(|at| format!("the page of metas at {at} is torn: groups behind it are missing"));
        let metas = self.survey(host).torn.iter();
        let metas = metas.map(|at| format!("the meta at {at} is impossible: its group is missing"));
        page.into_iter().chain(metas).take(MAX_NOTES).collect()
    }

    /// The groups that lie in no slot, lowest first.
    fn outer(&self, host: &dyn HeapHost) -> &[Group] {
        self.outer.get_or_init(|| {
            let mut end = Addr::new(0);
            let mut outer = self.groups(host).to_vec();
            outer.retain(|group| {
                let range = group.range();
                let is_apart = range.start >= end;
                if is_apart {
                    end = range.end;
                }
                is_apart
            });
            outer
        })
    }

    /// Bytes of all of them.
    fn mapped(&self, host: &dyn HeapHost) -> u64 {
        let lens = self.outer(host).iter().map(|group| group.range().len());
        lens.fold(0, u64::saturating_add)
    }

    /// The group whose memory begins at an address.
    fn group_in(&self, host: &dyn HeapHost, at: u64) -> Option<&Group> {
        let groups = self.groups(host);
        let index = groups.binary_search_by_key(&at, |group| group.mem).ok()?;
        groups.get(index)
    }

    /// The group that lies in a slot.
    fn nested(&self, host: &dyn HeapHost, outer: &Group, index: u64) -> Option<&Group> {
        let inner = self.group_in(host, outer.slot(index))?;
        (!outer.is_free(index) && inner.range().len() <= outer.stride).then_some(inner)
    }

    /// Whether another group lies in a slot.
    pub(super) fn is_nested(&self, host: &dyn HeapHost, group: &Group, index: u64) -> bool {
        self.nested(host, group, index).is_some()
    }

    /// Tells of the blocks of a group, and of those of groups in its slots.
    fn blocks_of(
        &self,
        host: &dyn HeapHost,
        words: &mut Words<'_>,
        group: &Group,
        depth: u32,
        tell: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for index in 0..group.slots {
            match self.nested(host, group, index).filter(|_| depth < MAX_DEPTH) {
                Some(inner) => {
                    self.blocks_of(host, words, inner, depth.saturating_add(1), tell)?;
                }
                None => tell(&block(words, group, index))?,
            }
        }
        ControlFlow::Continue(())
    }
}

/// The block of a slot.
pub(super) fn block(words: &mut Words<'_>, group: &Group, index: u64) -> Block {
    let start = group.slot(index);
    let whole = AddrRange::with_len(Addr::new(start), group.stride);
    let rest = group.stride.saturating_sub(HEADER);
    let of = |state, at, usable, requested, list| Block {
        at: Addr::new(at),
        usable,
        whole,
        requested,
        state,
        arena: None,
        list,
    };
    let is_freed = group.freed & 1_u32.wrapping_shl(index as u32) != 0;
    if group.is_free(index) {
        let list = if is_freed { FREED } else { AVAILABLE };
        return of(BlockState::Free, start, rest, None, Some(list));
    }
    match slot::read(words, group, index) {
        Some(SlotHeader::Used { at, requested }) => {
            of(BlockState::Used, at, requested, Some(requested), None)
        }
        Some(SlotHeader::Group) => of(BlockState::Internal, start, rest, None, None),
        // What was asked for is not known any more.
        Some(SlotHeader::Torn { .. }) | None => of(BlockState::Used, start, rest, None, None),
    }
}

impl NativeHeap for Musl {
    fn identity(&self) -> &HeapIdentity {
        &self.identity
    }

    fn ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        self.outer(host).iter().map(Group::range).collect()
    }

    fn own_ranges(&self, _host: &dyn HeapHost) -> Vec<AddrRange> {
        let areas = self.context.areas.iter().map(|(area, _)| AddrRange::with_len(*area, AREA));
        areas.chain([AddrRange::with_len(self.context.at, CONTEXT)]).collect()
    }

    fn usage(&self, host: &dyn HeapHost, _depth: Depth, watch: Watch<'_>) -> Option<Usage> {
        let mut usage = Usage {
            used: Amount::new(0, 0),
            cached: Amount::new(0, 0),
            free: Amount::new(0, 0),
            internal: Amount::new(0, 0),
            apart: Amount::new(0, 0),
            mapped: self.mapped(host),
            metadata: (self.context.areas.len() as u64).saturating_mul(AREA),
            ..Usage::default()
        };
        let mut words = Words::new(host.space());
        let mut is_whole = 0_u64;
        for group in self.groups(host) {
            if watch(0, 0).is_break() {
                return None;
            }
            is_whole = is_whole.saturating_add(group::leads_back(&mut words, group).into());
            self.count(host, group, &mut usage);
        }
        let count = self.groups(host).len() as u64;
        usage.equalities.push(Equality::new(
            "groups of metas",
            count,
            "groups that lead back to their metas",
            is_whole,
        ));
        usage.notes = self.notes(host);
        Some(usage)
    }

    fn walk(&self, host: &dyn HeapHost, sink: &mut BlockSink<'_>) -> ControlFlow<()> {
        let within = sink.filter().within;
        let mut words = Words::new(host.space());
        sink.expect(self.mapped(host));
        self.notes(host).into_iter().for_each(|note| sink.note(note));
        let is_wanted = |group: &&Group| group.range().intersection(&within).is_some();
        for group in self.outer(host).iter().filter(is_wanted) {
            self.blocks_of(host, &mut words, group, 0, &mut |block| sink.push(block))?;
        }
        ControlFlow::Continue(())
    }

    fn block_at(&self, host: &dyn HeapHost, at: Addr) -> Option<Block> {
        let outer = self.outer(host);
        let index = outer.partition_point(|group| group.mem <= at.get()).checked_sub(1)?;
        let mut group = outer.get(index)?;
        for _ in 0..MAX_DEPTH {
            let index = group.slot_at(at.get())?;
            match self.nested(host, group, index) {
                Some(inner) => group = inner,
                None => return Some(block(&mut Words::new(host.space()), group, index)),
            }
        }
        None
    }

    fn list(&self, list: ListId) -> BlockList {
        let name = match list {
            FREED => "freed slots of its group",
            _ => "slots of its group that were not used yet",
        };
        BlockList { name: name.into(), thread: None }
    }

    fn arena_name(&self, _arena: u32) -> Option<Arc<str>> {
        None
    }

    fn check(
        &self,
        host: &dyn HeapHost,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
    ) -> Option<()> {
        check::check(self, host, watch, tell)
    }
}

impl Musl {
    /// Adds the slots of a group to the totals, but those in which other groups lie.
    fn count(&self, host: &dyn HeapHost, group: &Group, usage: &mut Usage) {
        let (mut used, mut free) = (0_u64, 0_u64);
        for index in 0..group.slots {
            if group.is_free(index) {
                free = free.saturating_add(1);
            } else if self.nested(host, group, index).is_none() {
                used = used.saturating_add(1);
            }
        }
        let amount = |count: u64| Amount::new(count, count.saturating_mul(group.stride));
        usage.used = usage.used.plus(amount(used));
        usage.free = usage.free.plus(amount(free));
        if group.slots == 1 && group.mapped > 0 {
            usage.apart = usage.apart.plus(amount(used));
        }
    }
}
