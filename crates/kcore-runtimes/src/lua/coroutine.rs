//! Coroutines, which are states as the main thread is: `lcorolib.c`, `ldo.c`.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Lua,
    decode::Decoder,
    layout::LAYOUTS,
    memory::{Memory, THREAD},
    probe::NAME,
    state::{Activity, State},
};
use crate::{Host, Task, TaskStart};

/// Objects of one global state that are walked, at most.
const MAX_OBJECTS: u64 = 1 << 28;
/// Bytes of memory that are searched for global states, at most.
const MAX_SEARCHED: u64 = 1 << 30;
/// Bytes of a stack that are searched for states, at most.
const MAX_STACK: u64 = 256 << 10;
const TAG: u64 = 8;
/// Bytes of a piece of memory that is searched.
const PIECE: u64 = 1 << 20;

impl Lua {
    /// The main threads of all global states that are found in the process.
    pub fn mains(&self, host: &dyn Host) -> Vec<State> {
        let mut mains: FxHashMap<Addr, State> = FxHashMap::default();
        let stacks = host.threads().into_iter().flat_map(|tid| stack_words(host, tid));
        for state in self.states_in(host, stacks).into_iter().chain(self.searched(host)) {
            mains.insert(state.main, State { at: state.main, ..state });
        }
        let mut mains: Vec<State> = mains.into_values().collect();
        mains.sort_by_key(|state| state.at);
        mains
    }

    /// Main threads in memory: a word that points just behind its own state.
    fn searched(&self, host: &dyn Host) -> Vec<State> {
        let mut found = Vec::new();
        let mut left = MAX_SEARCHED;
        for range in host.ranges().into_iter().filter(|it| it.readable && !it.executable) {
            let mut at = range.range.start;
            while at < range.range.end && left > 0 {
                let len = range.range.end.offset_from(at).unwrap_or_default().min(PIECE).min(left);
                left = left.saturating_sub(len);
                self.search_piece(host, AddrRange::with_len(at, len), &mut found);
                at = at.saturating_add(len);
            }
        }
        found
    }

    fn search_piece(&self, host: &dyn Host, piece: AddrRange, found: &mut Vec<State>) {
        let held = host.space().read_held(piece.start, piece.len());
        let (words, _) = held.as_chunks::<8>();
        for (index, word) in (0_u64..).zip(words) {
            let at = piece.start.get().wrapping_add(index.wrapping_mul(8));
            let ahead = u64::from_le_bytes(*word).wrapping_sub(at);
            // `l_G` of a main thread, in all versions.
            if !(152..=184).contains(&ahead) {
                continue;
            }
            let offsets = LAYOUTS.iter().map(|layout| layout.state.global);
            let states = offsets
                .filter_map(|offset| State::at(host.space(), Addr::new(at.checked_sub(offset)?)));
            found.extend({ states }.find(|state| state.is_main() && self.is_own(state)));
        }
    }

    /// Coroutines as tasks.
    pub(super) fn coroutine_tasks(&self, host: &dyn Host) -> Vec<Task> {
        let threads = self.running_by_state(host);
        let mut tasks = Vec::new();
        for main in self.mains(host) {
            let memory = main.memory(host.space());
            for at in coroutines(&memory, &main) {
                tasks.extend(self.task(host, State { at, ..main }, &threads));
            }
        }
        tasks
    }

    /// Which thread runs which state.
    fn running_by_state(&self, host: &dyn Host) -> FxHashMap<Addr, (Tid, bool)> {
        let mut threads = FxHashMap::default();
        for tid in host.threads() {
            let running = self.running(host, tid, &host.frames(tid));
            for (place, running) in running.into_iter().enumerate() {
                threads.insert(running.state.at, (tid, place == 0));
            }
        }
        threads
    }

    fn task(
        &self,
        host: &dyn Host,
        state: State,
        threads: &FxHashMap<Addr, (Tid, bool)>,
    ) -> Option<Task> {
        let memory = state.memory(host.space());
        let frames = || TaskStart::Language(Decoder { lua: self, host }.of_state(&state));
        let unknown = |why: &str| TaskStart::Unknown(Arc::from(why));
        let thread = threads.get(&state.at);
        let (word, start) = match (state.activity(&memory)?, thread) {
            (Activity::Suspended, _) => ("suspended", frames()),
            (Activity::Active, Some((_, true))) => ("running", TaskStart::Running),
            // It waits for a coroutine that it resumed.
            (Activity::Active, Some((_, false))) => ("normal", TaskStart::Running),
            (Activity::Active, None) => ("running", frames()),
            (Activity::Failed, _) => ("failed", frames()),
            (Activity::Idle, _) if state.has_function(&memory) => {
                ("created", unknown("it has not begun"))
            }
            // It ended.
            (Activity::Idle, _) => return None,
        };
        Some(Task {
            runtime: NAME,
            id: state.at.get(),
            name: None,
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

/// The coroutines of a global state, as the list of all objects has them.
fn coroutines(memory: &Memory<'_>, main: &State) -> Vec<Addr> {
    let (mut found, mut known) = (Vec::new(), FxHashSet::default());
    let mut next = memory.pointer(main.global, memory.layout.global.objects);
    // A list that was damaged may lead back into itself: a second walker of half the speed is met then.
    let mut slow = next;
    for count in 0..MAX_OBJECTS {
        let Some(at) = next else { break };
        if memory.byte(at, TAG) == Some(THREAD) && at != main.at && known.insert(at) {
            found.push(at);
        }
        next = memory.pointer(at, 0);
        if count % 2 == 1 {
            slow = slow.and_then(|at| memory.pointer(at, 0));
            if slow == next {
                break;
            }
        }
    }
    found
        .retain(|at| State::at(memory.space, *at).is_some_and(|state| state.global == main.global));
    found.sort_unstable();
    found
}

fn stack_words(host: &dyn Host, tid: Tid) -> Vec<u64> {
    let Some(sp) = host.stack_pointer(tid) else { return Vec::new() };
    let len = host.range_at(sp).and_then(|range| range.range.end.offset_from(sp));
    let held = host.space().read_held(sp, len.unwrap_or_default().min(MAX_STACK));
    let (words, _) = held.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}
