//! Coroutines, which are states as the main thread is: `lib_base.c`, `lj_state.c`.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    LuaJit,
    decode::Decoder,
    memory::{Memory, TAG, THREAD},
    probe::NAME,
    state::{Activity, GLOBAL, SIZES, State},
};
use crate::{Host, Task, TaskStart};

/// Objects of one global state that are walked, at most.
const MAX_OBJECTS: u64 = 1 << 28;
/// Bytes of memory that are searched for global states, at most, and of a piece of it.
const MAX_SEARCHED: u64 = 1 << 30;
const PIECE: u64 = 1 << 20;

impl LuaJit {
    /// The main threads of all global states that are found in the process.
    pub(super) fn mains(&self, host: &dyn Host) -> Vec<State> {
        let mut found = Vec::new();
        let mut left = MAX_SEARCHED;
        for range in host.ranges().into_iter().filter(|it| it.readable && !it.executable) {
            let mut at = range.range.start;
            while at < range.range.end && left > 0 {
                let len = range.range.end.offset_from(at).unwrap_or_default().min(PIECE).min(left);
                left = left.saturating_sub(len);
                search(host, AddrRange::with_len(at, len), &mut found);
                at = at.saturating_add(len);
            }
        }
        found.sort_by_key(|state: &State| state.at);
        found.dedup();
        found
    }

    /// Coroutines as tasks.
    pub(super) fn coroutine_tasks(&self, host: &dyn Host) -> Vec<Task> {
        let mut threads: FxHashMap<Addr, (Tid, bool)> = FxHashMap::default();
        for tid in host.threads() {
            for (place, at) in self.innermost(host, tid).into_iter().enumerate() {
                threads.insert(at, (tid, place == 0));
            }
        }
        let memory = Memory { space: host.space() };
        let mut tasks = Vec::new();
        for main in self.mains(host) {
            let states = coroutines(&memory, &main).into_iter();
            tasks.extend(states.filter_map(|state| self.task(host, state, &threads)));
        }
        tasks
    }

    fn task(
        &self,
        host: &dyn Host,
        state: State,
        threads: &FxHashMap<Addr, (Tid, bool)>,
    ) -> Option<Task> {
        let memory = Memory { space: host.space() };
        let frames = || TaskStart::Language(Decoder { lua: self, host }.of_state(&state));
        let thread = threads.get(&state.at);
        let (word, start) = match (state.activity(&memory)?, thread) {
            (Activity::Suspended, _) => ("suspended", frames()),
            (Activity::Active, Some((_, true))) => ("running", TaskStart::Running),
            // It waits for a coroutine that it resumed.
            (Activity::Active, Some((_, false))) => ("normal", TaskStart::Running),
            (Activity::Active, None) => ("running", frames()),
            (Activity::Failed, _) => ("failed", frames()),
            (Activity::Created, _) => ("created", TaskStart::Unknown("it has not begun".into())),
            // It ended.
            (Activity::Idle, _) => return None,
        };
        Some(Task {
            runtime: NAME,
            id: state.at.get(),
            name: None::<Arc<str>>,
            state: word.into(),
            waits_on: None,
            until: None,
            entry: None,
            thread: thread.map(|(tid, _)| *tid),
            stack: None,
            start,
        })
    }
}

/// Main threads in memory: a word that points just behind its own state.
fn search(host: &dyn Host, piece: AddrRange, found: &mut Vec<State>) {
    let held = host.space().read_held(piece.start, piece.len());
    let (words, _) = held.as_chunks::<8>();
    for (index, word) in (0_u64..).zip(words) {
        let at = piece.start.get().wrapping_add(index.wrapping_mul(8));
        let start = at.wrapping_sub(GLOBAL);
        if SIZES.contains(&u64::from_le_bytes(*word).wrapping_sub(start)) {
            let state = State::at(host.space(), Addr::new(start));
            found.extend(state.filter(State::is_main));
        }
    }
}

/// The coroutines of a global state, as the list of all objects has them.
fn coroutines(memory: &Memory<'_>, main: &State) -> Vec<State> {
    let (mut found, mut known) = (Vec::new(), FxHashSet::default());
    let mut next = main.objects(memory);
    // A list that was damaged may lead back into itself: a second walker of half the speed is met then.
    let mut slow = next;
    for count in 0..MAX_OBJECTS {
        let Some(at) = next else { break };
        if memory.byte(at, TAG) == Some(THREAD) && at != main.at && known.insert(at) {
            let state = State::at(memory.space, at);
            found.extend(state.filter(|state| state.global == main.global));
        }
        next = memory.pointer(at, 0);
        if count % 2 == 1 {
            slow = slow.and_then(|at| memory.pointer(at, 0));
            if slow == next {
                break;
            }
        }
    }
    found.sort_unstable_by_key(|state| state.at);
    found
}
