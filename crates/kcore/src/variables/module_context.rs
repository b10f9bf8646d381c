//! What DWARF expressions of variables that lie in no frame may ask for: memory, and a thread.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Budget, Svma};
use kcore_symbols::VariableLocation;
use kcore_values::{
    Absent,
    location::{Call, FrameContext},
};

use crate::{Core, Module, Tid, TlsError};

/// A module outside of any frame.
pub struct ModuleContext<'c> {
    pub core: &'c Core,
    pub module: &'c Module,
    /// The thread whose thread-local variables are meant.
    pub tid: Option<Tid>,
}

impl Core {
    /// Where a thread has what lies so many bytes into a module's thread-local storage, as debug
    /// information states it.
    pub(super) fn thread_local(
        &self,
        tid: Tid,
        module: &Module,
        offset: u64,
    ) -> Result<Addr, Absent> {
        let block = self.tls().block(tid, module).map_err(|error| match error {
            TlsError::Fault(fault) => fault.into(),
            other => Absent::Unreadable(other.to_string()),
        })?;
        let offset = module.offset_in_storage(offset).ok_or_else(|| {
            Absent::Unreadable(format!("offset {offset:#x} is beyond the thread local storage"))
        })?;
        Ok(Addr::new(block.get().wrapping_add(offset)))
    }
}

impl Module {
    /// An offset into the module's thread-local storage; `None` if it does not lie there. For debug
    /// information in files of its own gcc (12, `-gsplit-dwarf`) states the address at which the file has
    /// the variable's first value in its place.
    fn offset_in_storage(&self, stated: u64) -> Option<u64> {
        let segment = self.tls_segment()?;
        let from_address = stated.wrapping_sub(segment.svma.get());
        [stated, from_address].into_iter().find(|offset| *offset <= segment.mem_size)
    }
}

impl FrameContext for ModuleContext<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self.core.space()
    }

    fn budget(&self) -> Option<&Budget> {
        Some(self.core.budget())
    }

    fn register(&self, _number: u16) -> Option<Arc<[u8]>> {
        None
    }

    fn cfa(&self) -> Option<Addr> {
        None
    }

    fn frame_base(&self) -> Option<&VariableLocation> {
        None
    }

    fn pc(&self) -> Option<Svma> {
        None
    }

    fn relocated(&self, at: Svma) -> Option<Addr> {
        self.module.addr(at)
    }

    fn thread_local(&self, offset: u64) -> Result<Addr, Absent> {
        match self.tid {
            Some(tid) => self.core.thread_local(tid, self.module, offset),
            None => Err(Absent::Unreadable(TlsError::NotAllocated.to_string())),
        }
    }

    fn call(&self) -> Option<Call<'_>> {
        None
    }
}
