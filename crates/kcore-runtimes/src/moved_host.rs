//! A process as one of its tasks has it whose stack was moved away.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Budget, CodeAddr, MovedBytes, Region, Svma, WithMoved};
use kcore_unwind::{Frame, Regs, Tid};

use crate::{Host, HostModule, HostRange, MappedScript, SourceMapFile};

/// A host in whose memory moved bytes are at home. All else it asks another.
pub struct MovedHost<'a> {
    host: &'a dyn Host,
    space: WithMoved<'a>,
}

impl<'a> MovedHost<'a> {
    /// A process with moved bytes at home.
    pub fn new(host: &'a dyn Host, moved: MovedBytes) -> Self {
        Self { host, space: WithMoved::new(host.space(), moved) }
    }
}

impl Host for MovedHost<'_> {
    fn space(&self) -> &dyn AddressSpace {
        &self.space
    }

    fn budget(&self) -> Option<&Budget> {
        self.host.budget()
    }

    fn regions(&self) -> Vec<Region> {
        self.host.regions()
    }

    fn modules(&self) -> Vec<&dyn HostModule> {
        self.host.modules()
    }

    fn module_at(&self, at: Addr) -> Option<&dyn HostModule> {
        self.host.module_at(at)
    }

    fn range_at(&self, at: Addr) -> Option<HostRange> {
        self.host.range_at(at)
    }

    fn ranges(&self) -> Vec<HostRange> {
        self.host.ranges()
    }

    fn threads(&self) -> Vec<Tid> {
        self.host.threads()
    }

    fn thread_pointer(&self, thread: Tid) -> Option<Addr> {
        self.host.thread_pointer(thread)
    }

    fn thread_local(&self, thread: Tid, module: &dyn HostModule, offset: Svma) -> Option<Addr> {
        self.host.thread_local(thread, module, offset)
    }

    fn main_thread(&self) -> Option<Tid> {
        self.host.main_thread()
    }

    fn thread_of_stack(&self, at: Addr) -> Option<Tid> {
        self.host.thread_of_stack(at)
    }

    fn is_used_block(&self, at: Addr) -> Option<bool> {
        self.host.is_used_block(at)
    }

    fn stack_pointer(&self, thread: Tid) -> Option<Addr> {
        self.host.stack_pointer(thread)
    }

    fn registers(&self, thread: Tid) -> Option<Regs> {
        self.host.registers(thread)
    }

    fn allows_nearest(&self) -> bool {
        self.host.allows_nearest()
    }

    fn frames(&self, thread: Tid) -> Vec<Frame> {
        self.host.frames(thread)
    }

    fn reads_source_maps(&self) -> bool {
        self.host.reads_source_maps()
    }

    fn source_maps(&self, script: MappedScript<'_>, take: &mut dyn FnMut(SourceMapFile) -> bool) {
        self.host.source_maps(script, take);
    }

    fn function_at(&self, at: CodeAddr) -> Option<Arc<str>> {
        self.host.function_at(at)
    }
}
