//! What several units may have in common, read once for all of them.
//!
//! A few bytes in a unit name a table or a program of any length, so that a thousand units may name one
//! and the same, or each the end of the one before. What is named for the second time is kept. What
//! is read for the first time counts: parts of a section that do not overlap are together no longer
//! than it, and compilers write no others.

use std::{
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use gimli::Error;
use rustc_hash::FxHashMap;

use super::Result;
use crate::meter::HALTED;

/// How many times its length may be read of a section for the first time: a root alone, and then all.
const OVERLAP: usize = 4;
/// Readings of one part that count. It is kept from the second one on, and read for the third time when all
/// that was kept had to be forgotten.
const COUNTED: u8 = 2;
/// What may be read in any case.
const FREE: usize = 64 << 10;
/// Bytes of the section whose readings are kept; beyond it all are forgotten.
const MAX_KEPT: usize = 16 << 20;

/// Readings of the parts of one section.
pub struct Shared<K, T> {
    /// Bytes that may be read for the first time.
    bytes: usize,
    state: Mutex<State<K, T>>,
}

struct State<K, T> {
    /// How often each part was named.
    named: FxHashMap<K, u8>,
    kept: FxHashMap<K, Result<Arc<T>>>,
    kept_bytes: usize,
    read_bytes: usize,
}

/// A reading, and how many bytes it took, be they good or not.
pub struct Reading<T> {
    /// What was read.
    pub result: Result<T>,
    /// Bytes of the section.
    pub bytes: usize,
}

impl<K: Eq + Hash + Copy, T> Shared<K, T> {
    /// Nothing is read of a section that is so long.
    pub fn new(section: usize) -> Self {
        let state = State {
            named: FxHashMap::default(),
            kept: FxHashMap::default(),
            kept_bytes: 0,
            read_bytes: 0,
        };
        let bytes = section.saturating_mul(OVERLAP).saturating_add(FREE);
        Self { bytes, state: Mutex::new(state) }
    }

    /// The part at `key`. `read` is told whether it will be asked for again, as far as that is known:
    /// all of it is to be read then.
    ///
    /// # Errors
    /// That of the reading, or that the parts overlap more than those of a compiler.
    pub fn get(&self, key: K, read: impl FnOnce(bool) -> Reading<T>) -> Result<Arc<T>> {
        let again = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(kept) = state.kept.get(&key) {
                return kept.clone();
            }
            let is_over = state.read_bytes > self.bytes;
            let named = state.named.entry(key).or_default();
            *named = named.saturating_add(1);
            if is_over && *named <= COUNTED {
                // Never the first of them again.
                *named = 0;
                return Err(Error::OffsetOutOfBounds(0));
            }
            *named > 1
        };
        let reading = read(again);
        let result = reading.result.map(Arc::new);
        if result.as_ref().is_err_and(|error| *error == HALTED) {
            self.forget(key);
            return result;
        }
        self.take(key, &result, reading.bytes, again);
        result
    }

    /// Forgets that a part was named: it was not read, since the command has to end.
    fn forget(&self, key: K) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(named) = state.named.get_mut(&key) {
            *named = named.saturating_sub(1);
        }
    }

    fn take(&self, key: K, result: &Result<Arc<T>>, bytes: usize, again: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.named.get(&key).is_some_and(|named| *named <= COUNTED) {
            state.read_bytes = state.read_bytes.saturating_add(bytes);
        }
        if !again {
            return;
        }
        if state.kept_bytes > MAX_KEPT {
            state.kept.clear();
            state.kept_bytes = 0;
        }
        state.kept_bytes = state.kept_bytes.saturating_add(bytes);
        state.kept.insert(key, result.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: usize) -> Reading<usize> {
        Reading { result: Ok(bytes), bytes }
    }

    #[test]
    fn a_part_is_read_twice_at_most() {
        let shared = Shared::new(100);
        let mut reads = 0;
        for _ in 0..5 {
            let read = |again| {
                assert_eq!(again, reads > 0);
                reads += 1;
                of(7)
            };
            assert_eq!(shared.get(1, read).as_deref(), Ok(&7));
        }
        assert_eq!(reads, 2);
    }

    #[test]
    fn an_error_of_all_is_kept() {
        let shared: Shared<u8, ()> = Shared::new(100);
        let bad = |_| Reading { result: Err(Error::MissingUnitDie), bytes: 1 };
        assert_eq!(shared.get(1, bad), Err(Error::MissingUnitDie));
        assert_eq!(shared.get(1, bad), Err(Error::MissingUnitDie));
        let unreachable = |_| Reading { result: Ok(()), bytes: 1 };
        assert_eq!(shared.get(1, unreachable), Err(Error::MissingUnitDie));
    }

    #[test]
    fn a_reading_that_was_halted_is_not_kept() {
        let shared = Shared::new(100);
        let halted = |_| Reading { result: Err(HALTED), bytes: 1 << 30 };
        assert_eq!(shared.get(1, halted), Err(HALTED));
        assert_eq!(shared.get(1, halted), Err(HALTED));
        assert_eq!(shared.get(1, |_| of(7)).as_deref(), Ok(&7));
        assert_eq!(shared.get(2, |_| of(8)).as_deref(), Ok(&8));
    }

    #[test]
    fn parts_that_overlap_without_end_are_refused() {
        let shared = Shared::new(1000);
        let mut total = 0;
        for at in (0..1000).chain(0..1000).chain(0..1000).chain(0..1000) {
            let read = |_| {
                total += 900;
                of(900)
            };
            drop(shared.get(at, read));
        }
        assert!((4000..=4000 + FREE + 900).contains(&total), "{total}");
    }

    #[test]
    fn parts_that_do_not_overlap_are_all_read() {
        let shared = Shared::new(100 << 20);
        for _ in 0..3 {
            assert!((0..100).all(|at| shared.get(at, |_| of(1 << 20)).is_ok()));
        }
    }
}
