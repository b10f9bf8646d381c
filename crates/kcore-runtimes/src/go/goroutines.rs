//! All goroutines of a process, `runtime.allgs`.

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddressSpace};
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::{
    goroutine::{FoundGoroutine, Goroutine},
    layout::Layout,
    roots::MAX_GOROUTINES,
    state::State,
};
use crate::Host;

/// Goroutines between two looks at the clock.
const EVERY: u64 = 1024;

/// The goroutines of a process that have not ended: where they lie. Each is read when it is asked for, so that a million of
/// them take no more memory than their places.
#[derive(Clone, Default)]
pub struct Goroutines {
    /// In the order of the runtime's list: the oldest first, but for those that took the place of ended ones.
    all: Arc<[Addr]>,
    /// Whether their addresses, and not their numbers, name them as tasks: another runtime in the process uses the same numbers.
    by_address: bool,
    damaged: u64,
    why: Option<Arc<str>>,
    on_threads: FxHashMap<Tid, Arc<Goroutine>>,
    latest: Option<u64>,
    by_id: OnceLock<Arc<[(u64, u32)]>>,
    by_stack: OnceLock<Arc<[(Addr, u32)]>>,
    sorted: OnceLock<Arc<[Addr]>>,
}

impl Goroutines {
    /// Those that the slice at an address names.
    pub fn load(host: &dyn Host, layout: &Layout, slice: Addr, by_address: bool) -> Self {
        let mut found = Self { by_address, ..Self::default() };
        match range(host.space(), slice) {
            Ok((first, count)) => found.fill(host, layout, (first, count)),
            Err(why) => found.why = Some(why.into()),
        }
        found
    }

    fn fill(&mut self, host: &dyn Host, layout: &Layout, (first, count): (Addr, u64)) {
        let (mut all, mut bound) = (Vec::new(), Vec::new());
        for number in 0..count {
            if number.is_multiple_of(EVERY) && host.budget().is_some_and(|it| it.is_halted()) {
                break;
            }
            let at = first.saturating_add(number.saturating_mul(8));
            let Ok(at) = host.space().read_addr(at) else {
                self.damaged = self.damaged.saturating_add(count.saturating_sub(number));
                self.why = Some("the list of goroutines is not whole".into());
                break;
            };
            match Goroutine::load(host.space(), layout, at) {
                FoundGoroutine::Live(goroutine) => {
                    all.push(at);
                    self.note(goroutine, &mut bound);
                }
                FoundGoroutine::Ended => {}
                FoundGoroutine::Damaged => self.damaged = self.damaged.saturating_add(1),
            }
        }
        for (thread, goroutine) in bound {
            self.on_threads.entry(thread).or_insert(goroutine);
        }
        self.all = all.into();
    }

    /// Keeps of a goroutine what lookups need without a second read: its thread, and the latest instant. `bound` collects those
    /// that a thread is bound to; they count only where the thread runs no other.
    fn note(&mut self, mut goroutine: Box<Goroutine>, bound: &mut Vec<(Tid, Arc<Goroutine>)>) {
        self.latest = [self.latest, goroutine.since, goroutine.tracked].into_iter().max().flatten();
        let thread = goroutine.thread.filter(|_| goroutine.is_on_thread());
        if thread.is_none() && goroutine.bound.is_none() {
            return;
        }
        self.set_task(&mut goroutine);
        let goroutine: Arc<Goroutine> = goroutine.into();
        bound.extend(goroutine.bound.map(|thread| (thread, goroutine.clone())));
        self.on_threads.extend(thread.map(|thread| (thread, goroutine)));
    }

    const fn set_task(&self, goroutine: &mut Goroutine) {
        if self.by_address {
            goroutine.task = goroutine.at.get();
        }
    }
}

/// The goroutines of a runtime, and where they are read.
#[derive(Clone, Copy)]
pub struct GoroutineView<'a> {
    known: &'a Goroutines,
    space: &'a dyn AddressSpace,
    layout: &'a Layout,
}

impl<'a> GoroutineView<'a> {
    pub(super) const fn new(
        known: &'a Goroutines,
        space: &'a dyn AddressSpace,
        layout: &'a Layout,
    ) -> Self {
        Self { known, space, layout }
    }

