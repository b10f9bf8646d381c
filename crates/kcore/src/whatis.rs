//! What lies at an address.

use kcore_mem::{Addr, AddrRange, Origin};
use kcore_unwind::Flow;

use crate::{
    Core, MAX_FRAMES, Mapping, MappingKind, StackView, SymbolAt, Tid, native_heap::OwnedBlock,
};

/// What lies at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct What {
    /// The address.
    pub at: Addr,
    /// The symbol that holds it.
    pub symbol: Option<SymbolAt>,
    /// The module that holds it.
    pub module: Option<String>,
    /// The mapping that holds it.
    pub mapping: Option<Mapping>,
    /// The thread whose stack holds it.
    pub thread: Option<Tid>,
    /// The physical frame of that thread, innermost 0, whose extent holds it.
    pub frame: Option<usize>,
    /// The object of a language that holds it.
    pub object: Option<String>,
    /// The block of a native heap that holds it.
    pub block: Option<OwnedBlock>,
    /// Where its bytes come from; `None` when it has none.
    pub origin: Option<Origin>,
}

/// Questions about what lies at addresses: see [`Core::memory`].
#[derive(Clone, Copy)]
pub struct MemoryView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// What its memory holds.
    pub const fn memory(&self) -> MemoryView<'_> {
        MemoryView { core: self }
    }
}

impl<'c> MemoryView<'c> {
    /// The mappings, lowest address first: as [`Core::mappings`], but none is a thread's stack that a runtime has for
    /// its heap and for the stacks that it makes there.
    pub fn mappings(self) -> impl Iterator<Item = Mapping> + use<'c> {
        self.core.mappings().iter().map(move |mapping| self.without_stack(mapping))
    }

    /// The one of these mappings that holds `at`.
    pub fn mapping_at(self, at: Addr) -> Option<Mapping> {
        self.core.mapping_at(at).map(|mapping| self.without_stack(mapping))
    }

    /// A mapping that lies around some stack pointer is that thread's stack, unless it begins with an object of a
    /// runtime or with a stack that does not run: a stack grows towards the beginning of its mapping.
    fn without_stack(self, mapping: &Mapping) -> Mapping {
        let start = mapping.range.start;
        let kind = match mapping.kind {
            MappingKind::ThreadStack(_)
                if self.core.runtimes().is_off_threads(self.core, start) =>
            {
                MappingKind::Anonymous
            }
            _ => mapping.kind.clone(),
        };
        Mapping { kind, ..mapping.clone() }
    }

    /// What lies at `at`.
    pub fn whatis(self, at: Addr) -> What {
        let on_stack = self.core.stacks().thread_at(at);
        let thread = on_stack.filter(|_| !self.core.runtimes().is_off_threads(self.core, at));
        What {
            at,
            symbol: self.core.symbols().at(at),
            module: self.core.modules().at(at).map(|module| module.name().to_owned()),
            mapping: self.mapping_at(at),
            thread,
            frame: thread.and_then(|tid| self.core.frame_at(tid, at)),
            object: self.core.object_at(at, thread),
            block: self.core.heap_block_at(at, thread),
            origin: self.core.space().origin(at).ok(),
        }
    }
}

impl StackView<'_> {
    /// The thread in whose stack `at` lies: of those whose stack pointers are in the same mapping,
    /// the nearest one below. What lies below every stack pointer is a stack's unused part.
    pub fn thread_at(self, at: Addr) -> Option<Tid> {
        let range = self.core.mapping_at(at)?.range;
        let pointers = self.core.stack_pointers();
        let below = pointers.partition_point(|(sp, _)| *sp <= at).checked_sub(1);
        let lowest = pointers.partition_point(|(sp, _)| *sp < range.start);
        let candidates = below.into_iter().chain([lowest]).filter_map(|index| pointers.get(index));
        let mut within = candidates.filter(|(sp, _)| range.contains(*sp));
        within.next().map(|(_, tid)| *tid)
    }

    /// The used part of a thread's stack: from its stack pointer to the end of the mapping, or to
    /// where another thread in the same mapping has its own.
    pub fn range_of_thread(self, tid: Tid) -> Option<AddrRange> {
        let start = self.core.registers().stack_pointer(tid)?;
        let mapping = self.core.mapping_at(start)?.range;
        let pointers = self.core.stack_pointers();
        let above = pointers.partition_point(|(sp, _)| *sp <= start);
        let next = pointers.get(above).map(|(sp, _)| *sp).filter(|sp| *sp < mapping.end);
        Some(AddrRange::new(start, next.unwrap_or(mapping.end)))
    }
}

impl Core {
    /// The object of a language that holds `at`: they lie in memory that is no file's and no stack.
    fn object_at(&self, at: Addr, thread: Option<Tid>) -> Option<String> {
        let is_apart = self.modules().at(at).is_none() && thread.is_none();
        is_apart.then(|| self.runtimes().identify(self, at))?
    }

    /// The block of a native heap that holds `at`.
    pub(crate) fn heap_block_at(&self, at: Addr, thread: Option<Tid>) -> Option<OwnedBlock> {
        let is_apart = self.modules().at(at).is_none() && thread.is_none();
        is_apart.then(|| self.heaps().block_at(at))?
    }

    /// The stack pointers of all threads, lowest first.
    pub(crate) fn stack_pointers(&self) -> &[(Addr, Tid)] {
        self.stack_pointers.get_or_init(|| {
            let threads = self.threads().iter();
            let pointers = threads.filter_map(|thread| {
                self.registers().stack_pointer(thread.tid).map(|sp| (sp, thread.tid))
            });
            let mut pointers: Vec<_> = pointers.collect();
            pointers.sort_unstable();
            pointers
        })
    }

    /// The frame that lies around `at`: from its stack pointer up to its CFA.
    fn frame_at(&self, tid: Tid, at: Addr) -> Option<usize> {
        let start = self.registers().of_thread(tid)?;
        let mut index = 0;
        let mut found = None;
        self.stacks().walker()?.walk(&start, MAX_FRAMES, &mut |frame, _| {
            let extent = frame.sp.zip(frame.cfa).map(|(sp, cfa)| AddrRange::new(sp, cfa));
            if extent.is_some_and(|extent| extent.contains(at)) {
                found = Some(index);
                return Flow::Stop;
            }
            index = usize::saturating_add(index, 1);
            Flow::Continue
        });
        found
    }
}
