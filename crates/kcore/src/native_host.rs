//! The process as runtimes see it while no runtime may be asked: while they are looked for, and while one of them is
//! asked for a step.
//!
//! Frames are walked with the rules of all runtimes. Whoever asks for frames in order to find the runtimes would
//! wait for itself, and a rule that asks for frames would be asked again for its own step.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, CodeAddr, Region, Svma};
use kcore_runtimes::{Host, HostModule, HostRange};
use kcore_unwind::{Frame, Regs};

use crate::{Core, MAX_FRAMES, Tid};

/// A process whose stacks are walked without the rules of runtimes.
pub struct NativeHost<'a>(pub &'a Core);

impl NativeHost<'_> {
    fn host(&self) -> &dyn Host {
        self.0
    }
}

impl Host for NativeHost<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self.0.space()
    }

    fn regions(&self) -> Vec<Region> {
        self.host().regions()
    }

    fn modules(&self) -> Vec<&dyn HostModule> {
        self.host().modules()
    }

    fn module_at(&self, at: Addr) -> Option<&dyn HostModule> {
        self.host().module_at(at)
    }

    fn range_at(&self, at: Addr) -> Option<HostRange> {
        self.host().range_at(at)
    }

    fn ranges(&self) -> Vec<HostRange> {
        self.host().ranges()
    }

    fn threads(&self) -> Vec<Tid> {
        self.host().threads()
    }

    fn thread_pointer(&self, thread: Tid) -> Option<Addr> {
        self.host().thread_pointer(thread)
    }

    fn thread_local(&self, thread: Tid, module: &dyn HostModule, offset: Svma) -> Option<Addr> {
        self.host().thread_local(thread, module, offset)
    }

    fn main_thread(&self) -> Option<Tid> {
        self.host().main_thread()
    }

    fn thread_of_stack(&self, at: Addr) -> Option<Tid> {
        self.host().thread_of_stack(at)
    }

    fn is_used_block(&self, at: Addr) -> Option<bool> {
        self.host().is_used_block(at)
    }

    fn stack_pointer(&self, thread: Tid) -> Option<Addr> {
        self.host().stack_pointer(thread)
    }

    fn registers(&self, thread: Tid) -> Option<Regs> {
        self.host().registers(thread)
    }

    fn allows_nearest(&self) -> bool {
        self.host().allows_nearest()
    }

    fn frames(&self, thread: Tid) -> Vec<Frame> {
        let walker = self.0.native_walker();
        let walk =
            |mut walker| self.0.stacks().of_thread_with(&mut walker, thread, MAX_FRAMES).frames;
        walker.map(walk).unwrap_or_default()
    }

    fn function_at(&self, at: CodeAddr) -> Option<Arc<str>> {
        self.host().function_at(at)
    }
}
