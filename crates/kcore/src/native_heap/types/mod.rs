//! What blocks most likely are: by the types of the pointers that lead to them.
//!
//! The graph is that of [`MemoryView::what_types`]: the variables of modules and frames, and the pointers of their types. A block
//! to which a `struct node *` leads is a `struct node`, and its pointers type further blocks; `void *` types nothing. What
//! containers of standard libraries own is counted to them. Nothing of it is certain: a program may cast its pointers, and
//! a variable may hold what it was left with.

mod claim;
mod known;
mod spread;

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

pub use claim::BlockRole;
use claim::Claim;
use known::{KnownTypes, Shape};
use spread::TypeSpread;

use super::{
    HeapView, Watch,
    paths::join,
    reach::{BlockTable, Marks, TableBlock},
};
use crate::Core;

/// No type, and nobody.
const NONE: u32 = u32::MAX;
/// Before the index of a name, where a variable leads to a block, and not another block.
const NAMED: u32 = 1 << 31;
/// Names of variables that are kept.
const MAX_NAMES: usize = 1 << 18;
/// Stands for those that are not.
const ANOTHER: &str = "another variable";
/// Bytes of a name, at most.
const MAX_NAME: usize = 200;
/// Objects in a block that are looked at for who leads to another.
const MAX_SEARCHED: usize = 1 << 12;

/// What the blocks in use of a process most likely are.
pub struct BlockTypes {
    table: BlockTable,
    types: KnownTypes,
    /// For each block, its claim, packed.
    of: Vec<u32>,
    /// Who leads to each: a block, or a name.
    from: Vec<u32>,
    names: Vec<Arc<str>>,
    by_name: FxHashMap<Arc<str>, u32>,
    /// Blocks to which pointers lead that do not agree.
    disputed: Marks,
}

/// What a block most likely is.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BlockType {
    /// The type, as a program spells it.
    pub name: Arc<str>,
    /// How it stands in the block.
    pub role: BlockRole,
    /// Whether other pointers say that the block is something else.
    pub is_disputed: bool,
}

/// What leads to a block, and so told its type.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TypeSource {
    /// This expression, which begins with a variable.
    Variable(Arc<str>),
    /// Another block.
    Block {
        /// Where it begins.
        at: Addr,
        /// What it most likely is.
        ty: BlockType,
        /// The path of the pointer in it, as C writes it: `next`; `None` of what a container holds.
        path: Option<String>,
    },
    /// Nothing that has a type: the table of virtual functions that the block begins with tells its class.
    VirtualTable,
}

/// Who leads somewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Leader {
    /// An object with a name. With `is_pointer`, the name is of a pointer to it.
    Variable {
        name: Arc<str>,
        is_pointer: bool,
    },
    /// What is in a block.
    Block(u32),
    Nobody,
}

impl Leader {
    /// The name of a member of an object, cut where it is too long.
    fn joined(&self, name: &str, path: &str) -> Arc<str> {
        let is_pointer = matches!(self, Self::Variable { is_pointer: true, .. });
        match name.len() <= MAX_NAME {
            true => join(name, path, is_pointer).into(),
            false => name.into(),
        }
    }
}

impl HeapView<'_> {
    /// What blocks in use most likely are. It is found out once, and takes about 15 bytes for each block; `None` when
    /// whoever watches stopped it.
    pub fn types(&self, watch: Watch<'_>) -> Option<Arc<BlockTypes>> {
        let known = &self.core.native_heaps.types;
        if let Some(types) = known.get() {
            return Some(Arc::clone(types));
        }
        // Without debug information there are no types: whoever asks about a block need not wait for a walk.
        let mut modules = self.core.modules().in_scope_order();
        let types = match modules.any(|module| module.symbols().debug_info().is_some()) {
            true => TypeSpread::new(self.core, self.table(watch)?.0).run(watch)?,
            false => BlockTypes::untyped(BlockTable::default()),
        };
        let types = Arc::new(types);
        // What a command found out that has to end is not the whole.
        if self.core.budget().is_halted() {
            return Some(types);
        }
        Some(Arc::clone(known.get_or_init(|| types)))
    }
}

impl BlockTypes {
    /// What the block in use that holds `at` most likely is; `None` where no type is known.
    pub fn at(&self, at: Addr) -> Option<BlockType> {
        self.described(self.table.find(at.get())?.number)
    }

    /// What told the type of the block in use that holds `at`.
    pub fn source(&self, core: &Core, at: Addr) -> Option<TypeSource> {
        let block = self.table.find(at.get())?;
        self.claim(block.number)?;
        let from = *self.from.get(block.number as usize)?;
        if from == NONE {
            return Some(TypeSource::VirtualTable);
        }
        if let Some(name) = from.checked_sub(NAMED) {
            return self.names.get(name as usize).cloned().map(TypeSource::Variable);
        }
        let by = self.table.block(from)?;
        let (at, ty) = (by.start, self.described(from)?);
        Some(TypeSource::Block { at, ty, path: self.path(core, by, block) })
    }

