//! Processes, threads, clocks and memory.

use std::{arch::asm, ptr::from_mut};

use super::call::call;

/// The id of the process.
pub fn process_id() -> i32 {
    // SAFETY: it takes no pointer.
    unsafe { call(libc::SYS_getpid, [0; 6]) as i32 }
}

/// The id of the thread that asks.
pub fn thread_id() -> i32 {
    // SAFETY: it takes no pointer.
    unsafe { call(libc::SYS_gettid, [0; 6]) as i32 }
}

/// Lets others run that wait for the processor.
pub fn leave_processor() {
    // SAFETY: it takes no pointer.
    unsafe { call(libc::SYS_sched_yield, [0; 6]) };
}

/// Whether the process has such a thread.
pub fn has_thread(tid: i32) -> bool {
    let args = [process_id() as usize, tid as usize, 0, 0, 0, 0];
    // SAFETY: it takes no pointer; signal 0 is none.
    unsafe { call(libc::SYS_tgkill, args) == 0 }
}

/// Nanoseconds of a clock; 0 where it is none.
pub fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let args = [clock as usize, from_mut(&mut time).addr(), 0, 0, 0, 0];
    // SAFETY: the kernel writes `time`.
    unsafe { call(libc::SYS_clock_gettime, args) };
    let (seconds, rest) = (time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned());
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// Nanoseconds of the clock that never goes back.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// The thread pointer of the thread that asks.
pub fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: both only read a register, or the word that it points to by the ABI.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, nomem, preserves_flags));
    }
    pointer
}

/// Copies memory of the process, as far as it can be read; says how many bytes, negative an error number.
/// A bad address is an error and no fault.
pub fn read_memory(pid: i32, at: u64, to: &mut [u8]) -> isize {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote =
        libc::iovec { iov_base: std::ptr::without_provenance_mut(at as usize), iov_len: to.len() };
    let (local, remote) = (std::ptr::from_ref(&local).addr(), std::ptr::from_ref(&remote).addr());
    // SAFETY: the kernel writes to `to`, which is borrowed for writing, and checks the other address.
    unsafe { call(libc::SYS_process_vm_readv, [pid as usize, local, 1, remote, 1, 0]) }
}

/// Copies what a file has from `at` on; says how many bytes, negative an error number.
pub fn read_file_at(file: i32, at: u64, to: &mut [u8]) -> isize {
    let args = [file as usize, to.as_mut_ptr().addr(), to.len(), at as usize, 0, 0];
    // SAFETY: the kernel writes to `to`, which is borrowed for writing.
    unsafe { call(libc::SYS_pread64, args) }
}

/// Closes a file.
pub fn close(file: i32) {
    // SAFETY: it takes no pointer.
    unsafe { call(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]) };
}

/// Writes all of it to a file, as far as it takes it.
pub fn write_all(file: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let args = [file as usize, bytes.as_ptr().addr(), bytes.len(), 0, 0, 0];
        // SAFETY: the kernel reads `bytes`, which are borrowed.
        let written = unsafe { call(libc::SYS_write, args) };
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) if written.wrapping_neg() == libc::EINTR as isize => {}
            Err(_) => return,
        }
    }
}
