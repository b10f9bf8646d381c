//! The objects of the heap, one after the other.
//!
//! Each object tells how big it is, and so where the next one begins. What threads have set aside for objects to come is
//! no object; behind what cannot be read the next object is looked for.

use std::{ops::ControlFlow, sync::Arc};

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashMap;

use super::{
    Java,
    classes::Objects,
    klass::{Klass, KlassLayout, Klasses},
    memory::Memory,
    spaces::{Space, Spaces},
    vm_structs::VmStructs,
    words::Words,
};
use crate::Host;

/// Objects begin at multiples of it.
const STEP: u64 = 8;
/// The lowest bits of the header of an object that was moved.
const MOVED: u64 = 3;
/// Words of classes that are remembered, at most.
const MAX_WORDS: usize = 1 << 16;

/// Where threads say which memory they set aside.
#[derive(Clone, Copy, Debug)]
pub struct BufferLayout {
    top: u64,
    end: u64,
    /// Bytes behind the end.
    reserve: u64,
}

/// An object.
#[derive(Clone, Debug)]
pub struct JavaObject {
    /// Where it begins.
    pub at: Addr,
    /// Its class.
    pub class: Arc<Klass>,
    /// Its bytes.
    pub size: u64,
}

/// Finds objects.
pub struct Walk<'a> {
    objects: &'a Objects<'a>,
    layout: &'a KlassLayout,
    klasses: &'a Klasses,
    words: Words<'a>,
    by_word: FxHashMap<u64, Option<Arc<Klass>>>,
    /// Memory that threads set aside, lowest first.
    buffers: Arc<[AddrRange]>,
    /// Memory that has bytes, lowest first.
    held: Arc<[AddrRange]>,
    /// Bytes that were passed over since no object was there.
    pub passed: u64,
}

impl BufferLayout {
    /// The layout that the tables of a virtual machine describe.
    pub fn of(tables: &VmStructs, memory: Memory<'_>) -> Option<Self> {
        let buffer = tables.offset("Thread._tlab")?;
        let field = |name| buffer.checked_add(tables.offset(name)?);
        let words = |name| memory.uint(tables.variable(name)?, 0, 4);
        let reserve = words("ThreadLocalAllocBuffer._reserve_for_allocation_prefetch");
        let least = words("CollectedHeap._lab_alignment_reserve").unwrap_or(3);
        Some(Self {
            top: field("ThreadLocalAllocBuffer._top")?,
            end: field("ThreadLocalAllocBuffer._end")?,
            reserve: reserve.unwrap_or_default().max(least).min(1 << 12).saturating_mul(8),
        })
    }

    /// What a thread has set aside.
    pub fn of_thread(&self, memory: Memory<'_>, thread: Addr) -> Option<AddrRange> {
        let (top, end) = (memory.pointer(thread, self.top)?, memory.pointer(thread, self.end)?);
        (top <= end).then(|| AddrRange::new(top, end.saturating_add(self.reserve)))
    }
}

impl Java {
    /// The runs of memory that hold objects; `None` where the heap cannot be walked.
    pub(super) fn spaces(&self, host: &dyn Host) -> Option<&Spaces> {
        let collector = self.layout.collector.as_ref()?;
        Some(self.spaces.get_or_init(|| collector.spaces(Memory(host.space()))))
    }

    /// The memory that threads set aside for objects to come.
    pub(super) fn buffers(&self, host: &dyn Host) -> Arc<[AddrRange]> {
        let read = || {
            let Some(layout) = &self.layout.buffers else { return Arc::default() };
            let memory = Memory(host.space());
            let threads = self.threads(host).all.iter();
            let mut all: Vec<AddrRange> =
                threads.filter_map(|thread| layout.of_thread(memory, thread.at)).collect();
            all.sort_unstable();
            all.into()
        };
        self.buffers.get_or_init(read).clone()
    }

    /// The memory that has bytes.
    fn held(&self, host: &dyn Host) -> Arc<[AddrRange]> {
        let read = || host.regions().iter().map(|region| region.range).collect();
        self.held.get_or_init(read).clone()
    }

    /// What finds objects; `None` where classes cannot be decoded.
    pub(super) fn walk<'a>(
        &'a self,
        host: &dyn Host,
        objects: &'a Objects<'a>,
    ) -> Option<Walk<'a>> {
        Some(Walk {
            objects,
            layout: self.layout.klasses.as_ref()?,
            klasses: &self.klasses,
            words: Words::new(objects.memory.0),
            by_word: FxHashMap::default(),
            buffers: self.buffers(host),
            held: self.held(host),
            passed: 0,
        })
    }
}

