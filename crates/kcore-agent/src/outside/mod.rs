//! Profiles with functions of languages: a process of its own takes them, as `kcore profile` does.
//!
//! What runs in a language lies in memory that changes with every call, so that it has to be copied while the thread
//! stands still. The process is this library again, started as a program (`entry`). It traces the one that started it
//! with that one's permission, and writes the profile.
//!
//! Both talk by a socket, in lines:
//!
//! - The agent says `go` once it has given its permission, and ends its direction when the profile is to end.
//! - The process says `begun` with the first sample, and then `done` with what is to be known. It says `refused` with the
//!   reason where it cannot take any sample.

mod entry;
mod file;
mod said;
mod sample;

use std::{
    ffi::{CString, OsStr},
    io::{ErrorKind, Read, Write},
    net::Shutdown,
    os::{
        fd::AsRawFd,
        unix::{ffi::OsStrExt, net::UnixStream},
    },
    sync::atomic::{AtomicI32, Ordering},
    time::{Duration, Instant},
};

use crate::{
    settings::Settings,
    sys::{self, Permission, Program},
};

/// How often the agent's thread listens: seldom, since a thread that has run is stopped for a sample.
pub const TURN: Duration = Duration::from_millis(100);
/// How long the process may take for the profile once that was to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of what it says, at most.
const MOST_SAID: usize = 16 << 10;

/// The agent's end of the socket, while there is a process; -1 while there is none.
static SOCKET: AtomicI32 = AtomicI32::new(-1);

/// A process that takes a profile of this one.
pub struct Outside {
    socket: UnixStream,
    heard: Vec<u8>,
    begun: bool,
    /// When the profile is over at the latest.
    over: Instant,
    _permission: Permission,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A profile was taken, and this is to be known of it.
    Done(String),
    /// Not a sample was taken, for this reason.
    Refused(String),
}

impl Outside {
    /// Starts the process.
    ///
    /// # Errors
    /// Why there is none.
    pub fn start(settings: &Settings) -> Result<Self, String> {
        let own = file::of_library()?;
        let (socket, other) = UnixStream::pair().map_err(|error| error.to_string())?;
        socket.set_nonblocking(true).map_err(|error| error.to_string())?;
        let program = Program {
            path: &file::of_loader()?,
            arguments: &arguments(own, settings),
            // It is not to have itself as its agent.
            environment: &[c"KCORE_AGENT=0".to_owned()],
            talks_by: other.as_raw_fd(),
        };
        let pid = sys::start(&program).map_err(|number| {
            let error = std::io::Error::from_raw_os_error(number);
            format!("no process could be started for it: {error}")
        })?;
        let over = settings.profile_time.saturating_add(PATIENCE);
        let over = Instant::now().checked_add(over).ok_or("its time is too long")?;
        let permission = Permission::of(pid, settings.dumpable);
        SOCKET.store(socket.as_raw_fd(), Ordering::Release);
        let mut outside =
            Self { socket, heard: Vec::new(), begun: false, over, _permission: permission };
        // Where it has ended already, there is nothing to hear either.
        let _ = outside.socket.write_all(b"go\n");
        Ok(outside)
    }

    /// Lets the profile end.
    pub fn end(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Write);
        if let Some(over) = Instant::now().checked_add(PATIENCE) {
            self.over = over;
        }
    }

    /// Reads what the sampling process has written so far. The outcome of the profile, if it has written that.
    pub fn hear(&mut self) -> Option<Outcome> {
        let has_ended = self.read();
        let said = String::from_utf8_lossy(&self.heard).into_owned();
        for line in said.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            match line.split_once(' ') {
                _ if line == said::BEGUN => self.begun = true,
                Some((said::DONE, what)) => return Some(Outcome::Done(what.to_owned())),
                Some((said::REFUSED, why)) => return Some(Outcome::Refused(why.to_owned())),
                _ => {}
            }
        }
        if has_ended {
            return Some(self.lost("the process that took it ended"));
        }
        (Instant::now() > self.over).then(|| self.lost("the process that took it does not answer"))
    }

    fn lost(&self, why: &str) -> Outcome {
        match self.begun {
            true => Outcome::Done(format!("profile lost: {why}")),
            false => Outcome::Refused(why.to_owned()),
        }
    }

    /// Reads what there is; says whether no more will come.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        while self.heard.len() < MOST_SAID {
            match self.socket.read(&mut bytes) {
                Ok(0) => return true,
                Ok(count) => self.heard.extend(bytes.iter().take(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() != ErrorKind::WouldBlock,
            }
        }
        true
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        SOCKET.store(-1, Ordering::Release);
    }
}

/// Closes the socket in a process that was forked off: the process that takes the profile is not to wait for that one.
pub fn forget() {
    let socket = SOCKET.swap(-1, Ordering::AcqRel);
    if socket >= 0 {
        sys::close(socket);
    }
}

/// What the process is told: `sample::Order` reads it.
fn arguments(own: CString, settings: &Settings) -> Vec<CString> {
    let number = |number: u128| CString::new(number.to_string()).unwrap_or_default();
    let folder = OsStr::as_bytes(settings.profile_folder.as_os_str());
    vec![
        c"kcore-profile".to_owned(),
        own,
        entry::PROFILE.to_owned(),
        number(sys::process_id().unsigned_abs().into()),
        number(settings.hertz.into()),
        number(settings.profile_time.as_nanos()),
        CString::new(folder).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(said: &[u8]) -> Option<Outcome> {
        let (mut other, socket) = UnixStream::pair().unwrap();
        socket.set_nonblocking(true).unwrap();
        other.write_all(said).unwrap();
        drop(other);
        let permission = Permission::of(0, false);
        let over = Instant::now() + PATIENCE;
        let (heard, begun) = (Vec::new(), false);
        Outside { socket, heard, begun, over, _permission: permission }.hear()
    }

    #[test]
    fn what_is_said_last_is_what_came_of_it() {
        let done = heard(b"begun\ndone profile of 7 samples\n");
        assert_eq!(done, Some(Outcome::Done("profile of 7 samples".to_owned())));
        let refused = heard(b"refused no right\n");
        assert_eq!(refused, Some(Outcome::Refused("no right".to_owned())));
    }

    #[test]
    fn a_process_that_ends_before_its_first_sample_has_refused_and_later_it_has_lost() {
        assert!(matches!(heard(b""), Some(Outcome::Refused(_))));
        assert!(matches!(heard(b"done prof"), Some(Outcome::Refused(_))), "a line that is cut");
        let lost = heard(b"begun\n");
        assert!(matches!(&lost, Some(Outcome::Done(said)) if said.contains("lost")), "{lost:?}");
        assert!(heard(&[b'x'; MOST_SAID + 1]).is_some());
    }
}
