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

    /// The register at an offset, or what else has its size.
    ///
    /// # Errors
    /// When it was not dumped.
    pub fn register(&self, offset: u64) -> Result<u64, Fault> {
        self.space.read_register(self.at(offset)?)
    }

    /// One of the words with which a context begins.
    fn nth_word(&self, index: u64) -> Result<u64, Fault> {
        let word = u64::from(self.space.target().word);
        self.space.read_word(self.at(word.saturating_mul(index))?)
    }

    fn at(&self, offset: u64) -> Result<Addr, Fault> {
        self.context.checked_add(offset).ok_or(Fault::Unmapped(self.context))
    }

    /// The registers from an offset on, under these names.
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
            self.register(offset).map(|value| UserRegister { name, value })
        };
        offsets.zip(names).map(read).collect()
    }

    /// What is the same on all machines, without registers.
    ///
    /// # Errors
    /// When it was not dumped.
    pub fn start(&self) -> Result<SavedContext, Fault> {
        Ok(SavedContext {
            flags: self.nth_word(0)?,
            link: Addr::new(self.nth_word(1)?),
            stack: Addr::new(self.nth_word(2)?),
            stack_flags: self.nth_word(3)? as u32,
            stack_size: self.nth_word(4)?,
            mask: 0,
            registers: Vec::new(),
            fault_address: Addr::new(0),
            exception: None,
        })
    }
}
