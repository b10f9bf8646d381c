//! The tables of functions of tasks: `tokio/src/runtime/task/raw.rs`.

use kcore_mem::{Addr, AddrRange};

use crate::{Host, HostModule, tokio::missing};

/// Functions in a table, and numbers behind them: offsets of trailer, scheduler and id (since 1.24).
const FUNCTIONS: usize = 7;
const WORDS: usize = FUNCTIONS + 3;
/// Bytes of a task's head: `Header` of `core.rs`; more with unstable features.
const HEADER: std::ops::RangeInclusive<u64> = 32..=64;
/// A task is no bigger.
const MAX_TASK: u64 = 1 << 24;
/// Bytes of one module that are looked at, and tables that are kept of it.
const MAX_BYTES: u64 = 1 << 30;
const MAX_TABLES: usize = 1 << 16;

/// A table of functions, as one kind of task has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskVtable {
    /// Where it lies.
    pub at: Addr,
    /// The function that runs a task.
    pub poll: Addr,
    /// Bytes from the beginning of a task to its links, its scheduler and its number.
    pub trailer: u64,
    /// See `trailer`.
    pub scheduler: u64,
    /// See `trailer`.
    pub id: u64,
}

impl TaskVtable {
    /// The table that ten words are, if they may be one. `is_code`: whether code may lie there.
    pub fn of(at: Addr, words: &[u64], is_code: &dyn Fn(Addr) -> bool) -> Option<Self> {
        let (functions, numbers) = words.split_at_checked(FUNCTIONS)?;
        let [trailer, scheduler, id, ..] = *numbers else { return None };
        let is_one = functions.iter().all(|word| is_code(Addr::new(*word)))
            && HEADER.contains(&scheduler)
            && scheduler < id
            && id < trailer
            && trailer < MAX_TASK
            && [trailer, scheduler, id].iter().all(|number| number.is_multiple_of(8));
        let poll = Addr::new(*functions.first()?);
        is_one.then_some(Self { at, poll, trailer, scheduler, id })
    }
}

/// The tables in a module: tables of functions lie in memory that is no code.
pub fn tables(host: &dyn Host, module: &dyn HostModule) -> Vec<TaskVtable> {
    let span = module.span();
    let within = |range: AddrRange| range.start >= span.start && range.end <= span.end;
    let ranges = host.ranges().into_iter().filter(|mapping| within(mapping.range));
    let (code, data): (Vec<_>, Vec<_>) =
        ranges.filter(|mapping| mapping.readable).partition(|mapping| mapping.executable);
    let is_code = |at: Addr| code.iter().any(|mapping| mapping.range.contains(at));
    let mut found = Vec::new();
    for mapping in data {
        scan(host, mapping.range, &is_code, &mut found);
    }
    found
}

/// Bytes of the data of a module that are not there.
pub fn missing_bytes(host: &dyn Host, module: &dyn HostModule) -> u64 {
    let span = module.span();
    let within = |range: AddrRange| range.start >= span.start && range.end <= span.end;
    let data = host.ranges().into_iter().filter(|it| it.readable && !it.executable);
    missing(host, data.map(|mapping| mapping.range).filter(|range| within(*range)))
}

fn scan(
    host: &dyn Host,
    range: AddrRange,
    is_code: &dyn Fn(Addr) -> bool,
    found: &mut Vec<TaskVtable>,
) {
    let bytes = host.space().read_held(range.start, range.len().min(MAX_BYTES));
    let words = bytes.as_chunks::<8>().0;
    for (index, window) in words.windows(WORDS).enumerate() {
        // Ten words are read where the first is code, and the eighth, an offset, is not.
        let first = window.first().map(|word| u64::from_le_bytes(*word));
        let number = window.get(FUNCTIONS).map(|word| u64::from_le_bytes(*word));
        if number.is_none_or(|number| number >= MAX_TASK)
            || !first.is_some_and(|first| is_code(Addr::new(first)))
        {
            continue;
        }
        let values: Vec<u64> = window.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let at = u64::try_from(index).ok().and_then(|index| index.checked_mul(8));
        let at = at.and_then(|offset| range.start.checked_add(offset));
        found.extend(at.and_then(|at| TaskVtable::of(at, &values, is_code)));
        if found.len() >= MAX_TABLES {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [u64; WORDS] =
        [0x1000, 0x1010, 0x1020, 0x1030, 0x1040, 0x1050, 0x1060, 200, 32, 40];

    fn table(words: &[u64]) -> Option<TaskVtable> {
        let is_code = |at: Addr| (0x1000..0x2000).contains(&at.get());
        TaskVtable::of(Addr::new(0x5000), words, &is_code)
    }

    #[test]
    fn seven_functions_and_three_offsets_are_a_table() {
        let found = table(&GOOD).expect("a table");
        assert_eq!((found.trailer, found.scheduler, found.id), (200, 32, 40));
        assert_eq!(found.poll, Addr::new(0x1000));
    }

    #[test]
    fn what_cannot_be_a_table_is_none() {
        for (index, word) in
            [(0, 0x999), (6, 0x2000), (7, 36), (7, 1 << 30), (8, 24), (8, 72), (9, 32), (9, 208)]
        {
            let mut words = GOOD;
            words[index] = word;
            assert_eq!(table(&words), None, "{index}: {word:#x}");
        }
        assert_eq!(table(&GOOD[..9]), None);
    }
}
