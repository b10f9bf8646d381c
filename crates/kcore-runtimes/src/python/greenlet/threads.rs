//! Whose stack an address lies on that nobody may stand at now.

use kcore_mem::Addr;
use kcore_unwind::Tid;

use crate::Host;

/// The blocks of memory that threads have for themselves, lowest first. The C library puts one at the end of each stack
/// that it makes, and stacks may lie side by side in one mapping.
#[derive(Debug, Default)]
pub struct ThreadEnds(Vec<(Addr, Tid)>);

impl ThreadEnds {
    /// Those of all threads.
    pub fn of(host: &dyn Host) -> Self {
        let threads = host.threads().into_iter();
        let mut ends: Vec<_> =
            threads.filter_map(|tid| Some((host.thread_pointer(tid)?, tid))).collect();
        ends.sort_unstable();
        Self(ends)
    }

    /// The thread on whose stack an address lies: the one whose block comes next in its mapping, or that which stands
    /// there.
    pub fn thread_of(&self, host: &dyn Host, at: Addr) -> Option<Tid> {
        let next = self.0.get(self.0.partition_point(|(end, _)| *end <= at));
        let mapping = host.range_at(at)?.range;
        let own = next.filter(|(end, _)| mapping.contains(*end)).map(|(_, tid)| *tid);
        own.or_else(|| host.thread_of_stack(at))
    }
}
