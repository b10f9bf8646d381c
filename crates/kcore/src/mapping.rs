//! The mappings of the process: where, how large, what permissions, what is in them.

use std::sync::Arc;

use kcore_elf::{CoreFile, CoreSpace, core_file::MappedFile};
use kcore_mem::{Addr, AddrRange, FileOff};

use crate::{AccessKind, Core, Tid, process::AT_RANDOM, snapshot};

/// The page that the kernel maps at a fixed address on x86-64.
const VSYSCALL: u64 = 0xffff_ffff_ff60_0000;

/// What a mapping holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingKind {
    /// A file.
    File {
        /// Its path; invalid UTF-8 is replaced. Many mappings may share a long one.
        path: Arc<str>,
        /// Offset in the file of the first byte.
        offset: FileOff,
    },
    /// The stack of the main thread.
    Stack,
    /// The stack of another thread, which points into it.
    ThreadStack(Tid),
    /// The data segment that `brk` grows.
    Heap,
    /// The kernel's module.
    Vdso,
    /// The kernel's old system-call page.
    Vsyscall,
    /// Memory without a name.
    Anonymous,
}

/// A mapping of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mapping {
    /// The addresses.
    pub range: AddrRange,
    /// `p_flags`: 1 execute, 2 write, 4 read; `None` where the core has no segment for it.
    pub flags: Option<u32>,
    /// Bytes that the core holds: fewer than it was to hold where its end is missing.
    pub dumped: u64,
    /// What it holds.
    pub kind: MappingKind,
}

impl Mapping {
    /// Whether its permissions allow an access; `None` where the core does not tell them. Machines let read whatever they
    /// let write or execute.
    pub(crate) fn permits(&self, access: AccessKind) -> Option<bool> {
        let enough = match access {
            AccessKind::Read => 7,
            AccessKind::Write | AccessKind::ReadWrite => 2,
            AccessKind::Execute => 1,
        };
        self.flags.map(|flags| flags & enough != 0)
    }

    /// Its name, as `::mappings` shows it.
    pub fn name(&self) -> String {
        match &self.kind {
            MappingKind::File { path, .. } => path.to_string(),
            MappingKind::Stack => "[ stack ]".to_owned(),
            MappingKind::ThreadStack(tid) => format!("[ stack tid={tid} ]"),
            MappingKind::Heap => "[ heap ]".to_owned(),
            MappingKind::Vdso => "[ vdso ]".to_owned(),
            MappingKind::Vsyscall => "[ vsyscall ]".to_owned(),
            MappingKind::Anonymous => "[ anon ]".to_owned(),
        }
    }

    /// Whether the process could read it, as far as the core tells.
    pub fn may_be_read(&self) -> bool {
        self.flags.is_none_or(|flags| flags & 4 != 0)
    }

    /// Whether code may run in it, as far as the core tells.
    pub fn may_hold_code(&self) -> bool {
        self.flags.is_none_or(|flags| flags & 1 != 0)
    }

    /// Whether it is known not to hold code alone.
    pub(crate) fn may_hold_data(&self) -> bool {
        self.flags.is_some_and(|flags| flags & 3 != 1)
    }

    /// `rwx` with dashes; `None` where the core does not say.
    pub fn permissions(&self) -> Option<String> {
        let letter = |bit: u32, letter: char| {
            self.flags.map(|flags| if flags & bit != 0 { letter } else { '-' })
        };
        [letter(4, 'r'), letter(2, 'w'), letter(1, 'x')].into_iter().collect()
    }
}

impl Core {
    /// The mappings, lowest address first.
    pub fn mappings(&self) -> &[Mapping] {
        self.mappings.get_or_init(|| self.find_mappings())
    }

    /// The mapping that holds `at`.
    pub fn mapping_at(&self, at: Addr) -> Option<&Mapping> {
        let mappings = self.mappings();
        mappings.get(index_of(mappings, at)?)
    }

    fn find_mappings(&self) -> Vec<Mapping> {
        let Some(parts) = &self.parts else { return self.mappings_of_exe() };
        if let Some(maps) = parts.file.maps() {
            let mut mappings = snapshot::mappings(maps, &parts.space);
            self.name_special(&parts.file, &mut mappings);
            return mappings;
        }
        let rows = rows_of(&parts.file);
        let mut mappings = from_segments(&rows, &parts.space, parts.file.bytes().len() as u64);
        add_files_without_segment(&rows, &mut mappings);
        mappings.sort_by_key(|mapping| mapping.range.start);
        self.name_special(&parts.file, &mut mappings);
        mappings
    }

