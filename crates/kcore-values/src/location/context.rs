//! What an expression may ask for of the frame that it is evaluated in.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Budget, Svma};
use kcore_symbols::{CallSite, VariableLocation};

use crate::Absent;

/// A frame of a stack, as expressions see it. All but memory may be unknown: outside of any frame it is.
pub trait FrameContext {
    /// The memory of the process.
    fn space(&self) -> &dyn AddressSpace;

    /// What the operations of expressions are charged to, if somebody counts them.
    fn budget(&self) -> Option<&Budget> {
        None
    }

    /// What a register held, by its DWARF number: its bytes as they would stand in memory. `None` when
    /// no callee saved it.
    fn register(&self, number: u16) -> Option<Arc<[u8]>>;

    /// The canonical frame address.
    fn cfa(&self) -> Option<Addr>;

    /// Where the frame base lies.
    fn frame_base(&self) -> Option<&VariableLocation>;

    /// The address of code by which locations are chosen.
    fn pc(&self) -> Option<Svma>;

    /// Where an address of the file lies in the process.
    fn relocated(&self, at: Svma) -> Option<Addr>;

    /// Where the thread has what lies so many bytes into its module's thread-local storage.
    ///
    /// # Errors
    /// When the storage was not found.
    fn thread_local(&self, offset: u64) -> Result<Addr, Absent>;

    /// The call by which the frame's function began, if it is certain which one that was.
    fn call(&self) -> Option<Call<'_>>;
}

/// A call, and the frame that made it.
pub struct Call<'a> {
    /// What is known of the call.
    pub site: &'a CallSite,
    /// The caller.
    pub frame: Box<dyn FrameContext + 'a>,
}
