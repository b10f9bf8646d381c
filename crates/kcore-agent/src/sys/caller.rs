//! A socket of another process, in the kernel's abstract namespace.

use std::{
    mem::{size_of, zeroed},
    ptr::{from_mut, from_ref},
    time::Duration,
};

use super::{call::call, close, write_all};

/// The user whose rights the thread has that asks.
pub fn effective_user() -> u32 {
    // SAFETY: it takes no pointer.
    unsafe { call(libc::SYS_geteuid, [0; 6]) as u32 }
}

/// A connection to who asks; closed when it is dropped.
pub struct Caller(i32);

impl Caller {
    /// Connects to the socket of that name. It waits for nobody.
    ///
    /// # Errors
    /// The system's error number.
    pub fn connect(name: &[u8]) -> Result<Self, i32> {
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        let args = [libc::AF_UNIX as usize, kind as usize, 0, 0, 0, 0];
        // SAFETY: it takes no pointer.
        let socket = Self(number(unsafe { call(libc::SYS_socket, args) })?);
        // SAFETY: plain numbers, for which zeros are valid.
        let mut address: libc::sockaddr_un = unsafe { zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        // The byte before a name of that namespace is 0.
        let room = address.sun_path.get_mut(1..=name.len()).ok_or(libc::ENAMETOOLONG)?;
        for (to, from) in room.iter_mut().zip(name) {
            *to = from.cast_signed();
        }
        let len = size_of::<libc::sa_family_t>().saturating_add(1).saturating_add(name.len());
        let args = [socket.0 as usize, from_ref(&address).addr(), len, 0, 0, 0];
        // SAFETY: the kernel reads `len` bytes of `address`, which has them.
        number(unsafe { call(libc::SYS_connect, args) })?;
        Ok(socket)
    }

    /// The user that made the socket.
    ///
    /// # Errors
    /// The system's error number.
    pub fn user(&self) -> Result<u32, i32> {
        // SAFETY: plain numbers, for which zeros are valid.
        let mut peer: libc::ucred = unsafe { zeroed() };
        let mut len = size_of::<libc::ucred>() as libc::socklen_t;
        let (level, option) = (libc::SOL_SOCKET as usize, libc::SO_PEERCRED as usize);
        let to = from_mut(&mut peer).addr();
        let args = [self.0 as usize, level, option, to, from_mut(&mut len).addr(), 0];
        // SAFETY: the kernel writes `len` bytes at most, and how many.
        number(unsafe { call(libc::SYS_getsockopt, args) })?;
        Ok(peer.uid)
    }

    /// Says something, as far as it is listened to within that time. SIGPIPE is held back in the agent's thread.
    pub fn say(&self, bytes: &[u8], most: Duration) {
        write_all(self.0, bytes, most);
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        close(self.0);
    }
}

fn number(answer: isize) -> Result<i32, i32> {
    let number = i32::try_from(answer).unwrap_or(i32::MIN);
    if number >= 0 { Ok(number) } else { Err(number.saturating_neg()) }
}
