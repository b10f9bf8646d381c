//! Asking an agent.
//!
//! The agent's signal carries a number that chance chooses. The agent connects to the socket of that name, which kcore
//! made before, and says its answer there: the name is in the kernel's abstract namespace, so that there is no file
//! that others could have made, and none is left. Each end asks the system who the other one is: kcore takes answers
//! from the process that it asked alone, and the agent tells root and its own user alone.
//!
//! An answer is a line, `kcore-agent 1 stacks N` or `kcore-agent 1 error N`, and N bytes.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener, UnixStream},
    },
    thread,
    time::{Duration, Instant},
};

use super::{Agent, AskError};
use crate::{Pid, sys::ask as sys};

/// What the socket is called, before the number.
const NAME: &str = "kcore-agent-ask-";
/// How often it is looked whether the agent has connected.
const NAP: Duration = Duration::from_millis(5);
/// Bytes of a first line, at most.
const MAX_LINE: u64 = 64;
/// Bytes of what an agent says instead of stacks, at most.
const MAX_REASON: u64 = 4096;

/// In what form stacks are told. The lowest bit of the number says it to the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text for people.
    Text,
    /// JSON Lines.
    Json,
}

/// An answer that is coming.
#[derive(Debug)]
pub struct Answer {
    pid: Pid,
    stream: UnixStream,
    len: u64,
    deadline: Instant,
}

/// Asks an agent for the stacks of its process, and waits until the answer begins.
///
/// # Errors
/// When there is none in time, or a right is missing.
pub fn ask(agent: Agent, form: Form, limit: Duration) -> Result<Answer, AskError> {
    let pid = agent.pid;
    let begun = Instant::now();
    let deadline = begun.checked_add(limit).unwrap_or(begun);
    let failed = |what| move |error| AskError::System { pid, what, error };
    let number = number(form).map_err(failed("a number by chance"))?;
    let listener = listen(pid, number).map_err(failed("a socket for its answer"))?;
    sys::send(pid.get(), agent.signal, number).map_err(|error| match error.raw_os_error() {
        Some(libc::ESRCH) => AskError::NoProcess(pid),
        Some(libc::EPERM) => AskError::NotPermitted(pid),
        _ => AskError::System { pid, what: "its signal", error },
    })?;
    let late = AskError::NoAnswer { pid, limit };
    let stream = accept(&listener, pid, deadline)?.ok_or(late)?;
    Answer::begin(pid, stream, deadline)
}

fn number(form: Form) -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let json = u64::from(form == Form::Json);
    Ok(u64::from_ne_bytes(bytes) & !1 | json)
}

