//! The ids by which memory of the process knows its threads.

use std::collections::BTreeMap;

use kcore_elf::core_file::{Damage, Instants};
use kcore_mem::{Addr, AddressSpace};

use super::word::read32;
use crate::{
    Core, Tid,
    arch::{CallFacts, facts},
};

/// The largest id of a thread (Linux `PID_MAX_LIMIT`).
const MAX_ID: u32 = 1 << 22;
/// Where `struct pthread` may lie, below or above the thread pointer.
const STRUCTURE: u64 = 0x1000;

/// The threads by what memory says of them.
#[derive(Debug, Default)]
pub struct Identities {
    by_id: BTreeMap<u32, Tid>,
    /// By thread pointer.
    by_pointer: BTreeMap<Addr, Tid>,
    /// By the address of the id in the C library's structure.
    by_field: BTreeMap<Addr, (u32, Tid)>,
    library: Library,
    is_complete: bool,
}

/// The C library of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// One that is not known.
    #[default]
    Unknown,
    Glibc,
    Musl,
}

/// Functions that glibc alone has.
const OF_GLIBC: [&str; 2] = ["gnu_get_libc_version", "__lll_lock_wait_private"];

impl Identities {
    /// Those of all threads of a core.
    pub fn of(core: &Core) -> Self {
        let mut found = Self::default();
        let facts = facts(core.target());
        let tids = core.tids();
        let pointers: Vec<(Tid, Addr)> =
            tids.iter().filter_map(|tid| Some((*tid, thread_pointer(core, *tid)?))).collect();
        found.by_pointer = pointers.iter().map(|(tid, pointer)| (*pointer, *tid)).collect();
        if let Some(calls) = &facts.calls {
            found.read_fields(core, calls, &pointers);
        }
        let is_named = found.name(core, &tids);
        found.is_complete = is_named && has_all_threads(core);
        found
    }

    /// The thread that memory of the process knows by an id.
    pub fn thread(&self, id: u32) -> Option<Tid> {
        self.by_id.get(&id).copied()
    }

    /// Whether every thread of the process is in the core and known by the id that memory has for it.
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The C library.
    pub const fn library(&self) -> Library {
        self.library
    }

    /// The thread whose id lies at an address and is `id`: who waits for that to change joins it.
    pub fn joined(&self, word: Addr, id: u32) -> Option<Tid> {
        self.by_field.get(&word).filter(|(held, _)| *held == id && id != 0).map(|(_, tid)| *tid)
    }

    /// The thread whose `pthread_t` this is, where that is the thread pointer.
    pub fn of_pointer(&self, pointer: Addr) -> Option<Tid> {
        self.by_pointer.get(&pointer).copied()
    }

    /// The thread in whose structure of the C library an address lies, where that begins at the thread pointer.
    pub fn around(&self, at: Addr) -> Option<Tid> {
        let (pointer, tid) = self.by_pointer.range(..=at).next_back()?;
        at.offset_from(*pointer).is_some_and(|into| into < STRUCTURE).then_some(*tid)
    }

    /// Reads the fields that hold ids, if they prove to lie where a C library has them.
    fn read_fields(&mut self, core: &Core, calls: &CallFacts, pointers: &[(Tid, Addr)]) {
        let glibc = calls.glibc_tid.and_then(|at| fields(core, pointers, at, is_glibc));
        let musl = || calls.musl_tid.and_then(|at| fields(core, pointers, at, is_musl));
        let below = || fields_below(core.space(), pointers);
        let glibc = glibc.map(|fields| (fields, Library::Glibc));
        let musl = || musl().map(|fields| (fields, Library::Musl));
        let below = || below().map(|fields| (fields, Library::Unknown));
        (self.by_field, self.library) = glibc.or_else(musl).or_else(below).unwrap_or_default();
        let has_symbol = || OF_GLIBC.iter().any(|name| core.lookup_libc(name).is_some());
        if self.library == Library::Unknown && has_symbol() {
            self.library = Library::Glibc;
        }
    }

    /// Names each thread, and says whether that is sure. In another pid namespace than that of who wrote the core,
    /// no thread's own id is the one that the core has.
    fn name(&mut self, core: &Core, tids: &[Tid]) -> bool {
        let is_own = |(id, tid): &(u32, Tid)| *id == core.inner_tid(*tid).get();
        let own = self.by_field.values().filter(|it| is_own(it)).count();
        let is_other_namespace = own == 0 && self.by_field.len() == tids.len();
        self.by_id = match is_other_namespace {
            true => self.by_field.values().copied().collect(),
            false => tids.iter().map(|tid| (core.inner_tid(*tid).get(), *tid)).collect(),
        };
        own == tids.len() || is_other_namespace
    }
}

