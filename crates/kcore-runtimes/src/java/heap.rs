//! Where the heap of Java lies, and the objects of one class in it (`src/hotspot/share/gc/shared/collectedHeap.hpp`,
//! `classfile/classLoaderData.hpp`, JDK 11 to 25).

use kcore_mem::{Addr, AddrRange};

use super::{classes::Objects, memory::Memory, vm_structs::VmStructs};
use crate::Host;

/// Loaders of classes, and classes of one of them, at most.
const MAX_LOADERS: usize = 1 << 16;
const MAX_CLASSES: usize = 1 << 20;
/// Bytes of the heap that are read at a time.
const CHUNK: u64 = 1 << 20;
/// Objects begin at such addresses.
const ALIGNMENT: u64 = 8;

/// Where the heap and the lists of classes hang.
#[derive(Clone, Copy, Debug)]
pub struct HeapLayout {
    heap: Addr,
    reserved: u64,
    start: u64,
    words: u64,
    loaders: Addr,
    next_loader: u64,
    classes: u64,
    next_class: u64,
    /// `Klass._layout_helper`: of classes of objects that are no arrays, their bytes.
    size: u64,
}

impl HeapLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something.
    pub fn of(tables: &VmStructs) -> Result<Self, String> {
        let variable = |name: &str| {
            let missing = || format!("the virtual machine does not describe {name}");
            tables.variable(name).ok_or_else(missing)
        };
        Ok(Self {
            heap: variable("Universe._collectedHeap")?,
            reserved: tables.need("CollectedHeap._reserved")?,
            start: tables.need("MemRegion._start")?,
            words: tables.need("MemRegion._word_size")?,
            loaders: variable("ClassLoaderDataGraph._head")?,
            next_loader: tables.need("ClassLoaderData._next")?,
            classes: tables.need("ClassLoaderData._klasses")?,
            next_class: tables.need("Klass._next_link")?,
            size: tables.need("Klass._layout_helper")?,
        })
    }

    /// The class of a name with dots, from the first loader that has it.
    pub fn class_named(&self, objects: &Objects<'_>, name: &str) -> Option<Addr> {
        let memory = objects.memory;
        let loader = memory.pointer(self.loaders, 0);
        let loaders = std::iter::successors(loader, |at| memory.pointer(*at, self.next_loader));
        let classes = loaders.take(MAX_LOADERS).flat_map(|loader| {
            let first = memory.pointer(loader, self.classes);
            let all = std::iter::successors(first, |at| memory.pointer(*at, self.next_class));
            all.take(MAX_CLASSES)
        });
        { classes }
            .take(MAX_CLASSES)
            .find(|class| objects.methods.class(memory, *class).as_deref() == Some(name))
    }

    /// The bytes of an object of a class that is none of arrays.
    pub fn size_of(&self, memory: Memory<'_>, class: Addr) -> Option<u64> {
        let size = memory.int(class, self.size)?;
        u64::try_from(size).ok().filter(|size| *size > 0).map(|size| size & !(ALIGNMENT - 1))
    }

    /// The memory that is set aside for the heap.
    fn range(&self, memory: Memory<'_>) -> Option<AddrRange> {
        let heap = memory.pointer(self.heap, 0)?;
        let start = memory.pointer(heap, self.reserved.checked_add(self.start)?)?;
        let words = memory.uint(heap, self.reserved.checked_add(self.words)?, 8)?;
        Some(AddrRange::with_len(start, words.checked_mul(8)?))
    }

    /// Every place of the heap where an object of a class may begin: its header names the class. What lies there may be dead.
    pub fn each_of_class(
        &self,
        host: &dyn Host,
        objects: &Objects<'_>,
        class: Addr,
        tell: &mut dyn FnMut(Addr),
    ) -> Option<()> {
        let range = self.range(objects.memory)?;
        for region in host.regions() {
            let Some(part) = region.range.intersection(&range) else { continue };
            let mut at = part.start;
            while part.contains(at) {
                if host.budget().is_some_and(|budget| budget.is_halted()) {
                    return None;
                }
                let end = at.saturating_add(CHUNK).min(part.end);
                objects.oops.each_header_of(objects.memory, AddrRange::new(at, end), class, tell);
                at = end;
            }
        }
        Some(())
    }
}
