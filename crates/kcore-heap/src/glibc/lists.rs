//! Lists of free chunks: followed within bounds, and with an eye on loops.

use super::{
    chunk::{FLAGS, HEADER},
    layout::BINS,
};
use crate::words::Words;

/// How a list ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListEnd {
    /// As it should.
    Whole,
    /// It leads back into itself: where the link lies, and the chunk that it leads to, which is in the list before.
    Loop(u64, u64),
    /// A link leads to what is no chunk of this list: where the link lies, and what it holds.
    Torn(u64, u64),
    /// A link leads to a chunk that does not lead back: where the link lies, where it leads, and what is there instead of
    /// the way back.
    Back(u64, u64, u64),
    /// Memory is missing, at this address.
    Missing(u64),
}

/// How many steps a list took before its place was last remembered (Brent): a loop is found in at most three times its
/// length.
struct LoopWatch {
    place: u64,
    steps: u64,
    power: u64,
}

impl LoopWatch {
    const fn new() -> Self {
        Self { place: 0, steps: 0, power: 1 }
    }

    const fn loops(&mut self, at: u64) -> bool {
        if at == self.place {
            return true;
        }
        self.steps = self.steps.wrapping_add(1);
        if self.steps == self.power {
            (self.place, self.steps, self.power) = (at, 0, self.power.saturating_mul(2));
        }
        false
    }
}

/// The pointer that a protected link holds (`REVEAL_PTR`).
pub const fn revealed(link_at: u64, value: u64) -> u64 {
    value ^ (link_at >> 12)
}

/// A list that is linked one way, of thread caches and fast bins.
pub struct OneWay {
    /// What the head holds: the first chunk, or its user memory.
    pub head: u64,
    /// Where in what the links lead to the next link lies.
    pub link: u64,
    /// From what the links lead to, to the beginning of the chunk.
    pub chunk: u64,
    /// Whether links are protected.
    pub protected: bool,
    /// Sizes that its chunks may have.
    pub sizes: std::ops::RangeInclusive<u64>,
    /// How long it may be.
    pub most: u64,
}

impl OneWay {
    /// Tells each chunk of the list; says how it ended.
    pub fn each(&self, words: &mut Words<'_>, head_at: u64, tell: &mut dyn FnMut(u64)) -> ListEnd {
        let mut watch = LoopWatch::new();
        let (mut at, mut from) = (self.head, head_at);
        let mut count = 0_u64;
        while at != 0 {
            let chunk = at.wrapping_sub(self.chunk);
            if at % 16 != 0 || count >= self.most {
                return ListEnd::Torn(from, at);
            }
            let Some(word) = words.word(chunk.wrapping_add(8)) else {
                return ListEnd::Torn(from, at);
            };
            if !self.sizes.contains(&(word & !FLAGS)) {
                return ListEnd::Torn(from, at);
            }
            if watch.loops(at) {
                return self.loop_of(words, at, from);
            }
            tell(chunk);
            count = count.wrapping_add(1);
            from = at.wrapping_add(self.link);
            let Some(stored) = words.word(from) else { return ListEnd::Missing(from) };
            at = if self.protected { revealed(from, stored) } else { stored };
        }
        ListEnd::Whole
    }

    /// What a link leads to.
    fn next(&self, words: &mut Words<'_>, at: u64) -> u64 {
        let link = at.wrapping_add(self.link);
        let stored = words.word(link).unwrap_or(0);
        if self.protected { revealed(link, stored) } else { stored }
    }

    /// Where a list that passes `met` again and again enters its loop: the first chunk that is in it twice, and the link
    /// that closes the loop. `from` leads to `met`.
    fn loop_of(&self, words: &mut Words<'_>, met: u64, from: u64) -> ListEnd {
        let mut length = 1_u64;
        let mut at = self.next(words, met);
        while at != met && length < self.most {
            (at, length) = (self.next(words, at), length.wrapping_add(1));
        }
        let mut ahead = self.head;
        for _ in 0..length {
            ahead = self.next(words, ahead);
        }
        let (mut behind, mut link) = (self.head, from);
        for _ in 0..self.most {
            if ahead == behind {
                break;
            }
            link = ahead.wrapping_add(self.link);
            (ahead, behind) = (self.next(words, ahead), self.next(words, behind));
        }
        if ahead == self.head {
            // The loop begins with the first chunk: its last one is still to be found.
            let last = (1..length).fold(self.head, |at, _| self.next(words, at));
            link = last.wrapping_add(self.link);
        }
        ListEnd::Loop(link, ahead.wrapping_sub(self.chunk))
    }
}

/// Tells each chunk of the bin whose links lie at `bin`, and its size; says how it ended. `most` bounds its length.
pub fn each_in_bin(
    words: &mut Words<'_>,
    bin: u64,
    most: u64,
    tell: &mut dyn FnMut(u64, u64),
) -> ListEnd {
    let header = bin.wrapping_sub(HEADER);
    let mut watch = LoopWatch::new();
    let (mut before, mut from) = (header, bin);
    let Some(mut at) = words.word(bin) else { return ListEnd::Missing(bin) };
    let mut count = 0_u64;
    while at != header {
        let Some(word) = words.word(at.wrapping_add(8)).filter(|_| at % 16 == 0 && count < most)
        else {
            return ListEnd::Torn(from, at);
        };
        let back_at = at.wrapping_add(24);
        let Some(back) = words.word(back_at) else { return ListEnd::Missing(back_at) };
        if back != before {
            return ListEnd::Back(from, at, back);
        }
        if watch.loops(at) {
            return ListEnd::Loop(from, at);
        }
        tell(at, word & !FLAGS);
        count = count.wrapping_add(1);
        (before, from) = (at, at.wrapping_add(16));
        let Some(next) = words.word(from) else { return ListEnd::Missing(from) };
        at = next;
    }
    let back_at = bin.wrapping_add(8);
    match words.word(back_at) {
        Some(back) if back != before => ListEnd::Torn(back_at, back),
        _ => ListEnd::Whole,
    }
}

/// Tells of each chunk of a bin from its last one on, as far as the links forth agree.
pub fn each_in_bin_from_behind(
    words: &mut Words<'_>,
    bin: u64,
    most: u64,
    tell: &mut dyn FnMut(u64),
) {
    let header = bin.wrapping_sub(HEADER);
    let (mut behind, mut count) = (header, 0_u64);
    let Some(mut at) = words.word(bin.wrapping_add(8)) else { return };
    while at != header && at % 16 == 0 && count < most {
        if words.word(at.wrapping_add(16)) != Some(behind) {
            return;
        }
        tell(at);
        count = count.wrapping_add(1);
        behind = at;
        let Some(next) = words.word(at.wrapping_add(24)) else { return };
        at = next;
    }
}

/// The addresses of the links of all bins.
pub fn bins_of(bins: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..BINS).map(move |index| (index.wrapping_add(1), bins.wrapping_add(index.wrapping_mul(16))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_seen_wherever_it_begins() {
        for tail in 0..20_u64 {
            for length in 1..20_u64 {
                let mut watch = LoopWatch::new();
                let at =
                    |step: u64| if step < tail { step + 1 } else { 100 + (step - tail) % length };
                let end = (0..1000).find(|step| watch.loops(at(*step)));
                assert!(end.is_some_and(|end| end >= tail + length), "{tail} {length}");
                assert!(end.is_some_and(|end| end <= 4 * (tail + length)), "{tail} {length}");
            }
        }
    }
}
