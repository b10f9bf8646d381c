//! What was copied and is not written yet: the process need not wait for a disk as long as there is
//! memory.

use std::{
    fs, io,
    sync::mpsc::{self, Receiver, Sender, SyncSender},
};

use super::CoreSink;

/// Bytes of one part, at most.
pub const PART: usize = 1 << 20;
/// Room of a queue: no less, however little memory is free, and no more.
const LEAST_ROOM: u64 = 64 << 20;
const MOST_ROOM: u64 = 1 << 30;

/// A part of a core.
enum Part {
    Bytes(Vec<u8>),
    Zeros(u64),
}

/// The end of a queue that takes.
pub struct Taker {
    parts: SyncSender<Part>,
    /// Buffers that were written, to be filled anew.
    written: Receiver<Vec<u8>>,
}

/// The end of a queue that gives.
pub struct Giver {
    parts: Receiver<Part>,
    written: Sender<Vec<u8>>,
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
    let parts = usize::try_from(bytes).unwrap_or(usize::MAX) / PART;
    let (send, receive) = mpsc::sync_channel(parts.max(1));
    let (give_back, take_back) = mpsc::channel();
    let taker = Taker { parts: send, written: take_back };
    (taker, Giver { parts: receive, written: give_back })
}

impl Taker {
    /// An empty buffer with room for a part.
    pub fn buffer(&self) -> Vec<u8> {
        let mut buffer = self.written.try_recv().unwrap_or_else(|_| Vec::with_capacity(PART));
        buffer.clear();
        buffer
    }

    /// Takes bytes; `None` when nobody writes them any more.
    pub fn bytes(&self, bytes: Vec<u8>) -> Option<()> {
        self.parts.send(Part::Bytes(bytes)).ok()
    }

    /// Takes zeros; `None` when nobody writes them any more.
    pub fn zeros(&self, count: u64) -> Option<()> {
        self.parts.send(Part::Zeros(count)).ok()
    }
}

impl Giver {
    /// Writes all until the other end is gone.
    pub fn write_to(self, sink: &mut dyn CoreSink) -> io::Result<()> {
        for part in &self.parts {
            match part {
                Part::Zeros(count) => sink.zeros(count)?,
                Part::Bytes(bytes) => {
                    sink.bytes(&bytes)?;
                    // Nobody needs it once all is copied.
                    let _ = self.written.send(bytes);
                }
            }
        }
        Ok(())
    }
}
