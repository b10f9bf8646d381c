//! What is torn: groups that do not lead back, masks that contradict each other, and headers of slots.

use std::ops::ControlFlow;

use kcore_mem::Addr;

use super::group::{self, Group};
use super::heap::{Musl, block};
use super::slot::{self, SlotHeader};
use crate::{HeapHost, Torn, TornKind, Watch, words::Words};

/// Groups between two looks at whoever watches.
const STEP: usize = 256;

/// Tells of all that is torn; `None` when whoever watches stopped it.
pub(super) fn check(
    heap: &Musl,
    host: &dyn HeapHost,
    watch: Watch<'_>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> Option<()> {
    let mut words = Words::new(host.space());
    if let Some(at) = heap.context.torn {
        let why = "a page of metas does not begin with the secret of the process".to_owned();
        if tell(torn(TornKind::Structure, at, why)).is_break() {
            return Some(());
        }
    }
    for at in &heap.survey(host).torn {
        let why = "the meta of a group is impossible".to_owned();
        if tell(torn(TornKind::Structure, *at, why)).is_break() {
            return Some(());
        }
    }
    let groups = heap.groups(host);
    for (number, group) in groups.iter().enumerate() {
        if number.is_multiple_of(STEP) && watch(number as u64, groups.len() as u64).is_break() {
            return None;
        }
        if of_group(heap, host, &mut words, group, tell).is_break() {
            break;
        }
    }
    Some(())
}

fn torn(kind: TornKind, at: Addr, why: String) -> Torn {
    Torn { kind, at, holds: None, why, block: None, before: None, may_be_in_motion: false }
}

fn of_group(
    heap: &Musl,
    host: &dyn HeapHost,
    words: &mut Words<'_>,
    group: &Group,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if !group::leads_back(words, group) {
        let why = format!("the group does not lead back to its meta at {:x}", group.meta);
        let holds = words.word(group.mem);
        tell(Torn { holds, ..torn(TornKind::Header, Addr::new(group.mem), why) })?;
    }
    if group.available & group.freed != 0 {
        let why = "a slot is both freed and not used yet".to_owned();
        tell(torn(TornKind::Marks, Addr::new(group.meta), why))?;
    }
    for index in (0..group.slots).filter(|index| !group.is_free(*index)) {
        if heap.is_nested(host, group, index) {
            continue;
        }
        if let Some(SlotHeader::Torn { at, why }) = slot::read(words, group, index) {
            let before = index.checked_sub(1).map(|before| block(words, group, before));
            let own = Some(block(words, group, index));
            let torn = torn(TornKind::Header, Addr::new(at), why.to_owned());
            tell(Torn { block: own, before, ..torn })?;
        }
    }
    ControlFlow::Continue(())
}