    fn mappings_of_exe(&self) -> Vec<Mapping> {
        let exe = self.modules().exe();
        let ranges = exe.into_iter().flat_map(|exe| exe.mapped().ranges.iter());
        let path: Arc<str> = exe.map(|exe| exe.path()).unwrap_or_default().into();
        ranges
            .map(|mapped| Mapping {
                range: mapped.range,
                flags: None,
                dumped: 0,
                kind: MappingKind::File { path: path.clone(), offset: mapped.offset },
            })
            .collect()
    }

    fn name_special(&self, file: &CoreFile, mappings: &mut [Mapping]) {
        let mut name = |at: Option<Addr>, kind: MappingKind| {
            let index = at.and_then(|at| index_of(mappings, at));
            let found = index.and_then(|index| mappings.get_mut(index));
            if let Some(mapping) = found.filter(|it| it.kind == MappingKind::Anonymous) {
                mapping.kind = kind;
            }
        };
        let vdso = self.modules().all().iter().find(|module| module.is_vdso());
        name(vdso.map(|module| module.base()), MappingKind::Vdso);
        name(Some(Addr::new(VSYSCALL)), MappingKind::Vsyscall);
        // The kernel puts AT_RANDOM's bytes on the initial stack.
        name(file.aux(AT_RANDOM).map(Addr::new), MappingKind::Stack);
        name(self.heap_end().map(|end| end.wrapping_offset(-1)), MappingKind::Heap);
        for thread in self.threads() {
            name(self.registers().stack_pointer(thread.tid), MappingKind::ThreadStack(thread.tid));
        }
    }

    /// The end of the data segment, where the C library keeps it (glibc `misc/brk.c`).
    fn heap_end(&self) -> Option<Addr> {
        let variable = self.lookup_libc("__curbrk")?;
        self.space().read_addr(variable).ok().filter(|end| end.get() != 0)
    }
}

/// The place of the mapping that holds `at` among mappings in the order of addresses.
fn index_of(mappings: &[Mapping], at: Addr) -> Option<usize> {
    let after = mappings.partition_point(|mapping| mapping.range.start <= at);
    let index = after.checked_sub(1)?;
    mappings.get(index)?.range.contains(at).then_some(index)
}

/// A row of `NT_FILE` whose path is shared.
struct Row {
    range: AddrRange,
    offset: FileOff,
    path: Arc<str>,
}

impl Row {
    fn kind_at(&self, at: Addr) -> MappingKind {
        let into = at.offset_from(self.range.start).unwrap_or_default();
        MappingKind::File { path: self.path.clone(), offset: self.offset.saturating_add(into) }
    }
}

fn rows_of(file: &CoreFile) -> Vec<Row> {
    let rows = file.files().map(|files| files.files.as_slice()).unwrap_or_default();
    let row = |row: &MappedFile| Row {
        range: row.range,
        offset: row.offset,
        path: String::from_utf8_lossy(&row.path).into(),
    };
    rows.iter().map(row).collect()
}

/// `core_size` is the length of the core's file.
fn from_segments(rows: &[Row], space: &CoreSpace, core_size: u64) -> Vec<Mapping> {
    let held = |offset: FileOff| core_size.saturating_sub(offset.get());
    let segments = space.segments().iter();
    segments
        .map(|segment| Mapping {
            range: segment.range,
            flags: Some(segment.flags),
            dumped: segment.file_size.min(held(segment.offset)),
            kind: kind_by_file(rows, segment.range.start),
        })
        .collect()
}

fn kind_by_file(rows: &[Row], at: Addr) -> MappingKind {
    // NT_FILE is in the order of addresses, as the kernel and gdb write it.
    let after = rows.partition_point(|row| row.range.start <= at);
    let row = after.checked_sub(1).and_then(|index| rows.get(index));
    let row = row.filter(|row| row.range.contains(at));
    row.map_or(MappingKind::Anonymous, |row| row.kind_at(at))
}

/// gdb writes no segment for what it does not dump. `mappings` are in the order of addresses.
fn add_files_without_segment(rows: &[Row], mappings: &mut Vec<Mapping>) {
    let missing: Vec<_> = rows
        .iter()
        .filter(|row| index_of(mappings, row.range.start).is_none())
        .map(|row| Mapping {
            range: row.range,
            flags: None,
            dumped: 0,
            kind: row.kind_at(row.range.start),
        })
        .collect();
    mappings.extend(missing);
}
