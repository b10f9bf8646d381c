//! libuv's side of handles, on 64-bit Linux: `deps/uv/include/uv.h`, `uv/unix.h`, `uv/linux.h`. Their
//! layouts have been the same since libuv 1.42.

use kcore_mem::Addr;

use super::State;
use crate::v8::Heap;

// `uv_handle_t`: the object of Node.js that it is of, its loop, its type, its flags.
const DATA: u64 = 0;
const LOOP: u64 = 8;
const TYPE: u64 = 16;
const FLAGS: u64 = 88;
// `deps/uv/src/uv-common.h`
const CLOSING: u64 = 1;
const CLOSED: u64 = 2;
const ACTIVE: u64 = 4;
const REFERENCED: u64 = 8;
/// `UV_HANDLE_TYPE_MAP`, from 1.
const TYPES: [&str; 16] = [
    "async", "check", "fs_event", "fs_poll", "handle", "idle", "pipe", "poll", "prepare",
    "process", "stream", "tcp", "timer", "tty", "udp", "signal",
];
/// Behind what all handles have: the first member of each type's own.
const OWN: u64 = 96;
/// `uv_pipe_t`: the path that it is bound to.
const PIPE_PATH: u64 = 256;
/// `uv_timer_t`: its node in the heap of timers, and when it calls.
const TIMER_NODE: u64 = 104;
const TIMER_TIMEOUT: u64 = 128;
/// Words of a `uv_loop_t` in which its timers are searched.
const LOOP_WORDS: u64 = 128;
/// Behind the first timer in a loop: their number, a counter, and what time it is.
const TIME_BEHIND_TIMERS: u64 = 24;
/// Longer than any path.
const MAX_PATH: u64 = 4096;

/// A handle of libuv.
#[derive(Clone, Copy)]
pub struct UvHandle<'h, 'a> {
    heap: &'h Heap<'a>,
    at: Addr,
    kind: Option<&'static str>,
    flags: u64,
}

impl<'h, 'a> UvHandle<'h, 'a> {
    /// The handle at an address, if it is one of this object of Node.js.
    pub fn of(heap: &'h Heap<'a>, at: Addr, owner: Addr) -> Option<Self> {
        (heap.word(at, DATA)? == owner.get()).then_some(())?;
        Self::load(heap, at)
    }

    fn load(heap: &'h Heap<'a>, at: Addr) -> Option<Self> {
        let number = usize::try_from(heap.uint(at, TYPE, 4)?).ok()?;
        let kind = number.checked_sub(1).and_then(|index| TYPES.get(index).copied());
        Some(Self { heap, at, kind, flags: heap.uint(at, FLAGS, 4)? })
    }

    /// Its type, as libuv has it.
    pub const fn kind(&self) -> Option<&'static str> {
        self.kind
    }

    /// What becomes of it.
    pub const fn state(&self) -> State {
        match self.flags {
            flags if flags & (CLOSING | CLOSED) != 0 => State::Closing,
            flags if flags & ACTIVE != 0 => State::Active,
            _ => State::Idle,
        }
    }

    /// Whether its loop waits for it while it is active.
    pub const fn is_referenced(&self) -> bool {
        self.flags & REFERENCED != 0
    }

    /// Its file descriptor: in the watcher that streams, sockets and polls have.
    pub fn fd(&self) -> Option<u32> {
        let offset = match self.kind? {
            "pipe" | "tcp" | "tty" | "stream" => OWN + 88,
            "udp" => OWN + 80,
            "poll" => OWN + 56,
            _ => return None,
        };
        let fd = self.heap.uint(self.at, offset, 4)?;
        u32::try_from(fd).ok().filter(|fd| *fd <= i32::MAX.cast_unsigned())
    }

    /// The process, or the signal, that it waits for.
    pub fn number(&self, kind: &str) -> Option<u32> {
        (self.kind == Some(kind)).then_some(())?;
        let number = self.heap.uint(self.at, OWN + 8, 4)?;
        u32::try_from(number).ok().filter(|number| *number != 0)
    }

    /// The path that it is bound to, or watches.
    pub fn path(&self) -> Option<String> {
        let text = match self.kind? {
            "fs_event" => self.heap.word(self.at, OWN)?,
            "pipe" => self.heap.word(self.at, PIPE_PATH)?,
            _ => return None,
        };
        let bytes = self.heap.space.read_held(Addr::new(text), MAX_PATH);
        let path = bytes.split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
        Some(String::from_utf8_lossy(path).into_owned())
    }
}

/// In how many milliseconds a loop's timer calls that lies within `range` bytes behind an address, which
/// is that of an environment; below 0 where it is late.
///
/// The first of a loop's timers is known by its type and by that it knows the loop. Beside it stands what
/// time it is.
pub fn timer_within(heap: &Heap<'_>, environment: Addr, range: u64) -> Option<f64> {
    let timer = (0..range).step_by(8).find_map(|offset| {
        let handle = UvHandle::load(heap, environment.checked_add(offset)?)?;
        (handle.kind == Some("timer") && handle.state() == State::Active).then_some(())?;
        let now = loop_time(heap, Addr::new(heap.word(handle.at, LOOP)?))?;
        Some((heap.word(handle.at, TIMER_TIMEOUT)?, now))
    });
    let (timeout, now) = timer?;
    let left = i64::try_from(timeout).ok()?.checked_sub(i64::try_from(now).ok()?)?;
    Some(left as f64)
}

fn loop_time(heap: &Heap<'_>, at: Addr) -> Option<u64> {
    at.get().is_multiple_of(8).then_some(())?;
    (0..LOOP_WORDS).find_map(|word| {
        let offset = word.checked_mul(8)?;
        let first = Addr::new(heap.word(at, offset)?.checked_sub(TIMER_NODE)?);
        let is_first = heap.word(first, LOOP)? == at.get()
            && UvHandle::load(heap, first)?.kind == Some("timer");
        is_first.then(|| heap.word(at, offset.checked_add(TIME_BEHIND_TIMERS)?))?
    })
}
