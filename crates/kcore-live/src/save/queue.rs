//! What was copied and is not written yet: the process need not wait for a disk as long as there is
//! memory.

use std::{
    collections::VecDeque,
    fs, io,
    ops::Range,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::CoreSink;
use crate::{
    freeze::Deadline,
    resident::{Backing, Extent},
};

/// Zeros that are written before it is looked whether somebody wants it to end.
const ZEROS_AT_ONCE: u64 = 16 << 20;
/// Bytes of one part, at most.
pub const PART: usize = 1 << 20;
/// Room of a queue: no less, however little memory is free, and no more.
const LEAST_ROOM: u64 = 64 << 20;
const MOST_ROOM: u64 = 1 << 30;
/// How often it is looked whether the time is over, while there is no room.
const TICK: Duration = Duration::from_millis(5);

/// A part of a core.
enum Part {
    /// So many bytes come before all others, and are given last.
    Begin(u64),
    Bytes(Vec<u8>),
    Zeros(u64),
    /// So many bytes of a file, from an offset on.
    File(Arc<Backing>, u64, u64),
}

/// Whether a part was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It was.
    Taken,
    /// The time was over before there was room.
    Late,
    /// Nobody writes any more.
    Gone,
}

#[derive(Default)]
struct State {
    parts: VecDeque<Part>,
    /// Bytes that are in the queue.
    bytes: usize,
    /// Buffers that were written, to be filled anew.
    spare: Vec<Vec<u8>>,
    /// Whether one of the ends is gone.
    over: bool,
}

struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    room: usize,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.lock().over = true;
        self.changed.notify_all();
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, TICK);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The end of a queue that takes.
pub struct Taker(Arc<Queue>);

/// The end of a queue that gives.
pub struct Giver(Arc<Queue>);

impl Drop for Taker {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Drop for Giver {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Bytes that a queue may hold: a quarter of the memory that is free.
pub fn room() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map_or(0, |size| size << 8).clamp(LEAST_ROOM, MOST_ROOM)
}

/// A queue that holds so many bytes.
pub fn of_room(bytes: u64) -> (Taker, Giver) {
    let queue = Arc::new(Queue {
        state: Mutex::default(),
        changed: Condvar::new(),
        room: usize::try_from(bytes).unwrap_or(usize::MAX).max(PART),
    });
    (Taker(Arc::clone(&queue)), Giver(queue))
}

impl Taker {
    /// An empty buffer with room for a part.
    pub fn buffer(&self) -> Vec<u8> {
        let mut buffer = self.0.lock().spare.pop().unwrap_or_else(|| Vec::with_capacity(PART));
        buffer.clear();
        buffer
    }

    /// Says how many bytes come before all that is given from now on.
    pub fn begin(&self, head: u64) -> Pushed {
        self.push(Part::Begin(head))
    }

    /// Takes bytes, once there is room, until the time is over.
    pub fn bytes(&self, bytes: Vec<u8>, until: &Deadline<'_>) -> Pushed {
        let mut state = self.0.lock();
        while !state.over && state.bytes.saturating_add(bytes.len()) > self.0.room {
            if until.is_over() {
                return Pushed::Late;
            }
            state = self.0.wait(state);
        }
        state.bytes = state.bytes.saturating_add(bytes.len());
        drop(state);
        self.push(Part::Bytes(bytes))
    }

    /// Takes zeros.
    pub fn zeros(&self, count: u64) -> Pushed {
        self.push(Part::Zeros(count))
    }

    /// Takes a part of a file, which is read when it is written.
    pub fn file(&self, file: Arc<Backing>, offset: u64, len: u64) -> Pushed {
        self.push(Part::File(file, offset, len))
    }

    fn push(&self, part: Part) -> Pushed {
        let mut state = self.0.lock();
        if state.over {
            return Pushed::Gone;
        }
        state.parts.push_back(part);
        drop(state);
        self.0.changed.notify_all();
        Pushed::Taken
    }
}

impl Giver {
    /// Writes all until the other end is gone, or somebody wants it to end. The answers are where bytes are
    /// missing that a file does not have any more, counted from the first byte behind the head.
    pub fn write_to(
        self,
        sink: &mut dyn CoreSink,
        is_stopped: &dyn Fn() -> bool,
    ) -> io::Result<Vec<u64>> {
        let mut writing = Writing { sink, is_stopped, at: 0, missing: Vec::new() };
        while let Some(part) = self.next() {
            if let Some(buffer) = writing.part(part)? {
                let mut state = self.0.lock();
                state.bytes = state.bytes.saturating_sub(buffer.len());
                state.spare.push(buffer);
                drop(state);
                self.0.changed.notify_all();
            }
            if is_stopped() {
                break;
            }
        }
        Ok(writing.missing)
    }

