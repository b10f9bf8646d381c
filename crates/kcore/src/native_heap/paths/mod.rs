//! Ways through native memory: from a root to a block, and from a block on.

mod names;
mod search;

use kcore_mem::{Addr, AddrRange};

use super::{
    HeapModule, HeapView, OwnedBlock, Watch,
    reach::{BlockTable, Scanner, Spread, TableBlock},
};
use crate::{ThreadVariable, Tid, VariableView};
use names::PointerNames;
pub(super) use names::join;
use search::Search;

/// Pointers of a way that are told, from both ends.
const MAX_STEPS: usize = 1 << 10;

/// A shortest way from a root to a block.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BlockPath {
    /// What the way begins with.
    pub root: BlockRoot,
    /// The pointers on the way, that of the root first; the last one leads to the block.
    pub steps: Vec<BlockPointer>,
    /// Pointers behind the first half of these that are left out, because there are too many.
    pub left_out: usize,
}

/// What keeps a block from outside of all heaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockRoot {
    /// A word of a module's data.
    Data(Addr),
    /// A word of a thread's stack that is in use.
    Stack(Tid, Addr),
    /// A register of a thread.
    Register(Tid, &'static str),
    /// A word of other memory that is in no heap: thread-local variables are there as well.
    Memory(Addr),
}

/// A word that leads to a block.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BlockPointer {
    /// Where the word lies; `None` of a register.
    pub at: Option<Addr>,
    /// Bytes from the beginning of the block that has the word; `None` of a root.
    pub offset: Option<u64>,
    /// Where it points to.
    pub to: Addr,
    /// The block.
    pub block: OwnedBlock,
    /// What a program calls the word: `server.clients->next`; `None` where no type is known.
    pub name: Option<String>,
    /// The type of what it points to.
    pub target_type: Option<String>,
}

/// What a block leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BlockReach {
    /// The blocks that its own words lead to.
    pub pointers: Vec<BlockPointer>,
    /// All blocks that it leads to, without itself.
    pub count: u64,
    /// Their usable bytes.
    pub bytes: u64,
}

impl VariableView<'_> {
    /// The thread-local variable that a root is, or is a part of.
    pub fn thread_local_of_root(self, root: BlockRoot) -> Option<ThreadVariable> {
        match root {
            BlockRoot::Data(at) | BlockRoot::Memory(at) => self.thread_local_at(None, at),
            BlockRoot::Stack(tid, at) => self.thread_local_at(Some(tid), at),
            BlockRoot::Register(..) => None,
        }
    }
}

