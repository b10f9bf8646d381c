//! Which coroutine awaits which: by handles in promises and in what is awaited, whose types tell, else by words that
//! lead to other frames, which is a guess.

use kcore_mem::{Addr, AddressSpace};
use rustc_hash::FxHashMap;

use super::{
    Coroutine, CoroutineState,
    layout::{FrameLayout, Link, PROMISE},
};

/// Words of a frame that are looked at.
const MAX_WORDS: u64 = 512;
/// Words of a promise that are looked at where its type is not known.
const UNKNOWN_PROMISE: u64 = 8;

/// The coroutine that awaits another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwaitedBy {
    /// Its frame.
    pub at: Addr,
    /// Whether nothing but a word that leads there says so.
    pub is_guess: bool,
}

/// Coroutines, by address.
pub struct Chains<'a> {
    /// The memory.
    pub space: &'a dyn AddressSpace,
    /// All of them, lowest address first.
    pub all: &'a [Coroutine],
    /// The layouts of their frames.
    pub layouts: &'a [FrameLayout],
}

impl Chains<'_> {
    /// Who awaits each of them.
    pub fn awaited_by(&self) -> Vec<Option<AwaitedBy>> {
        let by_awaiter = self.by_awaiter();
        let known = |index: usize, one: &Coroutine| {
            let typed = self.by_promise(one, true);
            let typed = typed.map(|at| AwaitedBy { at, is_guess: false });
            let by_awaiter = || by_awaiter.get(&index).copied().flatten();
            let guess = || self.by_promise(one, false);
            typed.or_else(by_awaiter).or_else(|| Some(AwaitedBy { at: guess()?, is_guess: true }))
        };
        self.all.iter().enumerate().map(|(index, one)| known(index, one)).collect()
    }

    fn layout(&self, one: &Coroutine) -> Option<&FrameLayout> {
        self.layouts.get(one.function_index)
    }

    fn word(&self, one: &Coroutine, offset: u64) -> Option<Addr> {
        self.space.read_addr(one.at.checked_add(offset)?).ok()
    }

    /// The one coroutine that words of a promise lead to.
    fn by_promise(&self, one: &Coroutine, is_typed: bool) -> Option<Addr> {
        let layout = self.layout(one)?;
        let made: Vec<Link>;
        let links = match (&layout.promise_type, is_typed) {
            (Some(_), _) => &layout.links,
            (None, true) => return None,
            (None, false) => {
                let offsets = (0..UNKNOWN_PROMISE).filter_map(|word| word.checked_mul(8));
                let offsets = offsets.filter_map(|offset| layout.promise.checked_add(offset));
                made = offsets.map(|offset| Link { offset, is_typed: false }).collect();
                &made
            }
        };
        let is_known = layout.promise_type.is_some();
        let links = links.iter().filter(|link| link.is_typed == is_typed);
        let hits = links.filter_map(|link| {
            let word = self.word(one, link.offset)?;
            let index = if is_typed { self.exactly(word) } else { self.around(word) }?;
            let other = self.all.get(index)?;
            (is_known || !self.refers_sooner(other, one, link.offset)).then_some(other)
        });
        only(hits.filter(|other| other.at != one.at && is_waiting(other)).map(|other| other.at))
    }

    /// Whether a coroutine refers to another one before an offset. Promises lie before what is awaited: of two that refer to
    /// each other, the one that does so sooner is awaited.
    fn refers_sooner(&self, one: &Coroutine, to: &Coroutine, offset: u64) -> bool {
        let end = offset.min(PROMISE.saturating_add(UNKNOWN_PROMISE.saturating_mul(8)));
        let mut words = (PROMISE..end).step_by(8).filter_map(|offset| self.word(one, offset));
        words.any(|word| word == to.at)
    }

    /// Who awaits whom by the objects that are awaited; of coroutines whose layout does not tell those, by all words
    /// behind their promise. A coroutine that did not begin is owned, and not yet awaited.
    fn by_awaiter(&self) -> FxHashMap<usize, Option<AwaitedBy>> {
        let mut found: FxHashMap<usize, Option<AwaitedBy>> = FxHashMap::default();
        for one in self.all.iter().filter(|one| is_waiting(one)) {
            let Some(layout) = self.layout(one) else { continue };
            let (links, is_guess) = awaited_links(one, layout);
            let words = links.iter().filter_map(|offset| self.word(one, *offset));
            let is_other = |index: &usize| {
                self.all.get(*index).is_some_and(|other| other.at != one.at && has_begun(other))
            };
            let mut awaited: Vec<usize> =
                words.filter_map(|word| self.exactly(word)).filter(is_other).collect();
            awaited.sort_unstable();
            awaited.dedup();
            for index in awaited {
                let by = AwaitedBy { at: one.at, is_guess };
                let is_better = |known: &mut Option<AwaitedBy>| match known {
                    // Two that may await it: nobody knows which does.
                    Some(old) if old.is_guess == is_guess && old.at != by.at => *known = None,
                    Some(old) if old.is_guess && !is_guess => *old = by,
                    _ => {}
                };
                found.entry(index).and_modify(is_better).or_insert(Some(by));
            }
        }
        found
    }

    /// The coroutine whose frame or promise begins at a place.
    fn exactly(&self, word: Addr) -> Option<usize> {
        let index = self.below(word)?;
        let one = self.all.get(index)?;
        (word == one.at || word == one.promise).then_some(index)
    }

    /// The coroutine in whose frame a place lies.
    fn around(&self, word: Addr) -> Option<usize> {
        let index = self.below(word)?;
        let one = self.all.get(index)?;
        let within = word.offset_from(one.at)?;
        let size = self.layout(one)?.size;
        (word == one.promise || within == 0 || size.is_some_and(|size| within < size))
            .then_some(index)
    }

    fn below(&self, word: Addr) -> Option<usize> {
        self.all.partition_point(|one| one.at <= word).checked_sub(1)
    }
}

/// Where a coroutine may refer to what it awaits, and whether that is a guess.
fn awaited_links(one: &Coroutine, layout: &FrameLayout) -> (Vec<u64>, bool) {
    if !layout.awaiters.is_empty() {
        let awaiter = layout.awaiter(one.index);
        let links = awaiter.map(|awaiter| awaiter.links.as_slice()).unwrap_or_default();
        let typed = links.iter().filter(|link| link.is_typed);
        return (typed.map(|link| link.offset).collect(), false);
    }
    let promise = layout.promise_type.as_ref().and_then(kcore_symbols::Type::size).unwrap_or(0);
    let from = layout.promise.saturating_add(promise).next_multiple_of(8);
    let end = layout.size.unwrap_or(0).min(from.saturating_add(MAX_WORDS.saturating_mul(8)));
    let own = |offset: &u64| layout.own_handle != Some(*offset);
    ((from..end).step_by(8).filter(own).collect(), true)
}

fn is_waiting(one: &Coroutine) -> bool {
    !matches!(one.state, CoroutineState::Done | CoroutineState::Created)
}

fn has_begun(one: &Coroutine) -> bool {
    one.state != CoroutineState::Created
}

/// The one thing that all of these are.
fn only(mut all: impl Iterator<Item = Addr>) -> Option<Addr> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}
