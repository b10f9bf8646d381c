//! Work on all processors, and on one where no thread can be made.
//!
//! rayon ends the program when it cannot start its threads, and that is so where kcore is needed: in a
//! container whose processes are counted, below a small `ulimit -v`. So nothing else in the tree begins
//! parallel work: what begins it here sees first that there is somebody to do it, if need be the caller alone.

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

/// What begins parallel work, and what goes on with it.
pub mod prelude {
    pub use rayon::iter::{IndexedParallelIterator, ParallelExtend, ParallelIterator};

    pub use crate::{IntoParallel, Parallel};
}

/// Slices whose elements are worked on at once.
pub trait Parallel<T: Sync> {
    /// All elements.
    fn par_iter(&self) -> rayon::slice::Iter<'_, T>;

    /// Neighbours, so many together; fewer at the end. None of them are none.
    fn par_chunks(&self, size: usize) -> Chunks<'_, T>;

    /// All runs of so many neighbours.
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

/// What is taken apart to be worked on at once.
pub trait IntoParallel {
    /// How it is taken apart.
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

/// Does both, at once if somebody is free to.
pub fn join<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    ready();
    rayon::join(first, second)
}

/// How many work at once; at least one.
pub fn workers() -> usize {
    ready();
    rayon::current_num_threads().max(1)
}

/// Which of them this is, from 0; `None` where it is none of them.
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
