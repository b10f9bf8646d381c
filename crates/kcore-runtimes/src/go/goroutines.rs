//! All goroutines of a process, `runtime.allgs`.

use std::sync::Arc;

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
}

impl Goroutines {
    /// Those that the slice at an address names.
    pub fn load(host: &dyn Host, layout: &Layout, slice: Addr) -> Self {
        let (mut all, mut found) = (Vec::new(), Self::default());
        match range(host.space(), slice) {
            Ok((first, count)) => found.fill(host, layout, (first, count), &mut all),
            Err(why) => found.why = Some(why.into()),
        }
        let numbered = all.iter().enumerate();
        let on_thread = numbered.filter(|(_, goroutine)| goroutine.is_on_thread());
        found.by_thread =
            on_thread.filter_map(|(index, goroutine)| Some((goroutine.thread?, index))).collect();
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
        by_id.or_else(|| self.all.iter().find(|goroutine| goroutine.at.get() == number))
    }

    /// The goroutine that a thread runs, or is in a system call for.
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