fn thread_pointer(core: &Core, tid: Tid) -> Option<Addr> {
    let name = facts(core.target()).thread_pointer;
    let registers = core.registers().user(tid);
    let pointer = registers.iter().find(|register| register.name == name)?.value;
    (pointer != 0).then_some(Addr::new(pointer))
}

/// Whether no thread of the process is missing.
fn has_all_threads(core: &Core) -> bool {
    let Some(file) = core.file() else { return false };
    let missing = file.late_threads().len().saturating_add(file.refused_threads().len());
    let is_one_instant = file.snapshot().is_none_or(|taken| taken.instants == Instants::One);
    let is_whole = file.damage().iter().all(|it| matches!(it, Damage::Memory { .. }));
    missing == 0 && is_one_instant && is_whole && core.threads().iter().all(|it| it.tid.get() != 0)
}

/// The ids at a distance from the thread pointers of threads whose structure is of a C library. They prove to be ids
/// if each is plausible, and if one is that of its thread or none is.
fn fields(
    core: &Core,
    pointers: &[(Tid, Addr)],
    distance: u64,
    is_of_library: fn(&dyn AddressSpace, Addr) -> bool,
) -> Option<BTreeMap<Addr, (u32, Tid)>> {
    let space = core.space();
    let of_library = pointers.iter().filter(|(_, pointer)| is_of_library(space, *pointer));
    let fields: BTreeMap<Addr, (u32, Tid)> = of_library
        .filter_map(|(tid, pointer)| {
            let at = pointer.checked_add(distance)?;
            Some((at, (read32(space, at, 0)?, *tid)))
        })
        .collect();
    let mut ids: Vec<u32> = fields.values().map(|(id, _)| *id).filter(|id| *id != 0).collect();
    let is_plausible = ids.iter().all(|id| *id <= MAX_ID) && !ids.is_empty();
    ids.sort_unstable();
    let is_unique = ids.windows(2).all(|pair| pair.first() != pair.last());
    (is_plausible && is_unique).then_some(fields)
}

/// glibc's structure begins with a pointer to itself, and has another behind a pointer that never is one to it
/// (`tcbhead_t`, glibc `sysdeps/x86_64/nptl/tls.h`).
fn is_glibc(space: &dyn AddressSpace, pointer: Addr) -> bool {
    let word = |distance: u64| space.read_addr(pointer.saturating_add(distance)).ok();
    word(0) == Some(pointer) && word(0x10) == Some(pointer) && word(8) != Some(pointer)
}

/// musl's structure begins with a pointer to itself, and has those of its neighbours in the ring of all threads
/// (`struct pthread`, musl 1.2.3 `src/internal/pthread_impl.h`).
fn is_musl(space: &dyn AddressSpace, pointer: Addr) -> bool {
    let word = |at: Addr, distance: u64| space.read_addr(at.saturating_add(distance)).ok();
    let next = word(pointer, 0x18);
    word(pointer, 0) == Some(pointer) && next.and_then(|next| word(next, 0x10)) == Some(pointer)
}

/// The ids at one distance below the thread pointers at which each thread has its own: at least two of them prove it.
fn fields_below(
    space: &dyn AddressSpace,
    pointers: &[(Tid, Addr)],
) -> Option<BTreeMap<Addr, (u32, Tid)>> {
    let has_own = |distance: u64| {
        pointers.iter().all(|(tid, pointer)| {
            let at = pointer.get().checked_sub(distance).map(Addr::new);
            at.and_then(|at| read32(space, at, 0)) == Some(tid.get())
        })
    };
    let mut distances = (4..STRUCTURE).step_by(4).filter(|distance| has_own(*distance));
    let distance = distances.next().filter(|_| pointers.len() > 1)?;
    if distances.next().is_some() {
        return None;
    }
    let field = |(tid, pointer): &(Tid, Addr)| {
        Some((Addr::new(pointer.get().checked_sub(distance)?), (tid.get(), *tid)))
    };
    pointers.iter().map(field).collect()
}

#[cfg(test)]
impl Identities {
    /// Threads by their ids alone.
    pub fn made(ids: &[u32]) -> Self {
        Self { by_id: ids.iter().map(|id| (*id, Tid::new(*id))).collect(), ..Self::default() }
    }

    /// The same with a thread whose id lies at `field`, and whose structure begins at `pointer`.
    pub fn with_field(mut self, id: u32, pointer: u64, field: u64) -> Self {
        self.by_pointer.insert(Addr::new(pointer), Tid::new(id));
        self.by_field.insert(Addr::new(field), (id, Tid::new(id)));
        self
    }

    /// The same with musl.
    pub fn of_musl(mut self) -> Self {
        self.library = Library::Musl;
        self
    }
}
