//! Monitors of virtual threads that no thread runs: those that they entered, and the one that they wait for
//! (`src/hotspot/share/runtime/objectMonitor.hpp`, `oops/stackChunkOop.hpp`, `classfile/javaClasses.hpp`, JDK 24 and 25).
//!
//! Before JDK 24 a virtual thread kept the thread that ran it while it held a monitor or waited for one. Since then, what
//! it entered alone is written at the beginning of the chunk of its frames; and what it waits for is told by an
//! `ObjectWaiter`, which the virtual machine does not describe: that refers to the thread, and right behind that to the monitor.

use kcore_mem::Addr;

use super::{Java, classes::Objects, fields::ADDED, virtual_threads::VirtualThread};

/// Fields that the virtual machine adds to a chunk, in this order: the continuation, flags, the pc, how much stack it needs
/// at most, and how many objects stand at its beginning.
const ADDED_FIELDS: usize = 5;
const FLAGS: usize = 1;
const PC: usize = 2;
const COUNT: usize = 4;
/// `FLAG_HAS_BITMAP`: a collector narrowed the references in the chunk, if those of objects are narrow.
const NARROWED: u64 = 1 << 4;
/// `FLAG_HAS_LOCKSTACK`.
const HAS_OBJECTS: u64 = 1 << 5;
/// `LockStack::CAPACITY`.
const MAX_OBJECTS: u64 = 8;
/// Words of an `ObjectWaiter` in which the thread is looked for.
const WAITER_WORDS: u64 = 8;
/// States of one that waits for a monitor, or to be notified.
const WAITING: [&str; 7] =
    ["BLOCKING", "BLOCKED", "UNBLOCKED", "WAITING", "WAIT", "TIMED_WAITING", "TIMED_WAIT"];

/// Whether this state of a virtual thread means that it is in `Object.wait`.
pub(super) fn is_to_be_notified(state: &str) -> bool {
    WAITING.iter().skip(3).any(|own| *own == state)
}

/// The monitor that a virtual thread waits for which no thread runs.
pub(super) fn awaited(objects: &Objects<'_>, thread: &VirtualThread) -> Option<Addr> {
    let is_waiting = thread.thread.is_none() && WAITING.contains(&&*thread.state);
    let class = objects.oops.class_of(objects.memory, thread.object).filter(|_| is_waiting)?;
    let fields = objects.fields_of(class);
    let added = { fields.iter() }
        .filter(|field| &*field.name == ADDED && !field.is_static && field.offset % 8 == 0);
    let mut waiters = added.filter_map(|field| objects.memory.pointer(thread.object, field.offset));
    waiters.find_map(|waiter| monitor_of(objects, waiter, thread.object))
}

/// The monitor that an `ObjectWaiter` names, if it is one of this thread.
fn monitor_of(objects: &Objects<'_>, waiter: Addr, thread: Addr) -> Option<Addr> {
    let memory = objects.memory;
    let is_it = |offset: &u64| {
        let handle = memory.pointer(waiter, *offset);
        handle.and_then(|handle| objects.oops.in_handle(memory, handle)) == Some(thread)
    };
    let offset = (0..WAITER_WORDS).map(|word| word.saturating_mul(8)).find(is_it)?;
    memory.pointer(waiter, offset.checked_add(8)?)
}

impl Java {
    /// The objects whose monitors a virtual thread entered alone before it was parked.
    pub(super) fn entered_by(&self, objects: &Objects<'_>, thread: &VirtualThread) -> Vec<Addr> {
        let chunk = thread.chunk.filter(|_| thread.thread.is_none());
        chunk.and_then(|chunk| self.entered_in(objects, chunk)).unwrap_or_default()
    }

    fn entered_in(&self, objects: &Objects<'_>, chunk: Addr) -> Option<Vec<Addr>> {
        let memory = objects.memory;
        let class = objects.oops.class_of(memory, chunk)?;
        let fields = objects.fields_of(class);
        let own = fields.iter().filter(|field| &*field.name == ADDED && !field.is_static);
        let added: Vec<u64> = own.map(|field| field.offset).collect();
        (added.len() == ADDED_FIELDS).then_some(())?;
        let number = |index: usize, size| memory.uint(chunk, *added.get(index)?, size);
        let pc = number(PC, 8).map(Addr::new).filter(|pc| self.cache.contains(*pc));
        let flags = number(FLAGS, 1)?;
        let count = number(COUNT, 1)?.min(MAX_OBJECTS);
        pc.filter(|_| flags & HAS_OBJECTS != 0)?;
        let first = chunk.checked_add(self.layout.heap.as_ref()?.size_of(memory, class)?)?;
        let object = |index: u64| {
            let word = memory.uint(first, index.checked_mul(8)?, 8)?;
            objects.oops.in_chunk(memory, word, flags & NARROWED != 0)
        };
        Some((0..count).filter_map(object).collect())
    }
}
