//! Where PHP keeps what it executes: `zend_executor_globals` of `zend_globals.h`, and `sapi_globals_struct` of `SAPI.h`.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{
    array::Elements,
    layout::{Layout, NEWEST, SHIFTS},
    memory::{Memory, STRING},
};
use crate::Host;

/// `zend_constants` and `current_execute_data` of `zend_executor_globals`, to 8.4.
const CONSTANTS: u64 = 448;
const CURRENT: u64 = 488;
/// `prev_exception` and `opline_before_exception`, from `exception` on.
const KEPT_EXCEPTION: u64 = 8;
const BEFORE_EXCEPTION: u64 = 16;
/// The constant that has the release.
const VERSION: &str = "PHP_VERSION";
/// `storage` and `thread_id` of `tsrm_tls_entry`.
const STORAGE: u64 = 0;
const THREAD: u64 = 16;
/// `nTableMask` and `nTableSize` of `zend_array`, and the most that is expected of a table of constants.
const MASK: u64 = 12;
const SIZE: u64 = 32;
const MAX_SIZE: u64 = 1 << 20;
/// Bytes of data that are searched, at most.
const MAX_DATA: u64 = 64 << 20;
/// Bytes before the block of a thread that are searched for its storage.
const SEARCHED: u64 = 16 << 10;

/// What one thread, or a process without threads, executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Globals {
    /// `zend_executor_globals`.
    pub executor: Addr,
    /// `sapi_globals_struct`, if it is known.
    pub server: Option<Addr>,
}

/// Where they are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// At these addresses.
    Fixed(Globals),
    /// At these offsets in the storage of each thread.
    PerThread {
        /// `executor_globals_offset`.
        executor: u64,
        /// `sapi_globals_offset`.
        server: Option<u64>,
    },
}

impl Storage {
    /// Those of a thread. Without threads of PHP all threads share them, and the stack tells which one runs.
    pub fn of(&self, host: &dyn Host, thread: kcore_unwind::Tid) -> Option<Globals> {
        match *self {
            Self::Fixed(globals) => Some(globals),
            Self::PerThread { executor, server } => {
                let entry = entry(host, thread, executor)?;
                let server = server.and_then(|offset| entry.checked_add(offset));
                Some(Globals { executor: entry.checked_add(executor)?, server })
            }
        }
    }
}

/// The storage of a thread: `tsrm_tls_entry`, to which a variable of the thread points.
fn entry(host: &dyn Host, thread: kcore_unwind::Tid, executor: u64) -> Option<Addr> {
    let block = host.thread_pointer(thread)?;
    let range = AddrRange::new(Addr::new(block.get().checked_sub(SEARCHED)?), block);
    let start = host.range_at(block).map_or(range.start, |it| it.range.start.max(range.start));
    let held = host.space().read_held(start, block.offset_from(start)?);
    let (words, _) = held.as_chunks::<8>();
    let memory = Memory { space: host.space(), layout: NEWEST };
    let is_entry = |at: &Addr| {
        memory.word(*at, THREAD) == Some(block.get())
            && memory.pointer(*at, STORAGE).is_some()
            && at.checked_add(executor).and_then(|at| version(host.space(), at)).is_some()
    };
    let addresses = words.iter().rev().map(|word| u64::from_le_bytes(*word));
    addresses.filter_map(super::memory::pointer).find(is_entry)
}

/// The release that the constants of a program tell.
pub fn version(space: &dyn AddressSpace, executor: Addr) -> Option<String> {
    let places = SHIFTS.into_iter().map(|shift| CONSTANTS.checked_add(shift));
    { places }.find_map(|place| version_of(space, executor.checked_add(place?)?))
}

/// The release that the table of constants tells to which a word points.
fn version_of(space: &dyn AddressSpace, place: Addr) -> Option<String> {
    // Tables of constants are the same in all versions.
    let memory = Memory { space, layout: NEWEST };
    let constants = memory.pointer(place, 0).filter(|at| is_table(&memory, *at))?;
    let place = Elements::of(&memory, constants)?.named(VERSION)?;
    // `zend_constant` begins with its value.
    let value = memory.value(memory.pointer(place, 0)?)?;
    let text = memory.text(value.object(STRING)?)?;
    text.starts_with(|sign: char| sign.is_ascii_digit()).then_some(text)
}

/// Whether what lies at an address may be a table with keys: `nTableMask` follows from `nTableSize`.
fn is_table(memory: &Memory<'_>, at: Addr) -> bool {
    let size = memory.uint(at, SIZE, 4).filter(|size| size.is_power_of_two() && *size <= MAX_SIZE);
    let mask = memory.uint(at, MASK, 4);
    size.zip(mask)
        .is_some_and(|(size, mask)| size.wrapping_mul(2).wrapping_add(mask) == 1 << u32::BITS)
}

impl Globals {
    /// The innermost call.
    pub fn current(&self, memory: &Memory<'_>) -> Option<Addr> {
        memory.pointer(self.executor, CURRENT.checked_add(memory.layout.shift)?)
    }

    /// The exception that is on its way.
    pub fn exception(&self, memory: &Memory<'_>) -> Option<Addr> {
        memory.pointer(self.executor, memory.layout.exception)
    }

    /// The exception that waits while something else is executed, such as what loads a class.
    pub fn kept_exception(&self, memory: &Memory<'_>) -> Option<Addr> {
        let place = memory.layout.exception.checked_add(KEPT_EXCEPTION)?;
        memory.pointer(self.executor, place)
    }

    /// Where the instruction stands that threw it.
    pub fn before_exception(&self, memory: &Memory<'_>) -> Option<Addr> {
        self.executor.checked_add(memory.layout.exception)?.checked_add(BEFORE_EXCEPTION)
    }

    /// `zend_objects_store`.
    pub fn objects(&self, memory: &Memory<'_>) -> Option<Addr> {
        self.executor.checked_add(memory.layout.objects)
    }
}

/// The globals of a process without threads, by their shape: a program without symbols, in whose data they lie.
pub fn search(space: &dyn AddressSpace, data: &[AddrRange]) -> Option<Addr> {
    data.iter().find_map(|range| {
        let held = space.read_held(range.start, range.len().min(MAX_DATA));
        let (words, _) = held.as_chunks::<8>();
        let places = (0_u64..).step_by(8).zip(words);
        let pointers = places.filter_map(|(offset, word)| {
            Some((offset, super::memory::pointer(u64::from_le_bytes(*word))?))
        });
        { pointers }.find_map(|(offset, _)| {
            let place = range.start.checked_add(offset)?;
            let shift = Layout::of_release(&version_of(space, place)?).map_or(0, |it| it.shift);
            place.get().checked_sub(CONSTANTS)?.checked_sub(shift).map(Addr::new)
        })
    })
}
