//! Parallel work that falls back to the calling thread where no thread can be made.
//!
//! rayon panics when it cannot start its threads, which happens just where kcore is needed: in a container with a
//! limit on processes, or under a small `ulimit -v`. So all parallel work of the tree starts here: each entry point
//! first makes sure that a thread pool exists, if need be one of the calling thread alone.

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod pool;

use std::ops::Range;

use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator};
use rayon::slice::{Chunks, ParallelSlice, Windows};

use pool::ready;

/// The traits that start parallel work, and those of rayon that continue it.
pub mod prelude {
    pub use rayon::iter::{IndexedParallelIterator, ParallelExtend, ParallelIterator};

    pub use crate::{IntoParallel, Parallel};
}

/// Parallel iterators over slices.
pub trait Parallel<T: Sync> {
    /// All elements.
    fn par_iter(&self) -> rayon::slice::Iter<'_, T>;

    /// Chunks of `size` elements, the last one perhaps shorter; a size of 0 counts as 1.
    fn par_chunks(&self, size: usize) -> Chunks<'_, T>;

    /// All windows of `size` consecutive elements; a size of 0 counts as 1.
    fn par_windows(&self, size: usize) -> Windows<'_, T>;
}

impl<T: Sync> Parallel<T> for [T] {
    fn par_iter(&self) -> rayon::slice::Iter<'_, T> {
        ready();
        IntoParallelRefIterator::par_iter(self)
    }

    fn par_chunks(&self, size: usize) -> Chunks<'_, T> {
        ready();
        ParallelSlice::par_chunks(self, size.max(1))
    }

    fn par_windows(&self, size: usize) -> Windows<'_, T> {
        ready();
        ParallelSlice::par_windows(self, size.max(1))
    }
}

/// Values that become parallel iterators.
pub trait IntoParallel {
    /// The iterator.
    type Iter: rayon::iter::ParallelIterator;

    /// All elements.
    fn into_par_iter(self) -> Self::Iter;
}

impl<T: Send> IntoParallel for Vec<T> {
    type Iter = rayon::vec::IntoIter<T>;

    fn into_par_iter(self) -> Self::Iter {
        ready();
        IntoParallelIterator::into_par_iter(self)
    }
}

impl IntoParallel for Range<usize> {
    type Iter = rayon::range::Iter<usize>;

    fn into_par_iter(self) -> Self::Iter {
        ready();
        IntoParallelIterator::into_par_iter(self)
    }
}

/// Runs both closures, at the same time where a thread is free.
pub fn join<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    ready();
    rayon::join(first, second)
}

/// The number of threads that work at the same time; at least one.
pub fn workers() -> usize {
    ready();
    rayon::current_num_threads().max(1)
}

/// The index of the calling thread in the pool, from 0; `None` outside of the pool.
pub fn worker() -> Option<usize> {
    rayon::current_thread_index()
}

#[cfg(test)]
mod tests {
    use super::{join, prelude::*};

    #[test]
    fn all_elements_are_worked_on() {
        let numbers: Vec<usize> = (0..1000).collect();
        assert_eq!(numbers.par_iter().sum::<usize>(), 499_500);
        assert_eq!(numbers.par_chunks(7).map(<[usize]>::len).sum::<usize>(), 1000);
        assert_eq!(numbers.par_chunks(0).count(), 1000);
        assert_eq!(numbers.par_windows(2).filter(|pair| pair.is_sorted()).count(), 999);
        assert_eq!((0..1000).into_par_iter().sum::<usize>(), 499_500);
        assert_eq!(numbers.into_par_iter().max(), Some(999));
        assert_eq!(join(|| 1, || 2), (1, 2));
    }
}
