//! Jump buffers: where `longjmp` would go.

use kcore_mem::{Addr, Fault};
use kcore_unwind::UserRegister;

use crate::{Core, RegisterView, Tid, arch::facts, tls::Libc};

/// Why a jump buffer could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JumpError {
    /// Its memory was not dumped.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// glibc hides addresses by a secret of the process, which was not found.
    #[error("the guard by which the C library hides pointers is not known")]
    NoGuard,
    /// What it holds is no place in code.
    #[error("no jump buffer: {0} is no code")]
    NotCode(Addr),
    /// Its layout is not known on this machine.
    #[error("the layout of a jump buffer is not known on this machine")]
    Unsupported,
}

/// What an architecture's C libraries put into a jump buffer.
pub struct JumpLayout {
    /// Registers by their word, and whether glibc hides them.
    pub slots: &'static [(&'static str, u64, bool)],
    /// The name of the program counter among them.
    pub pc: &'static str,
    /// Where glibc keeps the guard.
    pub guard: GuardPlace,
    /// The value that was hidden by the guard.
    pub reveal: fn(u64, u64) -> u64,
}

/// Where glibc keeps the secret by which it hides pointers.
#[derive(Clone, Copy)]
pub enum GuardPlace {
    /// At an offset from the thread pointer.
    Thread(u64),
    /// In a variable of the dynamic linker.
    Symbol(&'static str),
}

impl RegisterView<'_> {
    /// The registers that the `jmp_buf` at an address holds, and where it leads; `tid` is a thread of the
    /// process that set it.
    ///
    /// # Errors
    /// When it was not dumped, or what it holds is no place in code.
    pub fn of_jump_buffer(
        self,
        tid: Tid,
        at: Addr,
    ) -> Result<(Vec<UserRegister>, Addr), JumpError> {
        let layout = facts(self.core.target()).jump.as_ref().ok_or(JumpError::Unsupported)?;
        let guard = match self.core.libc() {
            Libc::Musl => None,
            Libc::Glibc => Some(self.core.pointer_guard(tid, layout).ok_or(JumpError::NoGuard)?),
        };
        let mut registers = Vec::with_capacity(layout.slots.len());
        for (name, word, hidden) in layout.slots {
            let slot = word.saturating_mul(u64::from(self.core.target().word));
            let saved = self.core.space().read_word(at.saturating_add(slot))?;
            let guard = guard.filter(|_| *hidden);
            let value = guard.map_or(saved, |guard| (layout.reveal)(saved, guard));
            registers.push(UserRegister { name, value });
        }
        let pc = registers.iter().find(|register| register.name == layout.pc);
        let pc = Addr::new(pc.map_or(0, |register| register.value));
        if self.core.is_code(pc) { Ok((registers, pc)) } else { Err(JumpError::NotCode(pc)) }
    }
}

impl Core {
    fn pointer_guard(&self, tid: Tid, layout: &JumpLayout) -> Option<u64> {
        let at = match layout.guard {
            GuardPlace::Thread(offset) => self.tls().pointer(tid)?.checked_add(offset)?,
            GuardPlace::Symbol(name) => self.symbols().lookup(None, name).ok()?,
        };
        self.space().read_word(at).ok()
    }

    fn is_code(&self, at: Addr) -> bool {
        kcore_unwind::Modules::is_code(self.modules(), at)
    }
}
