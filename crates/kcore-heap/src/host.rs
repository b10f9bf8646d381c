//! The process that a heap lies in, as far as an allocator asks.

use kcore_mem::{Addr, AddrRange, AddressSpace, Budget};
use kcore_unwind::Tid;

/// A process: its memory, mappings, modules and threads. Implemented by the facade.
pub trait HeapHost: Send + Sync {
    /// Its memory. Every address and every count in it may be a lie.
    fn space(&self) -> &dyn AddressSpace;

    /// The budget that long work charges, if there is one.
    fn budget(&self) -> Option<&Budget> {
        None
    }

    /// The runs of addresses that have bytes, lowest first, for those that look at all of them: no more in all than there
    /// are bytes, which a core may show at many addresses. Search these, and never what a header claims.
    fn regions(&self) -> Vec<AddrRange> {
        self.space().regions().into_iter().map(|region| region.range).collect()
    }

    /// Its modules, the executable first.
    fn modules(&self) -> Vec<&dyn HeapModule>;

    /// All mappings, lowest first. One may hold memory of several owners: the kernel joins neighbours.
    fn mappings(&self) -> &[HeapMapping];

    /// The mapping that holds `at`.
    fn mapping_at(&self, at: Addr) -> Option<HeapMapping> {
        let mappings = self.mappings();
        let index = mappings.partition_point(|mapping| mapping.range.end <= at);
        mappings.get(index).copied().filter(|mapping| mapping.range.contains(at))
    }

    /// Its threads.
    fn threads(&self) -> Vec<Tid>;

    /// The thread pointer of a thread, `fs_base` on x86-64, where that is known.
    fn thread_pointer(&self, thread: Tid) -> Option<Addr> {
        let _ = thread;
        None
    }

    /// Where the thread-local variable of a module lies for a thread, where symbols tell. `name` is raw, not demangled.
    fn thread_local(&self, thread: Tid, module: &dyn HeapModule, name: &str) -> Option<Addr> {
        let _ = (thread, module, name);
        None
    }
}

/// A module of a process.
pub trait HeapModule {
    /// Its file name without directories.
    fn name(&self) -> &str;

    /// From its lowest to its highest address.
    fn span(&self) -> AddrRange;

    /// Its writable segments with their zeros (.data and .bss), as far as anything tells where they lie.
    fn data(&self) -> Vec<AddrRange>;

    /// Its segments that can only be read and hold no code: where texts and constants are.
    fn constants(&self) -> Vec<AddrRange>;

    /// Where the symbol lies that it exports under this name (raw, not demangled), and its size in bytes. Cheap: no
    /// table is read for it but the one that the dynamic linker searches.
    fn exported(&self, name: &str) -> Option<(Addr, u64)>;

    /// Where a symbol of any of its tables lies, its own and those of its debug file, and its size in bytes. Reads all
    /// of them when first asked.
    fn symbol(&self, name: &str) -> Option<(Addr, u64)>;

    /// The symbols whose names end so, at most 64: an allocator may have been built with a prefix. Costs a look at every
    /// name.
    fn symbols_ending(&self, suffix: &str) -> Vec<(String, Addr, u64)> {
        let _ = suffix;
        Vec::new()
    }

    /// The size in bytes of a type (`edata_s`), where the module's debug information has it.
    fn type_size(&self, name: &str) -> Option<u64> {
        let _ = name;
        None
    }

    /// The offset in bytes of a member of a type, and its size: `member("malloc_state", &["bins"])`; more names lead into
    /// members. `None` where the debug information does not have it, or it is a bit field.
    fn member(&self, of: &str, path: &[&str]) -> Option<(u64, u64)> {
        let _ = (of, path);
        None
    }
}

/// A mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeapMapping {
    /// The addresses.
    pub range: AddrRange,
    /// Whether the process could read it, as far as anything tells.
    pub readable: bool,
    /// Whether the process could write it, as far as anything tells.
    pub writable: bool,
    /// Whether it is a file's.
    pub is_file: bool,
    /// Whether it is the data segment that `brk` grows, where that is known.
    pub is_brk: bool,
}
