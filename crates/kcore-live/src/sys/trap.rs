//! perf_event_open(2): events of a thread at which the kernel sends it SIGTRAP, as soon as it would go on in its own
//! code (Linux 5.13 and later).
//!
//! The kernel itself looks whether an event is one of those that are wanted: nothing else stops the thread. An event
//! is gone with its descriptor, however kcore ends.

use std::{
    fs::File,
    io,
    os::fd::{AsRawFd, FromRawFd},
};

use perf_event_open_sys::{bindings, ioctls, perf_event_open};

/// Bytes that a breakpoint on code covers (`struct perf_event_attr`, `bp_len`): those of a `long`.
const BREAKPOINT_LEN: u64 = size_of::<libc::c_long>() as u64;
/// What marks a SIGTRAP of kcore: the upper half of its `si_perf_data`.
const MARK: u64 = 0x6b63_6f72 << 32;
/// `TRAP_PERF`: the `si_code` of a SIGTRAP that a perf event sends.
const TRAP_PERF: i32 = 6;
/// Where `siginfo_t` of 64-bit machines has `si_code`, and `si_perf_data` of a SIGTRAP.
const CODE: usize = 8;
const DATA: usize = 24;

/// An event that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Code at this address is about to run.
    Code(u64),
    /// A tracepoint of this number is passed, and its filter holds.
    Tracepoint { id: u64, filter: String },
}

/// An event of a thread, and of the threads that it makes from now on.
#[derive(Debug)]
pub struct Trap {
    file: File,
}

impl Trap {
    /// Begins to wait; `number` tells the traps of one process apart.
    ///
    /// # Errors
    /// `EACCES` or `EPERM` where a right is missing; `EINVAL` where the kernel does not know such events; `ENOSPC`
    /// where all breakpoints of the machine are in use; `ESRCH` when the thread has ended.
    pub fn open(tid: libc::pid_t, spot: &Spot, number: u32) -> io::Result<Self> {
        let mut attributes = attributes(spot, number);
        // SAFETY: the attributes are a local structure that is filled as perf_event_open(2) demands.
        let descriptor = unsafe {
            let close_on_exec = bindings::PERF_FLAG_FD_CLOEXEC.into();
            perf_event_open(&raw mut attributes, tid, -1, -1, close_on_exec)
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nobody else's.
        let trap = Self { file: unsafe { File::from_raw_fd(descriptor) } };
        if let Spot::Tracepoint { filter, .. } = spot {
            trap.filter(filter)?;
        }
        trap.switch(true)?;
        Ok(trap)
    }

    fn filter(&self, filter: &str) -> io::Result<()> {
        let filter = std::ffi::CString::new(filter)?;
        // SAFETY: the descriptor is an event's, and the kernel copies the text.
        let done = unsafe { ioctls::SET_FILTER(self.file.as_raw_fd(), filter.as_ptr().cast_mut()) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Begins or ends to send signals, to the threads too that were made meanwhile.
    fn switch(&self, on: bool) -> io::Result<()> {
        let descriptor = self.file.as_raw_fd();
        // SAFETY: the descriptor is an event's, and neither request takes memory of kcore.
        let done = unsafe {
            if on { ioctls::ENABLE(descriptor, 0) } else { ioctls::DISABLE(descriptor, 0) }
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Sends no more signals.
    pub fn end(&self) {
        // The thread may have ended.
        let _ = self.switch(false);
    }
}

/// Whether the signal of a trap came later than its event, since the thread had blocked it (`TRAP_PERF_FLAG_ASYNC`, Linux 6.0
/// and later).
pub fn is_late(info: &[u8]) -> bool {
    /// `si_perf_flags`.
    const FLAGS: usize = 36;
    const ASYNC: u32 = 1;
    let flags = info.get(FLAGS..).and_then(|rest| rest.first_chunk().copied());
    flags.is_some_and(|flags| u32::from_ne_bytes(flags) & ASYNC != 0)
}

/// Which trap of kcore sent a signal, by its `siginfo_t`; `None` when none did.
pub fn sender(info: &[u8]) -> Option<u32> {
    let word =
        |at: usize| info.get(at..)?.first_chunk::<8>().map(|bytes| u64::from_ne_bytes(*bytes));
    let code = info.get(CODE..)?.first_chunk().map(|bytes| i32::from_ne_bytes(*bytes))?;
    let data = word(DATA)?;
    let is_ours = code == TRAP_PERF && data & !u64::from(u32::MAX) == MARK;
    u32::try_from(data & u64::from(u32::MAX)).ok().filter(|_| is_ours)
}

fn attributes(spot: &Spot, number: u32) -> bindings::perf_event_attr {
    let mut attributes = bindings::perf_event_attr {
        size: u32::try_from(size_of::<bindings::perf_event_attr>()).unwrap_or_default(),
        sig_data: MARK | u64::from(number),
        ..bindings::perf_event_attr::default()
    };
    match spot {
        Spot::Code(address) => {
            attributes.type_ = bindings::PERF_TYPE_BREAKPOINT;
            attributes.bp_type = bindings::HW_BREAKPOINT_X;
            attributes.__bindgen_anon_3.bp_addr = *address;
            attributes.__bindgen_anon_4.bp_len = BREAKPOINT_LEN;
            attributes.set_exclude_kernel(1);
        }
        Spot::Tracepoint { id, .. } => {
            attributes.type_ = bindings::PERF_TYPE_TRACEPOINT;
            attributes.config = *id;
        }
    }
    attributes.__bindgen_anon_1.sample_period = 1;
    attributes.set_exclude_hv(1);
    attributes.set_disabled(1);
    attributes.set_inherit(1);
    attributes.set_inherit_thread(1);
    // The kernel demands it of events that send signals: the next program did not ask for them.
    attributes.set_remove_on_exec(1);
    attributes.set_sigtrap(1);
    attributes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(code: i32, data: u64) -> Vec<u8> {
        let mut info = vec![0; 128];
        info[CODE..CODE + 4].copy_from_slice(&code.to_ne_bytes());
        info[DATA..DATA + 8].copy_from_slice(&data.to_ne_bytes());
        info
    }

    #[test]
    fn own_signals_are_told_from_others() {
        assert_eq!(sender(&info(TRAP_PERF, MARK | 3)), Some(3));
        assert_eq!(sender(&info(TRAP_PERF, 3)), None, "of another tool");
        assert_eq!(sender(&info(1, MARK | 3)), None, "a breakpoint of the program");
        assert_eq!(sender(&[0; 12]), None);
    }
}
