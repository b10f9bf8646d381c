//! The processors of Go's scheduler, each a `runtime.p`, whose list is `runtime.allp` (`runtime/runtime2.go`).
//!
//! A stripped program has no name for the list. Then its data is searched for what proves itself.

use kcore_mem::{Addr, AddressSpace};

use super::{Go, layout::Layout, roots};
use crate::Host;

const SYMBOL: &str = "runtime.allp";
/// Fields of a `runtime.p` that lie alike in all versions.
const ID: u64 = 0;
const STATUS: u64 = 4;
/// The largest status, `_Pdead`.
const MAX_STATUS: u64 = 4;
/// First processors that must prove themselves.
const PROVEN: u64 = 8;
/// More processors than any machine has.
const MAX_PROCESSORS: u64 = 1 << 16;

impl Go {
    /// Where the processors lie.
    ///
    /// # Errors
    /// In words, where their list is not found or cannot be read.
    pub(super) fn processors(&self, host: &dyn Host) -> Result<Vec<Addr>, String> {
        let list = self.processors.or_else(|| self.find_processors(host));
        let list = list.ok_or("the list of processors, runtime.allp, is not found")?;
        let word = |at: Addr| {
            let read = host.space().read_word(at);
            read.map_err(|fault| format!("the list of processors cannot be read: {fault}"))
        };
        let (first, count) = (Addr::new(word(list)?), word(list.saturating_add(8))?);
        if count > MAX_PROCESSORS {
            return Err(format!("the runtime claims to have {count} processors"));
        }
        let at = |number: u64| first.saturating_add(number.saturating_mul(8));
        (0..count).map(|number| word(at(number)).map(Addr::new)).collect()
    }

    fn find_processors(&self, host: &dyn Host) -> Option<Addr> {
        let module = host.module_at(self.tables.text.start)?;
        let space = host.space();
        roots::symbol(module, SYMBOL).or_else(|| {
            let is_list = |at: Addr| proven(space, &self.layout, at).unwrap_or_default();
            roots::search_zeros(host, module, &is_list)
        })
    }
}

/// Whether a slice of processors lies at an address: each of the first ones has its number, a status, the cache of its
/// thread, and a slice of timers.
fn proven(space: &dyn AddressSpace, layout: &Layout, at: Addr) -> Option<bool> {
    let word = |at: Addr, offset: u64| space.read_word(at.checked_add(offset)?).ok();
    let (first, count, room) = (word(at, 0)?, word(at, 8)?, word(at, 16)?);
    let is_slice = first != 0 && first.is_multiple_of(8) && count > 0 && count <= room;
    (is_slice && room <= MAX_PROCESSORS).then_some(())?;
    let mut all = (0..count.min(PROVEN)).map(|number| {
        let it = Addr::new(word(Addr::new(first), number.checked_mul(8)?)?);
        (it.get() != 0 && it.get().is_multiple_of(8)).then_some(())?;
        let half = |offset: u64| space.read_uint(it.checked_add(offset)?, 4).ok();
        let cache = word(it, layout.timers.cache)?;
        let (timers, timers_room) = (
            word(it, layout.timers.heap.checked_add(8)?)?,
            word(it, layout.timers.heap.checked_add(16)?)?,
        );
        let is_one = half(ID)? == number
            && half(STATUS)? <= MAX_STATUS
            && cache != 0
            && cache.is_multiple_of(8)
            && timers <= timers_room;
        is_one.then_some(())
    });
    Some(all.all(|proof| proof.is_some()))
}
