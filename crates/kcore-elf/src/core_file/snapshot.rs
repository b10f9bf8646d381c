//! Notes that kcore itself writes, for what a kernel's core does not hold: owner `KCORE`.
//!
//! - 1: the whole. Words: 0 for one instant, 1 for an instant of each thread, 2 for one instant of chosen
//!   threads, while the others ran; then nanoseconds that the process, or of instants of each thread the
//!   longest of them, stood still, the median of the threads, and whether the time was over before all
//!   was copied. Then nanoseconds of the monotonic clock of the process when it was stopped, 0 where that
//!   is not known; older notes end before it.
//! - 2: the thread of the latest `NT_PRSTATUS`. Its id in the pid namespace of the process (4 bytes),
//!   the letter of its state (1 byte), its name.
//! - 3: the mappings, as the text of `/proc/PID/maps`.
//! - 4: a thread that did not stop: its id (4 bytes).
//! - 5: a thread that could not be traced: its id (4 bytes).
//! - 6: a module whose memory may be missing: the address where it begins (8 bytes), its build-id.
//! - 7: the core has a part of the memory of another: how many bytes that had (8 bytes).

use std::time::Duration;

use kcore_mem::{Addr, Cursor, Target};

use crate::BuildId;

/// The owner of these notes.
pub const OWNER: &[u8] = b"KCORE";
/// Type of the note about the whole.
pub const NT_SNAPSHOT: u32 = 1;
/// Type of the note about a thread.
pub const NT_THREAD: u32 = 2;
/// Type of the note that has the mappings.
pub const NT_MAPS: u32 = 3;
/// Type of the note about a thread that did not stop.
pub const NT_LATE: u32 = 4;

/// Type of the note about a thread that could not be traced.
pub const NT_REFUSED: u32 = 5;
/// Type of the note about the build-id of a module.
pub const NT_BUILD_ID: u32 = 6;
/// Type of the note that says that a core has a part of another.
pub const NT_EXCERPT: u32 = 7;

/// Of what instants a snapshot is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instants {
    /// All threads, and all memory, of one instant.
    #[default]
    One,
    /// Chosen threads and their stacks of one instant; the other threads ran, and may have changed other
    /// memory while it was copied.
    OneOfChosen,
    /// Each thread and its stack of an instant of its own; other memory was copied while all of them ran.
    Each,
}

impl Instants {
    const ALL: [(u64, Self); 3] = [(0, Self::One), (1, Self::Each), (2, Self::OneOfChosen)];

    fn of_word(word: u64) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, instants)| *instants)
    }

    fn word(self) -> u64 {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or(0, |(word, _)| *word)
    }
}

/// When, and at what cost for the process, a live process was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Of what instants it is.
    pub instants: Instants,
    /// How long the process stood still; with an instant of each thread, the longest of its threads.
    pub stopped: Duration,
    /// How long a thread stood still, in the median.
    pub median: Duration,
    /// What the monotonic clock of the process stood at when it was stopped, if that is known; with an instant of each
    /// thread, when the last one had been copied.
    pub clock: Option<Duration>,
    /// Whether the time was over before all was copied.
    pub late: bool,
}

impl SnapshotInfo {
    /// Reads the descriptor; `None` when it is too short, or of instants that are not known.
    pub fn parse(desc: &[u8], target: Target) -> Option<Self> {
        let mut cursor = Cursor::new(desc, target);
        let mut word = || cursor.uint(8).ok();
        Some(Self {
            instants: Instants::of_word(word()?)?,
            stopped: Duration::from_nanos(word()?),
            median: Duration::from_nanos(word()?),
            late: word()? != 0,
            clock: word().filter(|nanos| *nanos != 0).map(Duration::from_nanos),
        })
    }

    /// The descriptor, in the byte order of this machine, which is that of every live process.
    pub fn to_bytes(self) -> Vec<u8> {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let words = [
            self.instants.word(),
            nanos(self.stopped),
            nanos(self.median),
            u64::from(self.late),
            self.clock.map_or(0, nanos),
        ];
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}

/// What a live process said of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveThread {
    /// Its id in the pid namespace of the process.
    pub inner_tid: u32,
    /// The letter of its state, right before it was stopped.
    pub state: Option<char>,
    /// Its name; invalid UTF-8 is replaced.
    pub name: String,
}

impl LiveThread {
    /// Reads the descriptor; `None` when it is too short.
    pub fn parse(desc: &[u8], target: Target) -> Option<Self> {
        let mut cursor = Cursor::new(desc, target);
        let inner_tid = cursor.u32().ok()?;
        let state = Some(char::from(cursor.u8().ok()?)).filter(char::is_ascii_alphabetic);
        let name = String::from_utf8_lossy(cursor.rest()).into_owned();
        Some(Self { inner_tid, state, name })
    }

    /// The descriptor.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.inner_tid.to_ne_bytes().to_vec();
        bytes.push(self.state.and_then(|state| u8::try_from(state).ok()).unwrap_or(0));
        bytes.extend_from_slice(self.name.as_bytes());
        bytes
    }
}

/// The descriptor of a note about the build-id of the module that begins at an address, in the byte order of this machine.
pub fn noted_build_id(at: Addr, id: &BuildId) -> Vec<u8> {
    [&at.get().to_ne_bytes(), id.as_bytes()].concat()
}

/// Reads that descriptor.
pub fn parse_build_id(desc: &[u8], target: Target) -> Option<(Addr, BuildId)> {
    let mut cursor = Cursor::new(desc, target);
    let at = Addr::new(cursor.uint(8).ok()?);
    Some((at, BuildId::new(cursor.rest())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let instants = [Instants::One, Instants::OneOfChosen, Instants::Each];
        for (instants, seconds) in instants.into_iter().zip([None, Some(1), Some(99_999)]) {
            let info = SnapshotInfo {
                instants,
                clock: seconds.map(Duration::from_secs),
                stopped: Duration::from_micros(870),
                median: Duration::from_nanos(41),
                late: false,
            };
            assert_eq!(SnapshotInfo::parse(&info.to_bytes(), Target::X86_64), Some(info));
        }
        let thread = LiveThread { inner_tid: 7, state: Some('S'), name: "pool (1)".to_owned() };
        assert_eq!(LiveThread::parse(&thread.to_bytes(), Target::X86_64), Some(thread));
    }

    #[test]
    fn a_note_without_the_clock_is_read() {
        let info = SnapshotInfo::parse(&[0; 32], Target::X86_64).unwrap();
        assert_eq!((info.instants, info.clock), (Instants::One, None));
    }

    #[test]
    fn what_is_cut_is_none() {
        assert_eq!(SnapshotInfo::parse(&[0; 31], Target::X86_64), None);
        assert_eq!(SnapshotInfo::parse(&[9; 32], Target::X86_64), None);
        assert_eq!(LiveThread::parse(&[0; 4], Target::X86_64), None);
        let nameless = LiveThread::parse(&[1, 0, 0, 0, 0], Target::X86_64).unwrap();
        assert_eq!((nameless.state, &nameless.name[..]), (None, ""));
    }
}
