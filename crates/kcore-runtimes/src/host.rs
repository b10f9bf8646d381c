//! The process that a runtime lives in, as far as a runtime asks.

use std::sync::Arc;

use kcore_elf::Image;
use kcore_mem::{Addr, AddrRange, AddressSpace, Budget, CodeAddr, Region, Svma};
use kcore_symbols::ModuleSymbols;
use kcore_unwind::{Frame, Regs, Tid};

use crate::{MappedScript, SourceMapFile};

/// A process: its memory, modules and threads. Implemented by the facade.
pub trait Host: Send + Sync {
    /// Its memory.
    fn space(&self) -> &dyn AddressSpace;

    /// The budget that decoders charge, if there is one.
    fn budget(&self) -> Option<&Budget> {
        None
    }

    /// The runs of addresses that have bytes, lowest first, for those that look at all of them: no more in
    /// all than there are bytes, which a core may show at many addresses.
    fn regions(&self) -> Vec<Region> {
        self.space().regions()
    }

    /// Its modules, the executable first.
    fn modules(&self) -> Vec<&dyn HostModule>;

    /// The module that is mapped at `at`.
    fn module_at(&self, at: Addr) -> Option<&dyn HostModule>;

    /// The mapping that holds `at`.
    fn range_at(&self, at: Addr) -> Option<HostRange>;

    /// All mappings, lowest first.
    fn ranges(&self) -> Vec<HostRange>;

    /// Its threads.
    fn threads(&self) -> Vec<Tid>;

    /// Where the block of memory lies that is a thread's own, `pthread_t` on x86-64, where that is known.
    fn thread_pointer(&self, thread: Tid) -> Option<Addr> {
        let _ = thread;
        None
    }

    /// Where the variable of a thread lies that is at an offset in its module's thread-local storage, where
    /// the host knows.
    fn thread_local(&self, thread: Tid, module: &dyn HostModule, offset: Svma) -> Option<Addr> {
        let _ = (thread, module, offset);
        None
    }

    /// The thread that the process began with, whose id is the process's; `None` where that has ended, or
    /// is not known.
    fn main_thread(&self) -> Option<Tid> {
        None
    }

    /// The thread in whose stack an address lies, where that is known.
    fn thread_of_stack(&self, at: Addr) -> Option<Tid> {
        let _ = at;
        None
    }

    /// Whether the allocator that has the memory at an address says that the program uses it; `None` where no allocator
    /// that is known has it.
    fn is_used_block(&self, at: Addr) -> Option<bool> {
        let _ = at;
        None
    }

    /// The stack pointer with which a thread was stopped.
    fn stack_pointer(&self, thread: Tid) -> Option<Addr> {
        let _ = thread;
        None
    }

    /// The registers with which a thread was stopped.
    fn registers(&self, thread: Tid) -> Option<Regs>;

    /// Whether a runtime of a version whose layouts are not known may use those of the nearest one.
    fn allows_nearest(&self) -> bool {
        false
    }

    /// The native frames of a thread, innermost first, where the host walks stacks. To a probe, and to a runtime
    /// that is asked for a step, a host shows those that it finds without the rules of runtimes: a walk
    /// that asked them would never end.
    fn frames(&self, thread: Tid) -> Vec<Frame> {
        let _ = thread;
        Vec::new()
    }

    /// Whether texts of scripts may be read for their source maps: not while a process stands still for it.
    fn reads_source_maps(&self) -> bool {
        true
    }

    /// The files that may be the source map of a script, the likeliest first, until `take` has what it wanted. Those of
    /// 128 MiB or more are left out.
    fn source_maps(&self, script: MappedScript<'_>, take: &mut dyn FnMut(SourceMapFile) -> bool) {
        let _ = (script, take);
    }

    /// The function that holds code, demangled and without parameters, where the host knows names.
    fn function_at(&self, at: CodeAddr) -> Option<Arc<str>> {
        let _ = at;
        None
    }
}

/// A module of a process.
pub trait HostModule {
    /// Its file name without directories.
    fn name(&self) -> &str;

    /// From its lowest to its highest address.
    fn span(&self) -> AddrRange;

    /// Bytes of its executable mappings: how much code it is.
    fn code_size(&self) -> u64;

    /// Its writable segments, as far as anything tells where they lie.
    fn data(&self) -> Vec<AddrRange> {
        Vec::new()
    }

    /// Its symbols. To read them all costs what a big symbol table costs: ask
    /// [`HostModule::exported`] first.
    fn symbols(&self) -> &ModuleSymbols;

    /// Where the symbol lies that it exports under this name (raw, not demangled), and its size in
    /// bytes. No table is read for it but the one that the dynamic linker searches.
    fn exported(&self, name: &str) -> Option<(Svma, u64)>;

    /// Its file, if one was found.
    fn image(&self) -> Option<&Arc<Image>>;

    /// The address of the file that lies at `at`.
    fn svma(&self, at: Addr) -> Option<Svma>;

    /// Where an address of the file lies in the process.
    fn addr(&self, svma: Svma) -> Option<Addr>;
}

/// A mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostRange {
    /// The addresses.
    pub range: AddrRange,
    /// Whether the process could read it, as far as anything tells: guard pages hold nothing.
    pub readable: bool,
    /// Whether code may run in it, as far as anything tells.
    pub executable: bool,
    /// Whether it is a file's.
    pub is_file: bool,
}
