//! All processes of Erlang (`erl_ptab.h`).

use kcore_mem::Addr;
use kcore_parallel::prelude::*;
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::{
    ids::{Ids, Pid},
    memory::Memory,
    missing::{Missing, Noting},
    process::{ErlangProcess, ErlangState},
    schedulers::Scheduler,
};
use crate::Host;

/// `ErtsPTab`: how many elements there are, where the table lies, and for how many it has place.
const COUNT: u64 = 136;
const TABLE: u64 = 192;
const ROOM: u64 = 208;
/// Slots of a table, at most: the virtual machine has no more.
const MAX_SLOTS: u64 = 1 << 27;
/// Slots that are read at once.
const CHUNK: u64 = 1 << 16;
/// Processes that one thread reads before it takes more.
const BATCH: usize = 256;

/// The processes that have not ended.
#[derive(Default)]
pub struct ErlangProcesses {
    /// All of them, in the order of their numbers.
    pub all: Vec<ErlangProcess>,
    /// How many of them cannot be read, and why.
    pub damaged: u64,
    /// See [`ErlangProcesses::damaged`].
    pub damaged_why: Option<Missing>,
    /// How many the virtual machine says there are.
    pub counted: Option<u64>,
    /// Why some slots of the table cannot be read, if so.
    pub torn_why: Option<Missing>,
    by_thread: FxHashMap<Tid, usize>,
}

impl ErlangProcesses {
    /// Those that the table at an address has.
    pub fn load(
        host: &dyn Host,
        memory: &Memory<'_>,
        ids: &Ids,
        table: Addr,
        schedulers: &[Scheduler],
    ) -> Self {
        let (places, torn_why) = places(host, memory, table);
        let one = |at: &Addr| ErlangProcess::load(memory, ids, *at);
        let read: Vec<Option<ErlangProcess>> =
            places.par_iter().with_min_len(BATCH).map(one).collect();
        let damaged = read.iter().filter(|process| process.is_none()).count() as u64;
        let lost = || places.iter().zip(&read).find(|(_, process)| process.is_none());
        let damaged_why = lost().map(|(at, _)| why_not(memory, ids, *at));
        let mut all: Vec<ErlangProcess> = read.into_iter().flatten().collect();
        all.retain(|process| process.state != ErlangState::Free);
        all.sort_by_key(|process| process.pid.packed());
        let counted = memory.uint(table, COUNT, 4);
        let by_thread = FxHashMap::default();
        let mut found = Self { all, damaged, damaged_why, counted, torn_why, by_thread };
        found.join(schedulers);
        found
    }

    /// Says which thread runs which process.
    fn join(&mut self, schedulers: &[Scheduler]) {
        let by_place: FxHashMap<Addr, Tid> =
            schedulers.iter().filter_map(|it| Some((it.process?, it.thread?))).collect();
        for (index, process) in self.all.iter_mut().enumerate() {
            process.thread = by_place.get(&process.at).copied();
            self.by_thread.extend(process.thread.map(|thread| (thread, index)));
        }
    }

    /// That of a number.
    pub fn numbered(&self, pid: Pid) -> Option<&ErlangProcess> {
        let index = self.all.binary_search_by_key(&pid.packed(), |process| process.pid.packed());
        self.all.get(index.ok()?)
    }

    /// That which a thread runs.
    pub fn on_thread(&self, thread: Tid) -> Option<&ErlangProcess> {
        self.all.get(*self.by_thread.get(&thread)?)
    }
}

/// Why a process cannot be read.
fn why_not(memory: &Memory<'_>, ids: &Ids, at: Addr) -> Missing {
    let noting = Noting::new(memory.space);
    let _ = ErlangProcess::load(&Memory { space: &noting, layout: memory.layout }, ids, at);
    noting.missing()
}

/// Where processes lie, by the table, and why some of its slots cannot be read, if so.
fn places(host: &dyn Host, memory: &Memory<'_>, table: Addr) -> (Vec<Addr>, Option<Missing>) {
    let noting = Noting::new(memory.space);
    let memory = &Memory { space: &noting, layout: memory.layout };
    let mut found = Vec::new();
    let slots = || Some((memory.pointer(table, TABLE)?, memory.uint(table, ROOM, 4)?));
    let Some((first, room)) = slots().filter(|(_, room)| *room <= MAX_SLOTS) else {
        return (found, Some(noting.missing()));
    };
    let invalid = memory.word(table, memory.layout.invalid_element).unwrap_or_default();
    let mut torn = None;
    for start in (0..room).step_by(usize::try_from(CHUNK).unwrap_or(1)) {
        if host.budget().is_some_and(|budget| budget.is_halted()) {
            return (found, torn);
        }
        let wanted = room.saturating_sub(start).min(CHUNK).saturating_mul(8);
        let held = memory.space.read_held(first.saturating_add(start.saturating_mul(8)), wanted);
        if (held.len() as u64) < wanted {
            torn = torn.into_iter().chain([noting.missing()]).min();
        }
        let words = held.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        // A slot that is free, or taken for a process that is not made yet.
        let used = words.filter(|word| *word != 0 && *word != invalid && word.is_multiple_of(8));
        found.extend(used.map(Addr::new));
    }
    (found, torn)
}
