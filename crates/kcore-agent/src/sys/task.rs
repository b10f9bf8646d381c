//! Processes, threads, clocks and memory.

#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::{arch::asm, ptr::from_mut, time::Duration};

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

/// Whether a program may read the register that is the thread pointer.
#[cfg(target_arch = "x86_64")]
static MAY_READ: AtomicBool = AtomicBool::new(false);

/// Looks whether a program may read the register that is the thread pointer (`HWCAP2_FSGSBASE`, Linux 5.9). Not for a
/// handler.
pub fn look_at_machine() {
    #[cfg(target_arch = "x86_64")]
    {
        const MAY_READ_BASES: u64 = 2;
        // SAFETY: it takes no pointer.
        let features = unsafe { libc::getauxval(libc::AT_HWCAP2) };
        MAY_READ.store(features & MAY_READ_BASES != 0, Ordering::Relaxed);
    }
}

/// The thread pointer of the thread that asks. Where the register may not be read, the word that it points to by the
/// ABI has it: not in a thread that has made it something else, where reading that may be a fault.
pub fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: all only read a register, or the word that it points to by the ABI.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if MAY_READ.load(Ordering::Relaxed) {
            asm!("rdfsbase {}", out(reg) pointer, options(nostack, nomem, preserves_flags));
        } else {
            asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags));
        }
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

/// Whether the process may have so many more bytes of memory now.
pub fn has_memory(bytes: usize) -> bool {
    let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize;
    let args = [0, bytes, access, flags, usize::MAX, 0];
    // SAFETY: a new mapping touches no other.
    let at = unsafe { call(libc::SYS_mmap, args) };
    if (-4095..0).contains(&at) {
        return false;
    }
    // SAFETY: nobody else knows of it.
    unsafe { call(libc::SYS_munmap, [at as usize, bytes, 0, 0, 0, 0]) };
    true
}

/// Closes a file.
pub fn close(file: i32) {
    // SAFETY: it takes no pointer.
    unsafe { call(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]) };
}

/// Writes all of it to a file, as far as it takes it; what is left is left out when it takes nothing for so long.
pub fn write_all(file: i32, mut bytes: &[u8], most: Duration) {
    /// Bytes that a pipe that can be written to takes without waiting (`PIPE_BUF`).
    const PIECE: usize = 4096;
    while !bytes.is_empty() && takes(file, most) {
        let piece = bytes.len().min(PIECE);
        let args = [file as usize, bytes.as_ptr().addr(), piece, 0, 0, 0];
        // SAFETY: the kernel reads `bytes`, which are borrowed.
        let written = unsafe { call(libc::SYS_write, args) };
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) if is_one_of(written, &[libc::EINTR, libc::EAGAIN]) => {}
            Err(_) => return,
        }
    }
}

/// Waits until a file can be written to, or says why not; says whether it does within that time.
fn takes(file: i32, most: Duration) -> bool {
    let mut polled = libc::pollfd { fd: file, events: libc::POLLOUT, revents: 0 };
    let time = libc::timespec {
        tv_sec: most.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: most.subsec_nanos().into(),
    };
    let args = [from_mut(&mut polled).addr(), 1, std::ptr::from_ref(&time).addr(), 0, 0, 0];
    loop {
        // SAFETY: the kernel reads the file and the time, and writes what it found.
        let answer = unsafe { call(libc::SYS_ppoll, args) };
        if !is_one_of(answer, &[libc::EINTR]) {
            return answer > 0;
        }
    }
}

fn is_one_of(answer: isize, errors: &[i32]) -> bool {
    errors.iter().any(|error| answer.wrapping_neg() == *error as isize)
}
