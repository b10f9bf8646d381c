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
    /// `ClassLoaderData._class_loader`, a handle: null of the virtual machine's own loader.
    loader: u64,
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
            loader: tables.need("ClassLoaderData._class_loader")?,
            size: tables.need("Klass._layout_helper")?,
        })
    }

    /// The class of a name with dots, from the first loader that has it.
    pub fn class_named(&self, objects: &Objects<'_>, name: &str) -> Option<Addr> {
        let mut classes = self.classes(objects.memory).map(|(class, _)| class);
        classes.find(|class| objects.methods.class(objects.memory, *class).as_deref() == Some(name))
    }

    /// Every class that is loaded, and whether it has another loader than the virtual machine's own.
    pub fn each_class(&self, objects: &Objects<'_>, tell: &mut dyn FnMut(Addr, bool)) {
        for (class, loader) in self.classes(objects.memory) {
            let loader = objects.memory.pointer(loader, self.loader);
            let loader = loader.and_then(|at| objects.oops.in_handle(objects.memory, at));
            tell(class, loader.is_some());
        }
    }

    /// The object that is the loader of a class; `None` of the virtual machine's own.
    pub fn loader_of(&self, objects: &Objects<'_>, data: Addr) -> Option<Addr> {
        let handle = objects.memory.pointer(data, self.loader)?;
        objects.oops.in_handle(objects.memory, handle)
    }

    /// Classes, each with its `ClassLoaderData`.
    fn classes<'a>(&self, memory: Memory<'a>) -> impl Iterator<Item = (Addr, Addr)> + use<'a> {
        let layout = *self;
        let loader = memory.pointer(layout.loaders, 0);
        let next = move |at: &Addr| memory.pointer(*at, layout.next_loader);
        let loaders = std::iter::successors(loader, next).take(MAX_LOADERS);
        let classes = loaders.flat_map(move |loader| {
            let first = memory.pointer(loader, layout.classes);
            let next = move |at: &Addr| memory.pointer(*at, layout.next_class);
            std::iter::successors(first, next).take(MAX_CLASSES).map(move |class| (class, loader))
        });
        classes.take(MAX_CLASSES)
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
