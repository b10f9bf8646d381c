//! Allocations that an allocator sampled itself.

use kcore_mem::{Addr, CodeAddr};

/// A sampled allocation that is still in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The block that the program was given.
    pub at: Addr,
    /// Bytes that the program asked for.
    pub requested: u64,
    /// Who allocated it: return addresses, innermost first.
    pub stack: Vec<CodeAddr>,
}

/// What an allocator sampled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Samples {
    /// One of so many allocated bytes is sampled, on average: the weight of a sample of size z is 1 / (1 - e^(-z/period)).
    pub period: u64,
    /// The samples, in no order.
    pub samples: Vec<Sample>,
}
