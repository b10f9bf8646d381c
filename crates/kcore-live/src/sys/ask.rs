//! Asking an agent: a signal with a number, who is at the other end of a socket, and sockets of another network.

use std::{
    fs::File,
    io,
    mem::{size_of, zeroed},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    ptr::from_ref,
};

/// What tells the signal from others with a number: it stands where `si_errno` does (`kcore-agent`, `sys/signal.rs`).
const MARK: i32 = 0x6b63_6171;

/// The kernel's `siginfo_t` of a signal that is queued, on machines of 64 bits.
#[repr(C)]
struct SigInfo {
    number: i32,
    error: i32,
    code: i32,
    pad: i32,
    pid: i32,
    user: u32,
    value: u64,
    rest: [u64; 12],
}

/// Sends a process a signal with a number.
///
/// # Errors
/// What the system says.
pub fn send(pid: i32, signal: i32, number: u64) -> io::Result<()> {
    const { assert!(size_of::<SigInfo>() == 128) };
    // SAFETY: both take nothing.
    let (own, user) = unsafe { (libc::getpid(), libc::getuid()) };
    let code = libc::SI_QUEUE;
    let value = number;
    let info =
        SigInfo { number: signal, error: MARK, code, pad: 0, pid: own, user, value, rest: [0; 12] };
    let info = from_ref(&info);
    // By a file of the process, so that no other one gets it that has its id by then.
    // SAFETY: it takes no pointer.
    let file = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let sent = if file < 0 {
        // SAFETY: the kernel reads `info`, which has the size and layout of its own.
        unsafe { libc::syscall(libc::SYS_rt_sigqueueinfo, pid, signal, info) }
    } else {
        // SAFETY: a file that was just opened, and is nobody else's.
        let file = unsafe { OwnedFd::from_raw_fd(file as i32) };
        // SAFETY: as above.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, file.as_raw_fd(), signal, info, 0) }
    };
    if sent == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The process at the other end of a socket, as this one knows it.
///
/// # Errors
/// What the system says.
pub fn peer(stream: &UnixStream) -> io::Result<i32> {
    // SAFETY: numbers, for which zeros are valid.
    let mut peer: libc::ucred = unsafe { zeroed() };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
    let to = (&raw mut peer).cast();
    // SAFETY: the kernel writes `len` bytes at most.
    let told = unsafe { libc::getsockopt(stream.as_raw_fd(), level, option, to, &raw mut len) };
    if told == 0 { Ok(peer.pid) } else { Err(io::Error::last_os_error()) }
}

/// Lets the thread that calls have another network, for the rest of its life.
///
/// # Errors
/// When a right is missing.
pub fn enter_network(network: &File) -> io::Result<()> {
    // SAFETY: it takes no pointer.
    let entered = unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) };
    if entered == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
