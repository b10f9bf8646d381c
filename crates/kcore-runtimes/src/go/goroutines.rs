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

/// The goroutines of a process that have not ended.
#[derive(Clone, Default)]
pub struct Goroutines {
    /// All of them, in the order of the runtime's list: the oldest first, but for those that took the place of ended
    /// ones.
    pub all: Arc<[Arc<Goroutine>]>,
    /// How many cannot be read.
    pub damaged: u64,
    /// Why the rest of them, or all, cannot be read.
    pub why: Option<Arc<str>>,
    by_thread: FxHashMap<Tid, usize>,
    by_id: FxHashMap<u64, usize>,
    by_stack: OnceLock<Arc<[u32]>>,
    by_address: OnceLock<Arc<FxHashMap<Addr, usize>>>,
    latest: OnceLock<Option<u64>>,
}

impl Goroutines {
    /// Those that the slice at an address names, as tasks by their addresses where their numbers are those of others.
    pub fn load(host: &dyn Host, layout: &Layout, slice: Addr, by_address: bool) -> Self {
        let (mut all, mut found) = (Vec::new(), Self::default());
        match range(host.space(), slice) {
            Ok((first, count)) => found.fill(host, layout, (first, count), &mut all),
            Err(why) => found.why = Some(why.into()),
        }
        for goroutine in all.iter_mut().filter(|_| by_address).filter_map(Arc::get_mut) {
            goroutine.task = goroutine.at.get();
        }
        found.by_thread = by_thread(&all);
        found.by_id =
            all.iter().enumerate().map(|(index, goroutine)| (goroutine.id, index)).collect();
        Self { all: all.into(), ..found }
    }

    fn fill(
        &mut self,
        host: &dyn Host,
        layout: &Layout,
        (first, count): (Addr, u64),
        all: &mut Vec<Arc<Goroutine>>,
    ) {
        for number in 0..count {
            if number.is_multiple_of(EVERY) && host.budget().is_some_and(|it| it.is_halted()) {
                return;
            }
            let at = first.saturating_add(number.saturating_mul(8));
            let Ok(goroutine) = host.space().read_addr(at) else {
                self.damaged = self.damaged.saturating_add(count.saturating_sub(number));
                self.why = Some("the list of goroutines is not whole".into());
                return;
            };
            match Goroutine::load(host.space(), layout, goroutine) {
                FoundGoroutine::Live(goroutine) => all.push(Arc::from(goroutine)),
                FoundGoroutine::Ended => {}
                FoundGoroutine::Damaged => self.damaged = self.damaged.saturating_add(1),
            }
        }
    }

    /// The goroutine of a number, or else the one whose `runtime.g` lies at the address.
    pub fn numbered(&self, number: u64) -> Option<&Arc<Goroutine>> {
        let by_id = self.by_id.get(&number).and_then(|index| self.all.get(*index));
        by_id.or_else(|| self.lying_at(Addr::new(number)))
    }

    /// The goroutine whose `runtime.g` lies at an address.
    pub fn lying_at(&self, at: Addr) -> Option<&Arc<Goroutine>> {
        let by_address = self.by_address.get_or_init(|| {
            let all = self.all.iter().enumerate();
            Arc::new(all.map(|(index, goroutine)| (goroutine.at, index)).collect())
        });
        self.all.get(*by_address.get(&at)?)
    }

    /// An instant that was, by the clock of [`Goroutine::since`]: the latest that the runtime wrote down of a goroutine. How
    /// long one waits is at least the time up to it.
    pub fn latest(&self) -> Option<u64> {
        *self.latest.get_or_init(|| {
            let known = self.all.iter().flat_map(|goroutine| [goroutine.since, goroutine.tracked]);
            known.flatten().max()
        })
    }

    /// The goroutine whose stack holds an address.
    pub fn holding(&self, at: Addr) -> Option<&Arc<Goroutine>> {
        let by_stack = self.by_stack.get_or_init(|| {
            let mut order: Vec<u32> = (0..).take(self.all.len()).collect();
            order.sort_by_key(|index| self.stack_start(*index));
            order.into()
        });
        let behind = by_stack.partition_point(|index| self.stack_start(*index) <= Some(at));
        let index = *by_stack.get(behind.checked_sub(1)?)?;
        self.all.get(usize::try_from(index).ok()?).filter(|goroutine| goroutine.stack.contains(at))
    }

    fn stack_start(&self, index: u32) -> Option<Addr> {
        Some(self.all.get(usize::try_from(index).ok()?)?.stack.start)
    }

    /// The goroutine that a thread runs, is in a system call for, or does nothing without.
    pub fn on_thread(&self, thread: Tid) -> Option<&Arc<Goroutine>> {
        self.all.get(*self.by_thread.get(&thread)?)
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

/// Which goroutine a thread runs or, if none, is bound to.
fn by_thread(all: &[Arc<Goroutine>]) -> FxHashMap<Tid, usize> {
    let bound = all.iter().enumerate().filter_map(|(index, it)| Some((it.bound?, index)));
    let mut found: FxHashMap<Tid, usize> = bound.collect();
    let on_thread = all.iter().enumerate().filter(|(_, goroutine)| goroutine.is_on_thread());
    found.extend(on_thread.filter_map(|(index, it)| Some((it.thread?, index))));
    found
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