impl Walk<'_> {
    /// The object that begins at an address, if one does.
    pub fn at(&mut self, at: Addr) -> Option<JavaObject> {
        at.get().is_multiple_of(STEP).then_some(())?;
        let word = self.objects.oops.class_word(&mut self.words, at)?;
        let class = self.class_of(word)?;
        let size = self.layout.size(&self.objects.oops, &mut self.words, at, &class)?;
        Some(JavaObject { at, class, size })
    }

    /// Whether the collector moved an object, and left this copy of it.
    pub fn is_moved(&mut self, at: Addr) -> bool {
        self.words.uint(at, 8).is_some_and(|mark| mark & MOVED == MOVED)
    }

    /// Tells the objects of a run of memory, until told to stop.
    pub fn each(
        &mut self,
        space: &Space,
        tell: &mut dyn FnMut(JavaObject) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut at = space.range.start;
        while at < space.range.end {
            if let Some(end) = self.buffer_at(at) {
                at = end;
                continue;
            }
            let found = self.at(at).filter(|found| self.fits(space, found));
            let Some(found) = found else {
                let next = self.next_after(space, at);
                self.passed = self.passed.saturating_add(next.offset_from(at).unwrap_or_default());
                at = next;
                continue;
            };
            at = at.saturating_add(found.size);
            if !self.is_moved(found.at) {
                tell(found)?;
            }
            if space.is_one {
                break;
            }
        }
        ControlFlow::Continue(())
    }

    fn fits(&self, space: &Space, found: &JavaObject) -> bool {
        found.at.checked_add(found.size).is_some_and(|end| end <= space.limit)
    }

    /// The run of memory with bytes that holds an address, or else the next one.
    fn held_from(&self, at: Addr) -> Option<AddrRange> {
        let index = self.held.partition_point(|held| held.end <= at);
        self.held.get(index).copied()
    }

    /// Whether a thread has set aside the memory at an address for objects to come: what lies there is older than the last
    /// collection.
    pub fn is_set_aside(&self, at: Addr) -> bool {
        let index = self.buffers.partition_point(|buffer| buffer.start <= at);
        let buffer = index.checked_sub(1).and_then(|index| self.buffers.get(index));
        buffer.is_some_and(|buffer| at < buffer.end)
    }

    /// Where the memory ends that a thread set aside and that begins at an address.
    fn buffer_at(&self, at: Addr) -> Option<Addr> {
        let index = self.buffers.partition_point(|buffer| buffer.start < at);
        self.buffers
            .get(index)
            .filter(|buffer| buffer.start == at && buffer.end > at)
            .map(|it| it.end)
    }

    /// Where objects go on behind an address where none is: two that follow each other, or one at the end.
    fn next_after(&mut self, space: &Space, at: Addr) -> Addr {
        let end = space.range.end;
        let mut at = at;
        if space.is_one {
            return end;
        }
        loop {
            at = at.saturating_add(STEP);
            // Memory that was not dumped, or never written, is not looked at.
            let held = self.held_from(at).filter(|held| held.start < end);
            let Some(held) = held else { return end };
            at = at.max(held.start);
            let wanted = AddrRange::new(at, held.end.min(end));
            let data = self.objects.memory.0.first_data(wanted);
            let Some(data) = data.filter(|data| data.end > at) else {
                at = wanted.end.max(at);
                if at >= end {
                    return end;
                }
                continue;
            };
            at = at.max(Addr::new(data.start.get() & !(STEP - 1)));
            while at < data.end.min(wanted.end) {
                if self.buffer_at(at).is_some() || self.is_followed(space, at) {
                    return at;
                }
                at = at.saturating_add(STEP);
            }
            if at >= end {
                return end;
            }
        }
    }

    fn is_followed(&mut self, space: &Space, at: Addr) -> bool {
        let Some(found) = self.at(at).filter(|found| self.fits(space, found)) else { return false };
        let next = at.saturating_add(found.size);
        next == space.range.end || self.buffer_at(next).is_some() || self.at(next).is_some()
    }

    fn class_of(&mut self, word: u64) -> Option<Arc<Klass>> {
        if let Some(class) = self.by_word.get(&word) {
            return class.clone();
        }
        let at = self.objects.oops.class_in(word);
        let class = at.and_then(|at| self.klasses.at(self.objects, self.layout, at));
        if self.by_word.len() >= MAX_WORDS {
            self.by_word.clear();
        }
        self.by_word.insert(word, class.clone());
        class
    }
}
