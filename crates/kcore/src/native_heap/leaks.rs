//! Blocks that nothing reaches.
//!
//! A word that holds an address within a block may be a pointer to it: whatever a word of a root, or of a block that is
//! reached, may point to is reached. So a block that is told is a leak, unless its pointer is hidden; and a leak whose
//! address happens to stand somewhere is not told.

use std::ops::ControlFlow;

use kcore_mem::AddrRange;

use super::{
    Block, HeapNumber, HeapView, Watch,
    reach::{BlockTable, Marks, Spread, TableBlock},
};

/// A leaked block that no other leaked block refers to, or one of a ring of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Leak {
    /// The heap.
    pub heap: HeapNumber,
    /// The block.
    pub block: Block,
    /// Leaked blocks that only it, or what it refers to, leads to, itself included.
    pub count: u64,
    /// Their usable bytes.
    pub bytes: u64,
    /// Whether it is one of a ring: something that it leads to refers to it.
    pub is_ring: bool,
    /// Whether a word below a stack pointer refers to it: left over from a call that returned, most likely.
    pub is_on_old_stack: bool,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Leaks {
    /// Blocks in use of all heaps.
    pub used: u64,
    /// Those among them that nothing reaches.
    pub leaked: u64,
    /// Their usable bytes.
    pub leaked_bytes: u64,
    /// Bytes of memory that the process could write and that cannot be read: pointers in it are not known.
    pub missing: u64,
    /// Bytes of heaps that were not walked: what lies there is no leak, and what it refers to is none either.
    pub skipped: u64,
    /// What may be wrong or incomplete.
    pub notes: Vec<String>,
}

impl HeapView<'_> {
    /// The blocks in use that nothing points to: no word of data outside of heaps, no register, and no other block that is
    /// itself reached. What lies below the stack pointer of a thread is no root, nor are structures of allocators. `tell`
    /// gets those that no other leak refers to, lowest address first, and then one of each ring that is left. `None` when
    /// whoever watches stopped it, or `tell` did.
    ///
    /// It takes less than ten bytes of memory for each block in use.
    pub fn leaks(
        &self,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Leak) -> ControlFlow<()>,
    ) -> Option<Leaks> {
        let (table, notes, rest) = self.table_and_rest(watch)?;
        let skipped = rest.iter().map(AddrRange::len).fold(0, u64::saturating_add);
        let spread = Spread::new(self.core.space(), &table);
        self.mark_roots(&table, &spread, watch)?;
        // Blocks lie there that nobody knows: whatever they may hold is held.
        spread.mark_targets(rest, watch)?;
        spread.spread(watch)?;
        let mut found = Leaks {
            used: table.count().into(),
            missing: self.missing(),
            skipped,
            notes,
            ..Leaks::default()
        };
        for number in spread.unreached(None) {
            found.leaked = found.leaked.saturating_add(1);
            found.leaked_bytes = found.leaked_bytes.saturating_add(table.size(number));
        }
        self.tell_leaks(&table, &spread, watch, tell)?;
        Some(found)
    }

    /// Marks what roots lead to.
    fn mark_roots(&self, table: &BlockTable, spread: &Spread<'_>, watch: Watch<'_>) -> Option<()> {
        for tid in self.core.tids() {
            let values = self.core.registers().user(tid).into_iter().map(|register| register.value);
            for block in values.filter_map(|value| table.find(value)) {
                spread.reached.set(block.number);
            }
        }
        spread.mark_targets(self.root_ranges(), watch)
    }

    /// Tells of the leaks that no other leak refers to, and of one of each ring that is left.
    fn tell_leaks(
        &self,
        table: &BlockTable,
        spread: &Spread<'_>,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Leak) -> ControlFlow<()>,
    ) -> Option<()> {
        let referred = spread.referred(watch)?;
        let old = self.on_old_stacks(table, watch)?;
        for (is_ring, referred) in [(false, Some(&referred)), (true, None)] {
            for number in spread.unreached(referred) {
                // One of a ring may have been reached since by another one.
                let block = table.block(number).filter(|it| !spread.reached.has(it.number));
                let Some(block) = block else { continue };
                let leak = self.leak(table, spread, block);
                let leak =
                    leak.map(|leak| Leak { is_ring, is_on_old_stack: old.has(number), ..leak });
                if leak.is_some_and(|leak| tell(leak).is_break()) || watch(0, 0).is_break() {
                    return None;
                }
            }
        }
        Some(())
    }

    /// The blocks to which words below stack pointers refer.
    fn on_old_stacks(&self, table: &BlockTable, watch: Watch<'_>) -> Option<Marks> {
        let marked = Spread::new(self.core.space(), table);
        marked.mark_targets(self.old_stacks(), watch)?;
        Some(marked.reached)
    }

    /// A leak with all that is reached from it and was not before.
    fn leak(&self, table: &BlockTable, spread: &Spread<'_>, first: TableBlock) -> Option<Leak> {
        let (mut count, mut bytes) = (0_u64, 0_u64);
        spread.spread_from(first, &mut |block| {
            count = count.saturating_add(1);
            bytes = bytes.saturating_add(table.size(block.number));
        });
        let of_heap = |(heap, owner): (HeapNumber, &dyn super::NativeHeap)| {
            let block = owner.block_at(self.core, first.start)?;
            (block.at == first.start).then_some((heap, block))
        };
        let (heap, block) = self.found().all().find_map(of_heap)?;
        Some(Leak { heap, block, count, bytes, is_ring: false, is_on_old_stack: false })
    }

    /// Bytes of writable memory that cannot be read.
    fn missing(&self) -> u64 {
        let held = self.core.space().regions();
        let held_of = |range: AddrRange| {
            let first = held.partition_point(|region| region.range.end <= range.start);
            let near = held.get(first..).unwrap_or_default().iter();
            let near = near.take_while(|region| region.range.start < range.end);
            let lens = near.filter_map(|region| Some(region.range.intersection(&range)?.len()));
            lens.fold(0, u64::saturating_add)
        };
        let writable =
            self.core.mappings().iter().filter(|it| it.flags.is_some_and(|flags| flags & 2 != 0));
        writable.map(|it| it.range.len().saturating_sub(held_of(it.range))).sum()
    }
}