    /// All of them, in the order of the runtime's list: the oldest first, but for those that took the place of ended ones.
    pub fn iter(self) -> impl Iterator<Item = Arc<Goroutine>> + 'a {
        self.known.all.iter().filter_map(move |at| self.read(*at))
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.known.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.known.all.is_empty()
    }

    /// How many cannot be read.
    pub const fn damaged(self) -> u64 {
        self.known.damaged
    }

    /// Why the rest of them, or all, cannot be read.
    pub fn why(self) -> Option<&'a str> {
        self.known.why.as_deref()
    }

    fn read(self, at: Addr) -> Option<Arc<Goroutine>> {
        match Goroutine::load(self.space, self.layout, at) {
            FoundGoroutine::Live(mut goroutine) => {
                self.known.set_task(&mut goroutine);
                Some(goroutine.into())
            }
            FoundGoroutine::Ended | FoundGoroutine::Damaged => None,
        }
    }

    fn indexed(self, index: u32) -> Option<Arc<Goroutine>> {
        self.read(*self.known.all.get(usize::try_from(index).ok()?)?)
    }

    /// The goroutine of a number, or else the one whose `runtime.g` lies at the address.
    pub fn numbered(self, number: u64) -> Option<Arc<Goroutine>> {
        let by_id = self.known.by_id.get_or_init(|| {
            let mut all: Vec<(u64, u32)> = self.numbers(|goroutine| goroutine.id);
            all.sort_unstable();
            all.into()
        });
        let behind = by_id.partition_point(|(id, _)| *id <= number);
        let found = behind.checked_sub(1).and_then(|index| by_id.get(index));
        let found =
            found.filter(|(id, _)| *id == number).and_then(|(_, index)| self.indexed(*index));
        found.or_else(|| self.lying_at(Addr::new(number)))
    }

    /// Pairs of what `of` gives for a goroutine, and the index of that goroutine in the list.
    fn numbers<T>(self, of: impl Fn(&Goroutine) -> T) -> Vec<(T, u32)> {
        let all = (0..).zip(self.known.all.iter());
        all.filter_map(|(index, at)| Some((of(&*self.read(*at)?), index))).collect()
    }

    /// Whether one of them lies at an address.
    pub fn contains(self, at: Addr) -> bool {
        let sorted = self.known.sorted.get_or_init(|| {
            let mut all = self.known.all.to_vec();
            all.sort_unstable();
            all.into()
        });
        sorted.binary_search(&at).is_ok()
    }

    /// The goroutine whose `runtime.g` lies at an address.
    pub fn lying_at(self, at: Addr) -> Option<Arc<Goroutine>> {
        self.contains(at).then(|| self.read(at))?
    }

    /// An instant that was, by the clock of [`Goroutine::since`]: the latest that the runtime wrote down of a goroutine. How
    /// long one waits is at least the time up to it.
    pub const fn latest(self) -> Option<u64> {
        self.known.latest
    }

    /// The goroutine whose stack holds an address.
    pub fn holding(self, at: Addr) -> Option<Arc<Goroutine>> {
        let by_stack = self.known.by_stack.get_or_init(|| {
            let mut all = self.numbers(|goroutine| goroutine.stack.start);
            all.sort_unstable();
            all.into()
        });
        let behind = by_stack.partition_point(|(start, _)| *start <= at);
        let (_, index) = by_stack.get(behind.checked_sub(1)?)?;
        self.indexed(*index).filter(|goroutine| goroutine.stack.contains(at))
    }

    /// The goroutine that a thread runs, is in a system call for, or does nothing without.
    pub fn on_thread(self, thread: Tid) -> Option<&'a Arc<Goroutine>> {
        self.known.on_threads.get(&thread)
    }
}

impl Goroutine {
    /// Whether a thread is occupied by it. One that waits keeps its thread while the runtime does something for
    /// it on the stack of the system.
    fn is_on_thread(&self) -> bool {
        matches!(self.state, State::Running | State::SystemCall | State::CopyStack)
            || (self.thread.is_some() && self.state == State::Waiting)
    }
}

/// Where the list begins, and how many it has.
fn range(space: &dyn AddressSpace, slice: Addr) -> Result<(Addr, u64), String> {
    let word = |offset: u64| {
        let at = slice.checked_add(offset).ok_or("runtime.allgs lies nowhere")?;
        space.read_word(at).map_err(|fault| format!("runtime.allgs cannot be read: {fault}"))
    };
    let (first, count) = (Addr::new(word(0)?), word(8)?);
    match count <= MAX_GOROUTINES {
        true => Ok((first, count)),
        false => Err(format!("runtime.allgs has {count} goroutines")),
    }
}
