//! Memory in no heap whose words may point to blocks.

use kcore_mem::{Addr, AddrRange};

use super::super::{HeapModule, HeapView, NativeHeap};
use crate::{Mapping, MappingKind};

/// Bytes of roots that one thread looks at.
const PIECE: u64 = 1 << 20;
/// Bytes below the stack pointer that a function may use (System V ABI of x86-64).
const RED_ZONE: u64 = 128;

impl HeapView<'_> {
    /// The memory that may hold pointers and is in no heap, without the unused parts of stacks. Data that was made read-only
    /// counts, such as what the dynamic linker protects after it relocated it.
    pub(in super::super) fn root_ranges(&self) -> Vec<AddrRange> {
        let mut taken = self.heap_ranges();
        taken.extend(self.old_stacks());
        taken.sort_unstable();
        let mappings = self.core.mappings().iter().filter(|it| holds_data(it));
        let mut roots: Vec<AddrRange> =
            mappings.flat_map(|mapping| without(mapping.range, &taken)).collect();
        roots.sort_unstable();
        let data = self.core.modules().in_scope_order().flat_map(HeapModule::data);
        let rest: Vec<AddrRange> = data
            .flat_map(|data| without(data, &roots))
            .flat_map(|part| without(part, &taken))
            .collect();
        roots.extend(rest);
        self.held(&roots)
    }

    /// What memory holds of some ranges: a damaged core may claim any number of bytes for a mapping.
    fn held(&self, ranges: &[AddrRange]) -> Vec<AddrRange> {
        let regions = self.core.space().regions();
        let within = |range: &AddrRange| {
            let (start, end) = (range.start, range.end);
            let first = regions.partition_point(|region| region.range.end <= start);
            let held = regions.iter().skip(first).take_while(move |it| it.range.start < end);
            held.map(move |it| AddrRange::new(it.range.start.max(start), it.range.end.min(end)))
        };
        ranges.iter().flat_map(within).collect()
    }

    fn heap_ranges(&self) -> Vec<AddrRange> {
        let ranges = |heap: &dyn NativeHeap| {
            [heap.ranges(self.core), heap.own_ranges(self.core)].into_iter().flatten()
        };
        self.found().all().flat_map(|(_, heap)| ranges(heap)).collect()
    }

    /// What lies below the stack pointers of threads, each in a mapping of its own. The lowest of a mapping counts: what
    /// lies above it may be another stack.
    pub(in super::super) fn old_stacks(&self) -> Vec<AddrRange> {
        let mut last = None;
        let mut parts = Vec::new();
        for (sp, _) in self.core.stack_pointers() {
            let Some(mapping) = self.core.mapping_at(*sp).map(|mapping| mapping.range) else {
                continue;
            };
            if last.replace(mapping.start) == Some(mapping.start) {
                continue;
            }
            // The red zone below is in use.
            let low = Addr::new(sp.get().saturating_sub(RED_ZONE)).max(mapping.start);
            parts.push(AddrRange::new(mapping.start, low));
        }
        self.held(&parts)
    }
}

/// Whether a mapping holds data that the process wrote, now or before it was made read-only. Of a file that may not be
/// written, only what differs from the file can hold a pointer, and such parts are in the core as a whole.
fn holds_data(mapping: &Mapping) -> bool {
    let Some(flags) = mapping.flags else { return true };
    let (may_execute, may_write, may_read) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    let is_file = matches!(mapping.kind, MappingKind::File { .. });
    let is_private = !is_file || mapping.dumped == mapping.range.len();
    may_write || (may_read && !may_execute && is_private)
}

/// The parts of a range that are in none of some others, which are in order.
fn without(range: AddrRange, taken: &[AddrRange]) -> Vec<AddrRange> {
    let mut parts = Vec::new();
    let mut at = range.start;
    for other in taken.iter().filter(|other| other.end > range.start && other.start < range.end) {
        if at < other.start {
            parts.push(AddrRange::new(at, other.start));
        }
        at = at.max(other.end);
    }
    if at < range.end {
        parts.push(AddrRange::new(at, range.end));
    }
    parts
}

/// A range in parts that one thread looks at each.
pub fn pieces(range: AddrRange) -> impl Iterator<Item = AddrRange> {
    let end = range.end;
    let piece = move |from: Addr| {
        (from < end).then(|| AddrRange::new(from, end.min(from.saturating_add(PIECE))))
    };
    std::iter::successors(piece(range.start), move |last| piece(last.end))
}
