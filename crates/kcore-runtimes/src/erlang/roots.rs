//! Where the virtual machine has its variables: it exports all of them but one to those who load code into it.

use kcore_mem::{Addr, AddrRange};

use super::memory::Memory;
use crate::HostModule;

/// Bytes of variables that are looked at, at most.
const MAX_DATA: u64 = 64 << 20;
/// Tables of code, one of which is active.
const TABLES: usize = 3;
/// Bytes from one such table to the next, and of a range of code in it.
const TABLE: usize = 32;
const RANGE: u64 = 16;
/// Modules of code, at most.
pub const MAX_MODULES: u64 = 1 << 20;

/// Where variables of the virtual machine lie.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// `erts_proc`, the table of processes.
    pub processes: Addr,
    /// `erts_atom_table`.
    pub atoms: Addr,
    /// `the_active_code_index`.
    pub active_code: Addr,
    /// Three tables of ranges of code, `r` of `beam_ranges.c`, where they were found.
    pub ranges: Option<Addr>,
    /// `beam_normal_exit` and others: variables with what the outermost function of a process returns to.
    pub exits: Vec<Addr>,
    /// What kinds of schedulers there are: the variable with where they lie, that with their number, and how many bytes
    /// that has.
    pub schedulers: Vec<(Addr, Addr)>,
    /// `erts_port`, the table of ports.
    pub ports: Option<Addr>,
    /// Methods of tables, by which their kinds are known: `db_hash`, `db_tree`, `db_catree`.
    pub table_kinds: Vec<(Addr, &'static str)>,
}

const EXITS: [&str; 3] = ["beam_normal_exit", "beam_exit", "beam_continue_exit"];
const SCHEDULERS: [(&str, &str); 3] = [
    ("erts_aligned_scheduler_data", "erts_no_schedulers"),
    ("erts_aligned_dirty_cpu_scheduler_data", "erts_no_dirty_cpu_schedulers"),
    ("erts_aligned_dirty_io_scheduler_data", "erts_no_dirty_io_schedulers"),
];
const TABLE_KINDS: [&str; 3] = ["db_hash", "db_tree", "db_catree"];

impl Roots {
    /// Those of a module; the name of one that it does not have otherwise.
    pub fn of(module: &dyn HostModule, memory: &Memory<'_>) -> Result<Self, &'static str> {
        let address = |name| module.addr(module.exported(name)?.0);
        let wanted = |name: &'static str| address(name).ok_or(name);
        let kinds = TABLE_KINDS.into_iter().filter_map(|name| Some((address(name)?, name)));
        let schedulers = SCHEDULERS.into_iter();
        Ok(Self {
            processes: wanted("erts_proc")?,
            atoms: wanted("erts_atom_table")?,
            active_code: wanted("the_active_code_index")?,
            ranges: module.data().into_iter().find_map(|data| tables_of_code(memory, data)),
            exits: EXITS.into_iter().filter_map(address).collect(),
            schedulers: schedulers
                .filter_map(|(data, count)| Some((address(data)?, address(count)?)))
                .collect(),
            ports: address("erts_port"),
            table_kinds: kinds.collect(),
        })
    }
}

/// Three tables of code beside each other, known by their shape: where ranges lie, how many are used, for how many there is
/// place, and one of the ranges.
fn tables_of_code(memory: &Memory<'_>, data: AddrRange) -> Option<Addr> {
    let held = memory.space.read_held(data.start, data.len().min(MAX_DATA));
    let (words, _) = held.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let size = TABLES.checked_mul(TABLE / 8)?;
    let mut windows = words.windows(size);
    let index = windows.position(|window| is_tables(window) && has_ranges(memory, window))?;
    data.start.checked_add((index as u64).checked_mul(8)?)
}

fn is_tables(window: &[u64]) -> bool {
    window.chunks(TABLE / 8).all(|table| match *table {
        [first, used, room, middle] => {
            let offset = middle.wrapping_sub(first);
            (1..=MAX_MODULES).contains(&used)
                && (used..=MAX_MODULES).contains(&room)
                && first.is_multiple_of(8)
                && offset.is_multiple_of(RANGE)
                && offset < used.saturating_mul(RANGE)
        }
        _ => false,
    })
}

/// Whether the ranges of the first table are in order.
fn has_ranges(memory: &Memory<'_>, window: &[u64]) -> bool {
    let (Some(first), Some(used)) = (window.first(), window.get(1)) else { return false };
    let ranges = ranges_at(memory, Addr::new(*first), *used);
    ranges.is_some_and(|ranges| ranges.iter().any(|range| !range.is_empty()))
}

/// So many ranges from a place on, if they are in order.
pub fn ranges_at(memory: &Memory<'_>, first: Addr, count: u64) -> Option<Vec<AddrRange>> {
    let bytes = count.checked_mul(RANGE).filter(|_| count <= MAX_MODULES)?;
    let held = memory.space.read_held(first, bytes);
    (held.len() as u64 == bytes).then_some(())?;
    let (words, _) = held.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let pairs = words.chunks(2).filter_map(|pair| match *pair {
        [start, end] => Some((start, end)),
        _ => None,
    });
    let mut last = 0;
    let mut found = Vec::new();
    for (start, end) in pairs {
        (last <= start && start <= end && start != 0).then_some(())?;
        last = end;
        found.push(AddrRange::new(Addr::new(start), Addr::new(end)));
    }
    Some(found)
}
