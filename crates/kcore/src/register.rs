//! Registers by name: of the thread as it was saved, and of its outer frames as recovered.

use crate::{Core, Tid};

/// Why there is no register of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The architecture has none of that name.
    #[error("invalid register name")]
    UnknownName,
    /// The process has no such thread.
    #[error("invalid thread identifier")]
    UnknownThread,
    /// The thread has no such frame.
    #[error("thread {0} has no frame {1}")]
    UnknownFrame(Tid, usize),
}

/// Questions about registers: see [`Core::registers`].
#[derive(Clone, Copy)]
pub struct RegisterView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// The registers of its threads and of their frames.
    pub const fn registers(&self) -> RegisterView<'_> {
        RegisterView { core: self }
    }
}

impl RegisterView<'_> {
    /// The value of a register (`rax`, `eax`, `al`, `rip`, `fsbase`) in physical frame `frame` of a
    /// thread; `None` when that frame did not save it.
    ///
    /// # Errors
    /// When there is no such register, thread or frame.
    pub fn named(self, tid: Tid, frame: usize, name: &str) -> Result<Option<u64>, RegisterError> {
        if self.core.thread(tid).is_none() {
            return Err(RegisterError::UnknownThread);
        }
        if let Some(value) = self.core.whole_register(tid, frame, name)? {
            return Ok(value);
        }
        let part = self.core.machine().and_then(|machine| machine.part_of(name));
        let part = part.ok_or(RegisterError::UnknownName)?;
        let whole =
            self.core.whole_register(tid, frame, part.whole)?.ok_or(RegisterError::UnknownName)?;
        let mask = u64::MAX.checked_shr(64_u32.saturating_sub(part.bits)).unwrap_or(u64::MAX);
        Ok(whole.map(|value| (value >> part.shift) & mask))
    }
}

impl Core {
    /// A register under its full name: `None` when there is none of that name, `Some(None)` when it
    /// is not known in that frame.
    fn whole_register(
        &self,
        tid: Tid,
        frame: usize,
        name: &str,
    ) -> Result<Option<Option<u64>>, RegisterError> {
        let saved = self.registers().user(tid);
        let saved = saved.iter().find(|register| register.name == name);
        if frame == 0 {
            return Ok(saved.map(|register| Some(register.value)));
        }
        let Some(machine) = self.machine() else { return Ok(None) };
        let (_, regs) =
            self.registers().of_frame(tid, frame).ok_or(RegisterError::UnknownFrame(tid, frame))?;
        if name == machine.pc_name() {
            return Ok(Some(Some(regs.pc().get())));
        }
        let general = machine.register_names().iter().find(|(known, _)| *known == name);
        Ok(match (general, saved) {
            (Some((_, register)), _) => Some(regs.get(*register)),
            (None, Some(register)) if machine.is_of_thread(name) => Some(Some(register.value)),
            (None, Some(_)) => Some(None),
            (None, None) => None,
        })
    }
}