impl HeapView<'_> {
    /// A shortest way to the block in use that holds `at`: from data of modules, or else from registers, stacks and other memory. Any
    /// word counts that holds an address within a block. `Some(None)` where nothing leads to it, or it is in no block
    /// in use; `None` when whoever watches stopped it.
    pub fn path_to(&self, at: Addr, watch: Watch<'_>) -> Option<Option<BlockPath>> {
        let (table, _) = self.table(watch)?;
        let Some(wanted) = table.find(at.get()) else { return Some(None) };
        let mut search = Search::new(self.core.space(), &table, wanted);
        let mut way = search.way_from(&self.data_ranges(), watch)?;
        if way.is_none() {
            search.add(self.blocks_of_registers(&table).map(|(_, _, _, block)| block));
            way = search.way_from(&self.root_ranges(), watch)?;
        }
        let Some(way) = way else { return Some(None) };
        let first = way.first().copied();
        let Some((root, to)) = first.and_then(|first| self.root_of(&table, first, watch)) else {
            return Some(None);
        };
        Some(self.path(&table, root, to, &way))
    }

    /// What the block in use that holds `at` leads to, at most `most` pointers; `Some(None)` where it is in no block in
    /// use, and `None` when whoever watches stopped it.
    pub fn reaches(&self, at: Addr, most: usize, watch: Watch<'_>) -> Option<Option<BlockReach>> {
        let (table, _) = self.table(watch)?;
        let Some(block) = table.find(at.get()) else { return Some(None) };
        let mut names = PointerNames::of_block(self.core, block.start, watch);
        let mut words: Vec<(u64, TableBlock)> = Vec::new();
        let mut scanner = Scanner::new(self.core.space(), &table);
        scanner.each_target(table.range(block), &mut |word, to| {
            if words.len() < most {
                words.push((word, to));
            }
        });
        let told = words.iter().filter_map(|(word, to)| {
            self.pointer_at(Addr::new(*word), Some(block), *to, &mut names)
        });
        let pointers = told.collect();
        let (mut count, mut bytes) = (0_u64, 0_u64);
        Spread::new(self.core.space(), &table).spread_from(block, &mut |it| {
            count = count.saturating_add(1);
            bytes = bytes.saturating_add(table.size(it.number));
        });
        let (count, bytes) =
            (count.saturating_sub(1), bytes.saturating_sub(table.size(block.number)));
        Some(Some(BlockReach { pointers, count, bytes }))
    }

    /// The data of modules that is in no heap.
    fn data_ranges(&self) -> Vec<AddrRange> {
        let data = self.core.modules().in_scope_order().flat_map(HeapModule::data);
        let data: Vec<AddrRange> = data.collect();
        let in_data = |root: &AddrRange| {
            data.iter().filter_map(|data| data.intersection(root)).collect::<Vec<_>>()
        };
        self.root_ranges().iter().flat_map(in_data).collect()
    }

    /// The registers of threads that point to blocks.
    fn blocks_of_registers<'t>(
        &'t self,
        table: &'t BlockTable,
    ) -> impl Iterator<Item = (Tid, &'static str, Addr, TableBlock)> + 't {
        self.core.tids().into_iter().flat_map(move |tid| {
            let registers = self.core.registers().user(tid).into_iter();
            registers.filter_map(move |register| {
                let block = table.find(register.value)?;
                Some((tid, register.name, Addr::new(register.value), block))
            })
        })
    }

    /// A root that points to a block, and where it points to.
    fn root_of(
        &self,
        table: &BlockTable,
        block: TableBlock,
        watch: Watch<'_>,
    ) -> Option<(BlockRoot, Addr)> {
        let is_it = |at| self.core.space().read_addr(at).ok();
        if let Some(at) =
            search::first_word(self.core.space(), table, &self.data_ranges(), block, watch)
        {
            return Some((BlockRoot::Data(at), is_it(at)?));
        }
        if let Some(at) =
            search::first_word(self.core.space(), table, &self.root_ranges(), block, watch)
        {
            let root = match self.core.stacks().thread_at(at) {
                Some(tid) => BlockRoot::Stack(tid, at),
                None => BlockRoot::Memory(at),
            };
            return Some((root, is_it(at)?));
        }
        let mut registers = self.blocks_of_registers(table);
        let (tid, name, to, _) = registers.find(|(_, _, _, to)| to.number == block.number)?;
        Some((BlockRoot::Register(tid, name), to))
    }

    fn path(
        &self,
        table: &BlockTable,
        root: BlockRoot,
        to: Addr,
        way: &[TableBlock],
    ) -> Option<BlockPath> {
        let mut names = PointerNames::of_root(self.core, root);
        let first = *way.first()?;
        let mut steps = vec![match root {
            BlockRoot::Data(at) | BlockRoot::Stack(_, at) | BlockRoot::Memory(at) => {
                self.pointer_at(at, None, first, &mut names)?
            }
            BlockRoot::Register(..) => BlockPointer {
                at: None,
                offset: None,
                to,
                block: self.core.heaps().block_at(to)?,
                name: None,
                target_type: None,
            },
        }];
        let mut scanner = Scanner::new(self.core.space(), table);
        let left_out = way.len().saturating_sub(MAX_STEPS);
        for (index, two) in (1_usize..).zip(way.windows(2)) {
            let [from, to] = two else { continue };
            let behind = index.saturating_sub(MAX_STEPS / 2);
            if index >= MAX_STEPS / 2 && behind < left_out {
                names.leave_out();
                continue;
            }
            let mut word = None;
            scanner.each_target(table.range(*from), &mut |at, block| {
                if block.number == to.number && word.is_none() {
                    word = Some(at);
                }
            });
            steps.push(self.pointer_at(Addr::new(word?), Some(*from), *to, &mut names)?);
        }
        Some(BlockPath { root, steps, left_out })
    }

    /// A word in a block, or of a root, that points to another block. The names go on from there.
    fn pointer_at(
        &self,
        at: Addr,
        within: Option<TableBlock>,
        to: TableBlock,
        names: &mut PointerNames<'_>,
    ) -> Option<BlockPointer> {
        let target = self.core.space().read_addr(at).ok()?;
        let (name, target_type) = names.follow(at, target);
        Some(BlockPointer {
            at: Some(at),
            offset: within.and_then(|block| at.offset_from(block.start)),
            to: target,
            block: self.core.heaps().block_at(to.start)?,
            name,
            target_type,
        })
    }
}
