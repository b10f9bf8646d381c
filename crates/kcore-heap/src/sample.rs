//! Allocations that an allocator sampled itself.

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};

/// A sampled allocation that is still in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The block that the program was given.
    pub at: Addr,
    /// Bytes that the program asked for.
    pub requested: u64,
    /// Who allocated it: return addresses, innermost first.
    pub stack: Arc<[CodeAddr]>,
}

/// What an allocator sampled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Samples {
    /// One of so many allocated bytes is sampled, on average; [`ALL`](Self::ALL) where every block is, 0 where that is not known.
    pub period: u64,
    /// The samples, in no order.
    pub samples: Vec<Sample>,
}

impl Samples {
    /// The period of an allocator that notes every block.
    pub const ALL: u64 = 1;

    /// The blocks of this size for which one sample of it stands: 1 / (1 - e^(-size/period)). 1 where every block is
    /// sampled, or the period is not known.
    pub fn weight(&self, requested: u64) -> f64 {
        if self.period <= Self::ALL || requested == 0 {
            return 1.0;
        }
        1.0 / -(-(requested as f64) / self.period as f64).exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_block_stands_for_many_and_a_large_one_for_itself() {
        let samples = |period| Samples { period, samples: Vec::new() };
        let small = samples(4096).weight(16);
        assert!((256.0..257.0).contains(&small), "{small}");
        let large = samples(4096).weight(1 << 20);
        assert!((1.0..1.001).contains(&large), "{large}");
        assert!((samples(Samples::ALL).weight(16) - 1.0).abs() < f64::EPSILON);
    }
}