    fn next(&self) -> Option<Part> {
        let mut state = self.0.lock();
        loop {
            if let Some(part) = state.parts.pop_front() {
                return Some(part);
            }
            if state.over {
                return None;
            }
            state = self.0.wait(state);
        }
    }
}

struct Writing<'a> {
    sink: &'a mut dyn CoreSink,
    is_stopped: &'a dyn Fn() -> bool,
    at: u64,
    missing: Vec<u64>,
}

impl Writing<'_> {
    /// Writes a part; the answer is its buffer.
    fn part(&mut self, part: Part) -> io::Result<Option<Vec<u8>>> {
        match part {
            Part::Begin(head) => self.sink.begin(head)?,
            Part::Zeros(count) => self.zeros(count)?,
            Part::File(file, offset, len) => self.file(&file, offset, len)?,
            Part::Bytes(bytes) => {
                self.sink.bytes(&bytes)?;
                self.at = self.at.saturating_add(bytes.len() as u64);
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    fn zeros(&mut self, mut count: u64) -> io::Result<()> {
        while count > 0 && !(self.is_stopped)() {
            let some = count.min(ZEROS_AT_ONCE);
            self.sink.zeros(some)?;
            self.at = self.at.saturating_add(some);
            count = count.saturating_sub(some);
        }
        Ok(())
    }

    fn file(&mut self, file: &Backing, offset: u64, len: u64) -> io::Result<()> {
        for extent in file.extents(offset..offset.saturating_add(len), self.is_stopped) {
            match extent {
                Extent::Data(part) => self.data(file, part)?,
                Extent::Hole(part) => self.zeros(part.end.saturating_sub(part.start))?,
                Extent::Behind(part) => {
                    self.missing.push(self.at);
                    self.zeros(part.end.saturating_sub(part.start))?;
                }
            }
        }
        Ok(())
    }

    fn data(&mut self, file: &Backing, mut part: Range<u64>) -> io::Result<()> {
        let mut buffer = Vec::new();
        while !part.is_empty() && !(self.is_stopped)() {
            buffer.clear();
            let len = part.end.saturating_sub(part.start);
            let wanted = usize::try_from(len).unwrap_or(PART).min(PART);
            let read = file.append(part.start, wanted, &mut buffer);
            self.sink.bytes(&buffer)?;
            self.at = self.at.saturating_add(read as u64);
            part.start = part.start.saturating_add(read as u64);
            if read < wanted {
                self.missing.push(self.at);
                return self.zeros(part.end.saturating_sub(part.start));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, sync::atomic::AtomicBool};

    use super::*;

    #[derive(Default)]
    struct BytesSink(Vec<u8>);

    impl CoreSink for BytesSink {
        fn begin(&mut self, head: u64) -> io::Result<()> {
            self.zeros(head)
        }

        fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0.extend_from_slice(bytes);
            Ok(())
        }

        fn zeros(&mut self, count: u64) -> io::Result<()> {
            self.0.resize(self.0.len() + usize::try_from(count).unwrap(), 0);
            Ok(())
        }

        fn head(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0[..bytes.len()].copy_from_slice(bytes);
            Ok(())
        }
    }

    #[test]
    fn what_a_file_has_lost_is_said() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[5; 3 * 4096]).unwrap();
        let file = Arc::new(Backing::of(file).unwrap());
        let (taker, giver) = of_room(0);
        let long = Deadline::after(Duration::MAX, None);
        assert_eq!(taker.begin(2), Pushed::Taken);
        assert_eq!(taker.bytes(vec![1; 10], &long), Pushed::Taken);
        assert_eq!(taker.file(file, 4096, 4 * 4096), Pushed::Taken);
        drop(taker);
        let mut kept = BytesSink::default();
        assert_eq!(giver.write_to(&mut kept, &|| false).unwrap(), [10 + 2 * 4096]);
        assert_eq!(kept.0.len(), 2 + 10 + 4 * 4096);
        assert_eq!(
            (kept.0[11], kept.0[12], kept.0[2 * 4096 + 11], kept.0[2 * 4096 + 12]),
            (1, 5, 5, 0)
        );
    }

    #[test]
    fn nobody_waits_for_room_when_the_time_is_over() {
        let (taker, giver) = of_room(0);
        let stop = AtomicBool::new(false);
        let long = Deadline::after(Duration::MAX, Some(&stop));
        assert_eq!(taker.bytes(vec![1; PART], &long), Pushed::Taken);
        let over = Deadline::after(Duration::ZERO, None);
        assert_eq!(taker.bytes(vec![1], &over), Pushed::Late);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| taker.bytes(vec![1], &long));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(waiting.join().unwrap(), Pushed::Late);
        });
        drop(giver);
        assert_eq!(taker.zeros(1), Pushed::Gone);
    }
}
