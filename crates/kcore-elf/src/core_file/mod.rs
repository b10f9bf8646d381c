//! The core file: segments, and what its notes tell of the process and its threads.
//!
//! The rule for every read is: take what is there, remember what was cut.

mod arch;
mod excerpt;
pub mod head;
mod header;
mod maps;
pub mod notes;
mod process;
pub mod snapshot;
mod thread;

use std::{collections::BTreeMap, ops::Range};

use kcore_mem::{Addr, Target};

pub use excerpt::Excerpt;
#[cfg(test)]
pub(crate) use excerpt::note as written_note;
pub use header::{CoreHeader, CoreSegment, CoreSegments};
pub use maps::{MapLine, parse_maps};
pub use process::{AuxEntry, MappedFile, MappedFiles, ProcessInfo};
pub use snapshot::{Instants, LiveThread, SnapshotInfo};
pub use thread::{CoreThread, SignalDetail, SignalInfo};

use crate::{BuildId, FileBytes, ParseError, will_need};
use arch::ArchNote;
use notes::{Note, Notes, desc_range};

const NT_PRSTATUS: u32 = 1;
const NT_FPREGSET: u32 = 2;
const NT_PRPSINFO: u32 = 3;
const NT_AUXV: u32 = 6;
const NT_SIGINFO: u32 = 0x5349_4749;
const NT_FILE: u32 = 0x4649_4c45;
/// What of a core is missing from its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// Program headers are cut off.
    ProgramHeaders {
        /// How many are there.
        present: u64,
        /// How many there should be, if that is known.
        claimed: Option<u64>,
    },
    /// A note segment is cut off, or one of its notes is longer than its segment.
    Notes {
        /// Offset in the file at which reading stopped.
        at: u64,
    },
    /// Dumped memory is cut off.
    Memory {
        /// Index of the first segment that is not whole, among all segments.
        segment: usize,
        /// Offset in the file at which that segment begins.
        offset: u64,
        /// Bytes that it should have.
        needs: u64,
        /// Length of the file.
        file_size: u64,
        /// Bytes missing from all segments together.
        missing: u64,
    },
}

/// A core file, its notes read.
#[derive(Debug)]
pub struct CoreFile {
    bytes: FileBytes,
    target: Target,
    segments: Vec<CoreSegment>,
    threads: Vec<CoreThread>,
    process: Option<ProcessInfo>,
    auxv: Vec<AuxEntry>,
    files: Option<MappedFiles>,
    code_mask: Option<u64>,
    extended_layout: Option<Range<u64>>,
    written_by_gdb: bool,
    snapshot: Option<SnapshotInfo>,
    excerpt_of: Option<u64>,
    maps: Option<Vec<MapLine>>,
    noted_build_ids: BTreeMap<Addr, BuildId>,
    late_threads: Vec<u32>,
    refused_threads: Vec<u32>,
    damage: Vec<Damage>,
}

impl CoreFile {
    /// Reads headers and notes of a core; no memory is touched.
    ///
    /// # Errors
    /// When the bytes are not the header of an ELF core, or are a core of another system. Everything else that is missing is
    /// [`CoreFile::damage`].
    pub fn parse(bytes: FileBytes) -> Result<Self, ParseError> {
        let header = CoreHeader::parse(&bytes)?;
        let found = header.segments(&bytes);
        let mut core = Self {
            target: header.target,
            segments: Vec::new(),
            threads: Vec::new(),
            process: None,
            auxv: Vec::new(),
            files: None,
            code_mask: None,
            extended_layout: None,
            written_by_gdb: false,
            snapshot: None,
            excerpt_of: None,
            maps: None,
            noted_build_ids: BTreeMap::new(),
            late_threads: Vec::new(),
            refused_threads: Vec::new(),
            damage: Vec::new(),
            bytes,
        };
        core.record_missing_headers(&found);
        core.segments = found.segments;
        core.read_notes();
        core.refuse_other_systems()?;
        core.record_missing_memory();
        Ok(core)
    }

    /// Architecture, word size and byte order.
    pub const fn target(&self) -> Target {
        self.target
    }

    /// The bytes of the file.
    pub const fn bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// The segments in file order.
    pub fn segments(&self) -> &[CoreSegment] {
        &self.segments
    }

    /// The threads in the order of their notes; a kernel writes the one that crashed first.
    pub fn threads(&self) -> &[CoreThread] {
        &self.threads
    }

