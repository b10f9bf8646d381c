//! Labels of goroutines for profiles (`runtime/pprof/label.go`): a list since Go 1.24. Before that it is a map, which is
//! read where it has one bucket, as that of up to eight labels (`runtime/map.go`, `runtime.hmap` and `runtime.bmap`).

use kcore_mem::{Addr, AddressSpace};

use super::{Go, goroutine::Goroutine, printed_value::text};
use crate::Host;

/// The first minor version with a list, of pairs of texts.
const LIST: u8 = 24;
const PAIR: u64 = 32;
const TEXT: u64 = 16;
/// Labels, at most.
const MAX_LABELS: u64 = 64;
/// Fields of a map: how many there are, the logarithm of the number of buckets, and the buckets.
const COUNT: u64 = 0;
const BUCKETS_LOG: u64 = 9;
const BUCKETS: u64 = 16;
/// Pairs of a bucket; for each a byte comes first that is small where there is none.
const OF_BUCKET: u64 = 8;
const FIRST_USED: u64 = 5;

impl Go {
    /// The labels of a goroutine, as key and value; `None` where they cannot be read.
    pub fn labels(&self, host: &dyn Host, goroutine: &Goroutine) -> Option<Vec<(String, String)>> {
        let space = host.space();
        let Some(labels) = goroutine.labels else { return Some(Vec::new()) };
        match self.layout.minor >= LIST {
            true => list(space, labels),
            false => bucket(space, space.read_addr(labels).ok()?),
        }
    }
}

fn list(space: &dyn AddressSpace, at: Addr) -> Option<Vec<(String, String)>> {
    let first = space.read_addr(at).ok()?;
    let count = space.read_word(at.checked_add(8)?).ok()?.min(MAX_LABELS);
    let pair = |number: u64| {
        let key = first.checked_add(number.checked_mul(PAIR)?)?;
        Some((text(space, key)?, text(space, key.checked_add(TEXT)?)?))
    };
    (0..count).map(pair).collect()
}

fn bucket(space: &dyn AddressSpace, map: Addr) -> Option<Vec<(String, String)>> {
    if map.get() == 0 || space.read_word(map.checked_add(COUNT)?).ok()? == 0 {
        return Some(Vec::new());
    }
    (space.read_uint(map.checked_add(BUCKETS_LOG)?, 1).ok()? == 0).then_some(())?;
    let bucket = space.read_addr(map.checked_add(BUCKETS)?).ok()?;
    let pair = |number: u64| {
        let used = space.read_uint(bucket.checked_add(number)?, 1).ok()?;
        let key = bucket.checked_add(OF_BUCKET)?.checked_add(number.checked_mul(TEXT)?)?;
        let value = key.checked_add(OF_BUCKET.checked_mul(TEXT)?)?;
        (used >= FIRST_USED).then(|| Some((text(space, key)?, text(space, value)?)))
    };
    (0..OF_BUCKET).filter_map(pair).collect()
}
