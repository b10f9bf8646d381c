//! A heap profile: the stacks that allocated what is still in use, with how much that is.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::{Duration, UNIX_EPOCH},
};

use rustc_hash::FxHashMap;

use crate::{About, Format, Profile, ProfileFrame, StackId, WriteError, folded, pprof};

/// What a stack allocated and is still in use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InUse {
    /// Blocks: how many samples stand for.
    pub blocks: f64,
    /// Bytes of them that the program asked for.
    pub bytes: f64,
}

impl InUse {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { blocks: self.blocks + other.blocks, bytes: self.bytes + other.bytes }
    }

    /// Both in whole numbers.
    pub(crate) const fn rounded(self) -> (i64, i64) {
        (self.blocks.round() as i64, self.bytes.round() as i64)
    }
}

/// Stacks, each stored once, and what they allocated.
#[derive(Debug)]
pub struct HeapProfile {
    /// One of so many allocated bytes is sampled, on average; 1 where every block is, 0 where that is not known.
    pub period: u64,
    pub(crate) stacks: Profile,
    in_use: FxHashMap<StackId, InUse>,
}

impl HeapProfile {
    /// A profile without stacks.
    pub fn new(period: u64) -> Self {
        let about = About {
            program: String::new(),
            pid: 0,
            start: UNIX_EPOCH,
            interval: Duration::ZERO,
            on_cpu: false,
            elapsed: Duration::ZERO,
        };
        Self { period, stacks: Profile::new(about), in_use: FxHashMap::default() }
    }

    /// Counts what a stack, innermost frame first, allocated. A stack without frames is counted under `[unknown]`.
    pub fn add(&mut self, mut frames: Vec<ProfileFrame>, in_use: InUse) {
        if frames.is_empty() {
            frames.push(ProfileFrame { function: "[unknown]".into(), ..ProfileFrame::default() });
        }
        if let Some(stack) = self.stacks.stack(frames) {
            let sum = self.in_use.entry(stack).or_default();
            *sum = sum.plus(in_use);
        }
    }

    /// The stacks with what they allocated, in the order of stacks.
    pub fn all(&self) -> Vec<(StackId, InUse)> {
        let mut all: Vec<_> = self.in_use.iter().map(|(stack, it)| (*stack, *it)).collect();
        all.sort_unstable_by_key(|(stack, _)| *stack);
        all
    }

    /// All of it together.
    pub fn sum(&self) -> InUse {
        self.in_use.values().fold(InUse::default(), |sum, it| sum.plus(*it))
    }

    /// The frames of a stack, innermost first.
    pub fn frames_of(&self, stack: StackId) -> impl Iterator<Item = &ProfileFrame> {
        self.stacks.frames_of(stack).map(|(_, frame)| frame)
    }

    /// Writes it as pprof's protobuf, or as folded stacks, whose numbers are bytes.
    ///
    /// # Errors
    /// When it cannot be written, or the format has no place for it.
    pub fn write(&self, format: Format, to: &mut dyn Write) -> Result<(), WriteError> {
        match format {
            Format::Pprof => pprof::write_heap(self, to)?,
            Format::Folded => self.write_folded(to)?,
            Format::Svg | Format::Firefox => return Err(WriteError::NoHeap),
        }
        Ok(to.flush()?)
    }

    fn write_folded(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        for (stack, in_use) in self.all() {
            let sum = sums.entry(folded::of_frames(&self.stacks, stack)).or_default();
            *sum = sum.saturating_add(in_use.rounded().1);
        }
        sums.iter().try_for_each(|(text, bytes)| writeln!(to, "{text} {bytes}"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::profile::tests::frame;

    pub(crate) fn example() -> HeapProfile {
        let mut profile = HeapProfile::new(4096);
        let stack = |inner: &str| vec![frame(inner), frame("main")];
        profile.add(stack("load"), InUse { blocks: 2.5, bytes: 100.4 });
        profile.add(stack("load"), InUse { blocks: 1.5, bytes: 50.0 });
        profile.add(stack("parse"), InUse { blocks: 1.0, bytes: 8.0 });
        profile.add(Vec::new(), InUse { blocks: 1.0, bytes: 1.0 });
        profile
    }

    #[test]
    fn what_a_stack_allocated_is_added_up() {
        let profile = example();
        assert_eq!(profile.all().len(), 3);
        assert_eq!(profile.all()[0].1.rounded(), (4, 150));
        let mut text = Vec::new();
        profile.write(Format::Folded, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "[unknown] 1\nmain;load 150\nmain;parse 8\n");
        assert!(profile.write(Format::Svg, &mut Vec::new()).is_err());
    }
}