    /// Every note that is there whole, in the order of the file.
    pub fn notes(&self) -> impl Iterator<Item = Note<'_>> {
        let segments = self.segments.iter().filter(|segment| segment.is_note());
        segments.flat_map(|segment| Notes::new(held_bytes(&self.bytes, segment), self.target))
    }

    /// `NT_PRPSINFO`.
    pub const fn process(&self) -> Option<&ProcessInfo> {
        self.process.as_ref()
    }

    /// Build-ids of modules that a note tells, by where the module begins.
    pub const fn noted_build_ids(&self) -> &BTreeMap<Addr, BuildId> {
        &self.noted_build_ids
    }

    /// `NT_AUXV`; empty without it.
    pub fn auxv(&self) -> &[AuxEntry] {
        &self.auxv
    }

    /// The value of an `AT_*` entry.
    pub fn aux(&self, kind: u64) -> Option<u64> {
        self.auxv.iter().find(|entry| entry.kind == kind).map(|entry| entry.value)
    }

    /// `NT_FILE`.
    pub const fn files(&self) -> Option<&MappedFiles> {
        self.files.as_ref()
    }

    /// The bits of a code address that hold a pointer authentication code (aarch64), if said.
    pub const fn code_mask(&self) -> Option<u64> {
        self.code_mask
    }

    /// Where the note lies that says how the extended registers of threads are laid out.
    pub const fn extended_layout(&self) -> Option<&Range<u64>> {
        self.extended_layout.as_ref()
    }

    /// Whether gdb's `gcore` wrote it, so that the first thread need not have crashed.
    pub const fn written_by_gdb(&self) -> bool {
        self.written_by_gdb
    }

    /// When, and at what cost, a live process was copied, if kcore wrote this of one.
    pub const fn snapshot(&self) -> Option<&SnapshotInfo> {
        self.snapshot.as_ref()
    }

    /// Bytes of memory that the whole core had, of one that is a part of another: see [`CoreFile::excerpt`].
    pub const fn excerpt_of(&self) -> Option<u64> {
        self.excerpt_of
    }

    /// Whether kcore copied the memory: what lacks of writable data need not be as in the file then.
    pub const fn is_copied_by_kcore(&self) -> bool {
        self.snapshot.is_some() || self.excerpt_of.is_some()
    }

    /// The mappings of the process as the system told of them, lowest first, if kcore wrote this.
    pub fn maps(&self) -> Option<&[MapLine]> {
        self.maps.as_deref()
    }

    /// The ids of threads that did not stop in time, of which there is nothing else.
    pub fn late_threads(&self) -> &[u32] {
        &self.late_threads
    }

    /// The ids of threads of a live process that could not be traced.
    pub fn refused_threads(&self) -> &[u32] {
        &self.refused_threads
    }

    /// What is missing from the file.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    fn record_missing_headers(&mut self, found: &CoreSegments) {
        let present = found.segments.len() as u64;
        if found.claimed != Some(present) {
            self.damage.push(Damage::ProgramHeaders { present, claimed: found.claimed });
        }
    }

    /// Systems that say so in their notes, and not in the header.
    fn refuse_other_systems(&self) -> Result<(), ParseError> {
        if !self.threads.is_empty() {
            return Ok(());
        }
        let system = self.notes().find_map(|note| notes::other_system(note.owner));
        system.map_or(Ok(()), |system| Err(ParseError::OtherSystem(system)))
    }

    fn read_notes(&mut self) {
        let bytes = self.bytes.clone();
        let segments: Vec<_> =
            self.segments.iter().filter(|segment| segment.is_note()).copied().collect();
        for segment in segments {
            let held = held_bytes(&bytes, &segment);
            let start = segment.offset.get();
            will_need(held);
            let mut notes = Notes::new(held, self.target);
            for note in notes.by_ref() {
                self.take_note(&note, start);
            }
            let cut = notes.cut_at().map(|at| start.saturating_add(at as u64));
            let end = start.saturating_add(held.len() as u64).min(bytes.len() as u64);
            let is_short = (held.len() as u64) < segment.file_size;
            if let Some(at) = cut.or(is_short.then_some(end)) {
                self.damage.push(Damage::Notes { at });
            }
        }
    }

    /// Takes one note. Notes of a thread belong to the latest `NT_PRSTATUS` before them.
    fn take_note(&mut self, note: &Note<'_>, segment_start: u64) {
        let Some(range) = desc_range(note, segment_start) else { return };
        match (note.owner, note.kind) {
            (b"CORE", NT_PRSTATUS) => {
                self.target = thread::target_of_status(note.desc.len(), self.target);
                self.threads.extend(CoreThread::parse(note.desc, range.start, self.target));
            }
            (b"CORE", NT_FPREGSET) => {
                self.with_thread(|thread| thread.fp_registers = Some(range));
            }
            (b"CORE", NT_SIGINFO) => {
                let siginfo = SignalInfo::parse(note.desc, self.target);
                self.with_thread(|thread| thread.siginfo = siginfo);
            }
            (b"CORE", NT_PRPSINFO) => self.process = ProcessInfo::parse(note.desc, self.target),
            (b"CORE", NT_AUXV) => self.auxv = process::parse_auxv(note.desc, self.target),
            (b"CORE", NT_FILE) => self.files = process::parse_files(note.desc, self.target),
            (b"LINUX", kind) => {
                let said = arch::read_note(kind, note.desc, self.target);
                said.into_iter().for_each(|said| self.take_arch_note(said, &range));
            }
            (b"GDB", _) => self.written_by_gdb = true,
            (snapshot::OWNER, kind) => self.take_own_note(kind, note.desc),
            _ => {}
        }
    }

    /// Takes a note that kcore itself wrote.
    fn take_own_note(&mut self, kind: u32, desc: &[u8]) {
        match kind {
            snapshot::NT_SNAPSHOT => self.snapshot = SnapshotInfo::parse(desc, self.target),
            snapshot::NT_THREAD => {
                let live = LiveThread::parse(desc, self.target);
                self.with_thread(|thread| thread.live = live);
            }
            snapshot::NT_EXCERPT => self.excerpt_of = excerpt::parse_note(desc, self.target),
            snapshot::NT_MAPS => self.maps = Some(parse_maps(desc)),
            snapshot::NT_BUILD_ID => {
                self.noted_build_ids.extend(snapshot::parse_build_id(desc, self.target));
            }
            snapshot::NT_LATE => self.late_threads.extend(self.noted_tid(desc)),
            snapshot::NT_REFUSED => self.refused_threads.extend(self.noted_tid(desc)),
            _ => {}
        }
    }

    fn noted_tid(&self, desc: &[u8]) -> Option<u32> {
        u32::try_from(self.target.uint(desc.get(..4)?)).ok()
    }

    fn take_arch_note(&mut self, said: ArchNote, range: &Range<u64>) {
        match said {
            ArchNote::ThreadPointer(pointer) => {
                self.with_thread(|thread| thread.thread_pointer = Some(pointer));
            }
            ArchNote::Segments(segments) => self.take_segments(segments),
            ArchNote::CodeMask(mask) => self.code_mask = Some(mask),
            ArchNote::FpRegisters => {
                self.with_thread(|thread| thread.fp_registers = Some(range.clone()));
            }
            ArchNote::ExtendedRegisters => {
                self.with_thread(|thread| thread.extended_registers = Some(range.clone()));
            }
            ArchNote::ExtendedLayout => self.extended_layout = Some(range.clone()),
        }
    }

    /// The thread pointer of i386 is the base of the segment that `gs` selects: its number stands above three bits.
    fn take_segments(&mut self, segments: [(u32, Addr); 3]) {
        /// Where `gs` stands in `pr_reg`.
        const GS: usize = 40;
        let Some(registers) = self.threads.last().map(|thread| thread.registers.clone()) else {
            return;
        };
        let start = usize::try_from(registers.start).unwrap_or(usize::MAX);
        let gs = start.checked_add(GS).and_then(|at| self.bytes.get(at..)?.first_chunk::<2>());
        let number = gs.map(|gs| u32::from(u16::from_le_bytes(*gs) >> 3));
        let found = segments.into_iter().find(|(known, _)| Some(*known) == number);
        self.with_thread(|thread| thread.thread_pointer = found.map(|(_, base)| base));
    }

    fn with_thread(&mut self, change: impl FnOnce(&mut CoreThread)) {
        if let Some(thread) = self.threads.last_mut() {
            change(thread);
        }
    }

    fn record_missing_memory(&mut self) {
        let file_size = self.bytes.len() as u64;
        let missing_of = |segment: &CoreSegment| {
            let end = segment.offset.get().saturating_add(segment.file_size);
            end.saturating_sub(file_size).min(segment.file_size)
        };
        let loads = || self.segments.iter().enumerate().filter(|(_, segment)| segment.is_load());
        let missing = loads().map(|(_, segment)| missing_of(segment)).fold(0, u64::saturating_add);
        let first = loads().find(|(_, segment)| missing_of(segment) > 0);
        let damage = first.map(|(index, segment)| Damage::Memory {
            segment: index,
            offset: segment.offset.get(),
            needs: segment.file_size,
            file_size,
            missing,
        });
        self.damage.extend(damage);
    }
}

/// The bytes of a segment, as many as the file holds.
fn held_bytes<'a>(bytes: &'a [u8], segment: &CoreSegment) -> &'a [u8] {
    let start = usize::try_from(segment.offset.get()).unwrap_or(usize::MAX);
    let rest = bytes.get(start..).unwrap_or_default();
    let size = usize::try_from(segment.file_size).unwrap_or(usize::MAX);
    rest.get(..size).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core_with(owner: &[u8]) -> Result<CoreFile, ParseError> {
        let note = written_note(owner, 1, &[0; 160], Target::X86_64);
        CoreFile::parse(head::Head::new(Target::X86_64, &note, &[], 1).bytes.into())
    }

    #[test]
    fn cores_of_other_systems_are_refused_by_their_notes() {
        let refused = |owner| core_with(owner).unwrap_err();
        assert_eq!(refused(b"NetBSD-CORE@1"), ParseError::OtherSystem("NetBSD"));
        assert_eq!(refused(b"OpenBSD"), ParseError::OtherSystem("OpenBSD"));
        assert!(core_with(b"OTHER").unwrap().threads().is_empty());
    }
}
