//! What a `ucontext_t` holds: where a thread was when a signal, or a switch of contexts, came.

use kcore_mem::{Addr, AddressSpace, Fault};

use crate::UserRegister;

/// A `ucontext_t`. Its beginning is the same on all machines: flags, link, stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedContext {
    /// `uc_flags`.
    pub flags: u64,
    /// `uc_link`: the context that follows when this one returns; null for none.
    pub link: Addr,
    /// `uc_stack`: the lowest address of the alternate stack.
    pub stack: Addr,
    /// Its flags: 1 in use, 2 disabled.
    pub stack_flags: u32,
    /// Its bytes.
    pub stack_size: u64,
    /// The first 64 blocked signals, a bit each, the lowest for signal 1.
    pub mask: u64,
    /// General registers, pc and flags.
    pub registers: Vec<UserRegister>,
    /// The address whose access failed, if that is what the signal is about.
    pub fault_address: Addr,
    /// Number and error code of the machine's exception, where it has them.
    pub exception: Option<(u64, u64)>,
}

/// Reads words of a context.
pub struct ContextReader<'a> {
    space: &'a dyn AddressSpace,
    context: Addr,
}

impl<'a> ContextReader<'a> {
    /// A reader of the context at `context`.
    pub fn new(context: Addr, space: &'a dyn AddressSpace) -> Self {
        Self { space, context }
    }

    /// The word at an offset.
    ///
    /// # Errors
    /// When it was not dumped.
    pub fn word(&self, offset: u64) -> Result<u64, Fault> {
        let at = self.context.checked_add(offset).ok_or(Fault::Unmapped(self.context))?;
        self.space.read_word(at)
    }

    /// The words from an offset on, under these names.
    ///
    /// # Errors
    /// When one was not dumped.
    pub fn registers(
        &self,
        offset: u64,
        names: &[&'static str],
    ) -> Result<Vec<UserRegister>, Fault> {
        let offsets = (offset..).step_by(8);
        let read = |(offset, name): (u64, &&'static str)| {
            self.word(offset).map(|value| UserRegister { name, value })
        };
        offsets.zip(names).map(read).collect()
    }

    /// What is the same on all machines, without registers.
    ///
    /// # Errors
    /// When it was not dumped.
    pub fn start(&self) -> Result<SavedContext, Fault> {
        Ok(SavedContext {
            flags: self.word(0)?,
            link: Addr::new(self.word(8)?),
            stack: Addr::new(self.word(16)?),
            stack_flags: self.word(24)? as u32,
            stack_size: self.word(32)?,
            mask: 0,
            registers: Vec::new(),
            fault_address: Addr::new(0),
            exception: None,
        })
    }
}
