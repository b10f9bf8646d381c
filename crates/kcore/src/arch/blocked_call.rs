//! What a thread leaves in its registers while the kernel keeps it in a system call.

/// The results that the kernel prepares for a call that a signal or a stop interrupted: `ERESTARTSYS`,
/// `ERESTARTNOINTR`, `ERESTARTNOHAND` and `ERESTART_RESTARTBLOCK` (Linux `include/linux/errno.h`). No call returns them.
const RESTART: [i64; 4] = [-512, -513, -514, -516];

/// `EINTR`.
const INTERRUPTED: i64 = -4;

/// A system call and its arguments, as far as registers still hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRegisters {
    /// The number of the call.
    pub number: u64,
    /// Its arguments; `None` where the register holds the result instead.
    pub arguments: [Option<u64>; 6],
}

/// Whether the result of a call says that the thread was still in it.
pub fn is_restarted(result: u64) -> bool {
    RESTART.contains(&result.cast_signed())
}

/// Whether the result of a call says that a signal or a stop ended it.
pub fn is_interrupted(result: u64) -> bool {
    result.cast_signed() == INTERRUPTED
}