    /// How many blocks have a type.
    pub fn typed_count(&self) -> u64 {
        self.of.iter().filter(|claim| **claim != NONE).count() as u64
    }

    fn untyped(table: BlockTable) -> Self {
        let count = table.count() as usize;
        Self {
            types: KnownTypes::default(),
            of: vec![NONE; count],
            from: vec![NONE; count],
            names: vec![Arc::from(ANOTHER)],
            by_name: FxHashMap::default(),
            disputed: Marks::new(table.count()),
            table,
        }
    }

    fn claim(&self, number: u32) -> Option<Claim> {
        Claim::unpacked(*self.of.get(number as usize)?)
    }

    fn described(&self, number: u32) -> Option<BlockType> {
        let claim = self.claim(number)?;
        let name = Arc::clone(&self.types.get(claim.ty)?.name);
        Some(BlockType { name, role: claim.role, is_disputed: self.disputed.has(number) })
    }

    fn set(&mut self, number: u32, claim: Claim, leader: &Leader, path: &str) {
        let from = match leader {
            Leader::Block(from) => *from,
            Leader::Variable { name, .. } => self.name(leader.joined(name, path)),
            Leader::Nobody => NONE,
        };
        let slots = self.of.get_mut(number as usize).zip(self.from.get_mut(number as usize));
        if let Some((of, by)) = slots {
            (*of, *by) = (claim.packed(), from);
        }
    }

    /// Says more of how a type stands in a block; who told the type stays the same.
    fn refine(&mut self, number: u32, claim: Claim) {
        if let Some(of) = self.of.get_mut(number as usize) {
            *of = claim.packed();
        }
    }

    /// The number of a name.
    fn name(&mut self, name: Arc<str>) -> u32 {
        if let Some(number) = self.by_name.get(&name) {
            return *number;
        }
        if self.names.len() >= MAX_NAMES {
            return NAMED;
        }
        let number = NAMED | u32::try_from(self.names.len()).unwrap_or(0);
        self.by_name.insert(Arc::clone(&name), number);
        self.names.push(name);
        number
    }

    /// Where the objects of its type lie in a block. None of those that a container keeps in it: the container knows.
    fn objects_in(
        &self,
        core: &Core,
        block: TableBlock,
        claim: Claim,
    ) -> impl Iterator<Item = Addr> + use<> {
        let size = self.types.get(claim.ty).map_or(u64::MAX, |known| known.size);
        let usable = self.table.size(block.number);
        let (first, count) = match claim.role {
            BlockRole::Object | BlockRole::Beginning => (0, 1),
            BlockRole::Array => (0, usable.checked_div(size).unwrap_or(0)),
            BlockRole::CountedArray => {
                let room = usable.saturating_sub(8).checked_div(size).unwrap_or(0);
                (8, core.space().read_word(block.start).unwrap_or(0).min(room))
            }
            BlockRole::Part => (0, 0),
        };
        let start = block.start.saturating_add(first);
        (0..count).map(move |index| start.saturating_add(index.saturating_mul(size)))
    }

    /// The pointer of one block that leads to another, as C writes it.
    fn path(&self, core: &Core, from: TableBlock, to: TableBlock) -> Option<String> {
        let claim = self.claim(from.number)?;
        let layout = self.types.known_layout(claim.ty)?;
        let is_array = matches!(claim.role, BlockRole::Array | BlockRole::CountedArray);
        let is_of = |at: Addr| self.table.find(at.get()).is_some_and(|it| it.number == to.number);
        let objects = self.objects_in(core, from, claim).take(MAX_SEARCHED);
        let found = (0_usize..).zip(objects).find_map(|(index, at)| {
            let leads = |offset: u64| {
                let word = core.space().read_addr(at.checked_add(offset)?).ok()?;
                is_of(word).then_some(())
            };
            let slot = layout.slots.iter().find(|slot| leads(slot.offset).is_some())?;
            let holder = slot.container.and_then(|container| layout.holders.get(container));
            Some((index, holder.map_or(&slot.path, |holder| &holder.path)))
        });
        let (index, path) = found?;
        let path = if is_array { format!("[{index:#x}]{path}") } else { path.to_string() };
        Some(path.strip_prefix('.').unwrap_or(&path).to_owned())
    }

    /// Whether a type of a block says no more than that numbers or characters are in it.
    pub fn is_plain(&self, at: Addr) -> bool {
        let claim = self.table.find(at.get()).and_then(|block| self.claim(block.number));
        let known = claim.and_then(|claim| Some((claim.role, self.types.get(claim.ty)?)));
        known.is_some_and(|(role, known)| role != BlockRole::Part && known.shape == Shape::Plain)
    }
}

impl std::fmt::Debug for BlockTypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockTypes").field("blocks", &self.of.len()).finish_non_exhaustive()
    }
}