/// A socket that the agent can connect to: where the process has another network, one there.
fn listen(pid: Pid, number: u64) -> io::Result<UnixListener> {
    let make = move || {
        let address = SocketAddr::from_abstract_name(format!("{NAME}{number:016x}"))?;
        let listener = UnixListener::bind_addr(&address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    let network = format!("/proc/{pid}/ns/net");
    let is_other = fs::read_link(&network)
        .is_ok_and(|other| fs::read_link("/proc/self/ns/net").is_ok_and(|own| own != other));
    if !is_other {
        return make();
    }
    // A thread alone goes there, and ends.
    let there = move || {
        sys::enter_network(&File::open(network)?)?;
        make()
    };
    let made = thread::Builder::new().spawn(there)?.join();
    made.unwrap_or_else(|_| Err(io::Error::other("a thread of kcore failed")))
}

/// Waits for the process itself to connect; `None` when it does not in time.
fn accept(
    listener: &UnixListener,
    pid: Pid,
    deadline: Instant,
) -> Result<Option<UnixStream>, AskError> {
    let failed = |error| AskError::System { pid, what: "its answer", error };
    while Instant::now() < deadline {
        match listener.accept() {
            Ok((stream, _)) if sys::peer(&stream).is_ok_and(|peer| peer == pid.get()) => {
                stream.set_nonblocking(false).map_err(failed)?;
                return Ok(Some(stream));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if !fs::exists(format!("/proc/{pid}")).unwrap_or(false) {
                    return Err(AskError::NoProcess(pid));
                }
                thread::sleep(NAP);
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(None)
}

impl Answer {
    fn begin(pid: Pid, stream: UnixStream, deadline: Instant) -> Result<Self, AskError> {
        let mut answer = Self { pid, stream, len: 0, deadline };
        let line = answer.line()?;
        let mut words = line.split(' ');
        let (kind, len) = match (words.next(), words.next(), words.next(), words.next()) {
            (Some("kcore-agent"), Some("1"), Some(kind), Some(len)) => (kind, len.parse().ok()),
            _ => return Err(AskError::Unknown(pid)),
        };
        answer.len = len.ok_or(AskError::Unknown(pid))?;
        match kind {
            "stacks" => Ok(answer),
            "error" => Err(answer.reason()),
            _ => Err(AskError::Unknown(pid)),
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// When it breaks off, or cannot be written.
    pub fn write_to(mut self, to: &mut dyn Write) -> Result<(), AskError> {
        const PIECE: usize = 64 << 10;
        let (mut piece, mut left) = (vec![0; PIECE], self.len);
        while left > 0 {
            let want = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            let got = self.read(piece.get_mut(..want).unwrap_or_default());
            let got = piece.get(..got).unwrap_or_default();
            if got.is_empty() {
                let read = self.len.saturating_sub(left);
                return Err(AskError::Cut { pid: self.pid, read, whole: self.len });
            }
            to.write_all(got).map_err(AskError::Write)?;
            left = left.saturating_sub(got.len() as u64);
        }
        to.flush().map_err(AskError::Write)
    }

    /// Bytes that came; 0 at the end, or when the time is over.
    fn read(&mut self, to: &mut [u8]) -> usize {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
            return 0;
        }
        loop {
            match self.stream.read(to) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.unwrap_or(0),
            }
        }
    }

    /// The first line.
    fn line(&mut self) -> Result<String, AskError> {
        let mut line = Vec::new();
        let mut byte = [0];
        while (line.len() as u64) < MAX_LINE {
            match self.read(&mut byte) {
                0 if line.is_empty() => return Err(AskError::Refused(self.pid)),
                0 => break,
                _ if byte == *b"\n" => return Ok(String::from_utf8_lossy(&line).into_owned()),
                _ => line.extend(byte),
            }
        }
        Err(AskError::Unknown(self.pid))
    }

    fn reason(mut self) -> AskError {
        let pid = self.pid;
        self.len = self.len.min(MAX_REASON);
        let mut reason = Vec::new();
        match self.write_to(&mut reason) {
            Ok(()) => {
                let reason = String::from_utf8_lossy(&reason).escape_debug().to_string();
                AskError::Failed { pid, reason }
            }
            Err(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let (here, mut there) = UnixStream::pair().unwrap();
        there.write_all(bytes).unwrap();
        drop(there);
        let deadline = Instant::now().checked_add(Duration::from_secs(60)).unwrap();
        let answer = Answer::begin(Pid::new(7), here, deadline);
        let mut to = Vec::new();
        answer.and_then(|answer| answer.write_to(&mut to)).map_err(|error| error.to_string())?;
        Ok(to)
    }

    #[test]
    fn an_answer_is_a_line_and_so_many_bytes() {
        assert_eq!(said(b"kcore-agent 1 stacks 5\nab\ncd").unwrap(), b"ab\ncd");
        assert_eq!(said(b"kcore-agent 1 error 4\nno\x1b!").unwrap_err(), "process 7: no\\u{1b}!");
    }

    #[test]
    fn what_is_no_answer_is_told() {
        assert!(said(b"").unwrap_err().contains("refused to answer"));
        let cut = said(b"kcore-agent 1 stacks 5\nab").unwrap_err();
        assert_eq!(cut, "process 7 broke its answer off after 2 of 5 bytes");
        for unknown in [&b"kcore-agent 2 stacks 1\na"[..], b"hello\n", b"kcore-agent 1 stacks x\n"]
        {
            assert!(said(unknown).unwrap_err().contains("another version"));
        }
        assert!(said(&[b'a'; 500]).unwrap_err().contains("another version"));
    }

    #[test]
    fn the_form_is_the_lowest_bit_of_a_number_by_chance() {
        let (text, json) = (number(Form::Text).unwrap(), number(Form::Json).unwrap());
        assert_eq!((text & 1, json & 1), (0, 1));
        assert!(text >> 1 != json >> 1);
    }
}
