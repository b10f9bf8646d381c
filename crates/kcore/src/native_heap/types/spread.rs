//! Types of blocks by the pointers that lead to them: from variables on, in breadth.

use std::{collections::VecDeque, ops::ControlFlow, sync::Arc};

use kcore_mem::{Addr, AddrRange};
use kcore_values::{HolderKind, Object, ObjectPlace};
use rustc_hash::FxHashSet;

use super::{
    BlockTypes, Leader,
    claim::{BlockRole, Claim, is_single},
    known::{KnownHolder, KnownLayout, KnownSlot, Shape},
};
use crate::{
    Core,
    native_heap::{
        Watch,
        reach::{BlockTable, TableBlock},
    },
    what_type::Root,
};

/// Bytes of one object that are read for its pointers.
const MAX_SIZE: u64 = 1 << 20;
/// Objects of one array that are looked at.
const MAX_ELEMENTS: u64 = 1 << 22;
/// Objects of an array that are looked at before it is taken for one.
const PROBES: u64 = 64;
/// Objects that are not blocks, but in them or in other memory, and are looked at.
const MAX_OTHERS: usize = 1 << 22;
/// What containers hold, in all.
const MAX_HELD: u64 = 1 << 22;
/// What one of them holds: a variable that was never set may be a ring of links.
const MAX_HELD_BY_ONE: u64 = 1 << 20;
/// Enumerations in the data of others.
const MAX_NESTED: usize = 16;
/// Times that each block is looked at, in the mean: one whose type turns out to be another is looked at again.
const MAX_VISITS: u64 = 8;
/// Objects between two looks at whoever watches.
const STEP: u64 = 1 << 10;
/// The word in which `new[]` of C++ keeps how many objects there are.
const COUNT_WORD: u64 = 8;

/// What is to be looked at.
enum Visit {
    Block(u32),
    Object { at: Addr, ty: u32, leader: Leader },
}

/// The search.
pub struct TypeSpread<'c> {
    core: &'c Core,
    found: BlockTypes,
    waiting: VecDeque<Visit>,
    /// Objects that are not blocks and were seen, with their types.
    others: FxHashSet<(Addr, u32)>,
    /// Blocks and types of objects further inside, where one element of an array may lie: pointers lead to them.
    elements: FxHashSet<(u32, u32)>,
    held_left: u64,
    /// Enumerations round the one that is looked at.
    nested: usize,
    visits: u64,
}

impl<'c> TypeSpread<'c> {
    /// Of the blocks of a table.
    pub fn new(core: &'c Core, table: BlockTable) -> Self {
        Self {
            core,
            found: BlockTypes::untyped(table),
            waiting: VecDeque::new(),
            others: FxHashSet::default(),
            elements: FxHashSet::default(),
            held_left: MAX_HELD,
            nested: 0,
            visits: 0,
        }
    }

    /// The types of blocks; `None` when whoever watches stopped it.
    pub fn run(mut self, watch: Watch<'_>) -> Option<BlockTypes> {
        let mut has_types = false;
        for root in self.core.type_roots() {
            has_types = true;
            self.visit_root(root);
            self.goes_on(watch)?;
        }
        self.spread(watch)?;
        if has_types {
            self.claim_by_tables(watch)?;
            self.spread(watch)?;
        }
        Some(self.found)
    }

    /// Counts a step; `None` when whoever watches says stop.
    fn goes_on(&mut self, watch: Watch<'_>) -> Option<()> {
        self.visits = self.visits.saturating_add(1);
        let is_over = self.visits.is_multiple_of(STEP) && watch(0, 0) == ControlFlow::Break(());
        (!is_over).then_some(())
    }

    fn spread(&mut self, watch: Watch<'_>) -> Option<()> {
        let most = u64::from(self.found.table.count()).saturating_mul(MAX_VISITS);
        let most = most.saturating_add(MAX_OTHERS as u64);
        while let Some(visit) = self.waiting.pop_front().filter(|_| self.visits < most) {
            match visit {
                Visit::Block(number) => self.visit_block(number),
                Visit::Object { at, ty, leader } => {
                    self.visit(&ObjectPlace::Memory(at), ty, &leader);
                }
            }
            self.goes_on(watch)?;
        }
        Some(())
    }

    /// Blocks that begin with the address of a table of virtual functions, whatever leads to them.
    fn claim_by_tables(&mut self, watch: Watch<'_>) -> Option<()> {
        for number in 0..self.found.table.count() {
            self.goes_on(watch)?;
            let Some(block) = self.found.table.block(number) else { continue };
            if self.found.claim(number).is_some() {
                continue;
            }
            let Ok(table) = self.core.space().read_addr(block.start) else { continue };
            if self.core.modules().at(table).is_none() {
                continue;
            }
            let class = kcore_values::Process::type_of_vtable(self.core, table);
            let fits = |size: u64| size <= self.found.table.size(number);
            if let Some(class) = class.filter(|class| class.size().is_some_and(fits)) {
                let ty = self.found.types.number(&class);
                self.set(number, Claim { ty, role: BlockRole::Object }, &Leader::Nobody, "");
            }
        }
        Some(())
    }

    fn visit_root(&mut self, root: Root) {
        let ty = self.found.types.number(&root.object.ty);
        let leader = Leader::Variable { name: root.name.into(), is_pointer: false };
        self.visit(&root.object.place, ty, &leader);
    }

    fn visit_block(&mut self, number: u32) {
        let found = self.found.table.block(number).zip(self.found.claim(number));
        let Some((block, claim)) = found else { return };
        let leader = Leader::Block(number);
        for at in self.found.objects_in(self.core, block, claim).take(MAX_ELEMENTS as usize) {
            self.visit(&ObjectPlace::Memory(at), claim.ty, &leader);
        }
    }

    /// Looks where an object leads.
    fn visit(&mut self, place: &ObjectPlace, ty: u32, leader: &Leader) {
        let layout = self.found.types.layout(self.core, ty);
        let size = self.found.types.get(ty).map_or(0, |known| known.size).min(MAX_SIZE);
        if layout.is_empty() {
            return;
        }
        let sound: Vec<bool> =
            layout.holders.iter().map(|holder| self.visit_held(place, holder, leader)).collect();
        let Some(words) = self.words(place, size, &layout) else { return };
        let own = place.address().map(|at| AddrRange::with_len(at, size));
        let mut before = None;
        for (slot, to) in layout.slots.iter().zip(words) {
            if to.get() == 0 || own.is_some_and(|own| own.contains(to)) || self.is_end(before, to) {
                continue;
            }
            before = self.found.table.find(to.get()).or(before);
            let container = slot.container.filter(|index| sound.get(*index) == Some(&true));
            match container.and_then(|index| layout.holders.get(index)) {
                Some(holder) => {
                    self.count_to(to, holder, leader);
                }
                None => self.point(to, slot, leader),
            }
        }
    }

    /// The pointers of an object, zero where they are not in memory.
    fn words(&self, place: &ObjectPlace, size: u64, layout: &KnownLayout) -> Option<Vec<Addr>> {
        let target = self.core.target();
        let held = match place {
            ObjectPlace::Memory(at) => self.core.space().slice(*at).ok(),
            _ => None,
        };
        let held = held.and_then(|bytes| bytes.get(..usize::try_from(size).ok()?));
        let read = if held.is_none() { place.read(self.core, size).ok() } else { None };
        let bytes = held.or(read.as_deref())?;
        let word = |slot: &KnownSlot| {
            let start = usize::try_from(slot.offset).ok()?;
            bytes.get(start..start.checked_add(target.word_size())?)
        };
        let value = |slot| Addr::new(word(slot).map_or(0, |word| target.uint(word)));
        Some(layout.slots.iter().map(value).collect())
    }

    /// Whether an address is the end of a block to which the pointer before leads: it says nothing of what lies there.
    fn is_end(&self, before: Option<TableBlock>, to: Addr) -> bool {
        before.is_some_and(|block| self.found.table.range(block).end == to)
    }

    /// Looks at what a container or an enumeration holds; says whether it makes sense as what it is.
    fn visit_held(&mut self, place: &ObjectPlace, holder: &KnownHolder, leader: &Leader) -> bool {
        let object = Object { ty: holder.ty.clone(), place: place.part(holder.offset) };
        let Some(first) = object.held(self.core, 1) else { return false };
        let leads = |found: &mut BlockTypes, object: &Object| {
            let ty = found.types.number(&object.ty);
            !found.types.layout(self.core, ty).is_empty()
        };
        let is_plain = !first.iter().any(|object| leads(&mut self.found, object));
        let held = match holder.kind {
            HolderKind::Buffer if is_plain => first,
            HolderKind::Variants => first,
            _ => {
                let most = self.held_left.min(MAX_HELD_BY_ONE);
                object.held(self.core, most).unwrap_or_default()
            }
        };
        self.held_left = self.held_left.saturating_sub(held.len() as u64);
        for part in held {
            self.visit_part(part, holder, leader);
        }
        true
    }

    /// An element of a container, or the data of an enumeration.
    fn visit_part(&mut self, part: Object, holder: &KnownHolder, leader: &Leader) {
        let Some(at) = part.address() else { return };
        let ty = self.found.types.number(&part.ty);
        let leads = !self.found.types.layout(self.core, ty).is_empty();
        if holder.kind == HolderKind::Variants {
            if leads && self.nested < MAX_NESTED {
                self.nested = self.nested.saturating_add(1);
                self.visit(&part.place, ty, &leader.with(&holder.path));
                self.nested = self.nested.saturating_sub(1);
            }
            return;
        }
        let inner = self.count_to(at, holder, leader);
        if leads && self.others.len() < MAX_OTHERS && self.others.insert((at, ty)) {
            let leader = inner.map_or_else(|| leader.with(&holder.path), Leader::Block);
            self.waiting.push_back(Visit::Object { at, ty, leader });
        }
    }

    /// Counts the block at an address to a container, unless the container lies in it itself.
    fn count_to(&mut self, to: Addr, holder: &KnownHolder, leader: &Leader) -> Option<u32> {
        let block = self.found.table.find(to.get())?;
        if *leader == Leader::Block(block.number) {
            return Some(block.number);
        }
        let claim = Claim { ty: holder.number, role: BlockRole::Part };
        self.claim(block.number, claim, leader, &holder.path);
        Some(block.number)
    }

    /// What a pointer of a type says of where it leads.
    fn point(&mut self, to: Addr, slot: &KnownSlot, leader: &Leader) {
        let (mut at, mut ty) = (to, slot.to);
        let Some(known) = self.found.types.get(ty) else { return };
        if known.has_table {
            let whole = Object::at(known.ty.clone(), to).whole(self.core);
            at = whole.address().unwrap_or(to);
            ty = self.found.types.number(&whole.ty);
        }
        match self.found.table.find(at.get()) {
            Some(block) if block.start == at => self.propose(block, ty, leader, &slot.path),
            Some(block) if self.is_counted(block, at, ty) => {
                let claim = Claim { ty, role: BlockRole::CountedArray };
                self.claim(block.number, claim, leader, &slot.path);
            }
            Some(block) => {
                self.point_inside(block, at, ty);
                self.visit_later(at, ty, Leader::Block(block.number));
            }
            // Variables are looked at anyway.
            None if self.core.modules().at(at).is_some() => {}
            None => self.visit_later(at, ty, leader.with(&slot.path).behind_pointer()),
        }
    }

    /// A pointer to where a further element would lie, were the block an array: what only begins with such an object
    /// may turn out to be one.
    fn point_inside(&mut self, block: TableBlock, at: Addr, ty: u32) {
        let Some(size) = self.found.types.get(ty).map(|known| known.size) else { return };
        let into = at.offset_from(block.start).unwrap_or(0);
        let usable = self.found.table.size(block.number);
        let is_element = into.checked_rem(size) == Some(0) && into.saturating_add(size) <= usable;
        if !is_element || self.elements.len() >= MAX_OTHERS {
            return;
        }
        let is_new = self.elements.insert((block.number, ty));
        let beginning = Claim { ty, role: BlockRole::Beginning };
        if is_new
            && self.found.claim(block.number) == Some(beginning)
            && self.role(block, ty) == Some(BlockRole::Array)
        {
            // The pointer to where the block begins still is what tells its type.
            self.found.refine(block.number, Claim { ty, role: BlockRole::Array });
            self.waiting.push_back(Visit::Block(block.number));
        }
    }

    /// An object within a block, or in memory of no heap.
    fn visit_later(&mut self, at: Addr, ty: u32, leader: Leader) {
        let is_empty = self.found.types.layout(self.core, ty).is_empty();
        let is_there = !is_empty && self.core.space().slice(at).is_ok();
        if is_there && self.others.len() < MAX_OTHERS && self.others.insert((at, ty)) {
            self.waiting.push_back(Visit::Object { at, ty, leader });
        }
    }

    /// Whether a block has a word before `at` that says how many objects follow, and so many have room there.
    fn is_counted(&self, block: TableBlock, at: Addr, ty: u32) -> bool {
        let Some(known) = self.found.types.get(ty).filter(|it| it.shape == Shape::Composite) else {
            return false;
        };
        let room = self.found.table.size(block.number).saturating_sub(COUNT_WORD);
        let count = self.core.space().read_word(block.start).unwrap_or(0);
        let bytes = count.checked_mul(known.size);
        // The rest of a block is less than what its allocator rounds up to.
        at.offset_from(block.start) == Some(COUNT_WORD)
            && count > 0
            && bytes.is_some_and(|bytes| bytes <= room && room.saturating_sub(bytes) <= bytes)
    }

    fn propose(&mut self, block: TableBlock, ty: u32, leader: &Leader, path: &str) {
        if let Some(role) = self.role(block, ty) {
            self.claim(block.number, Claim { ty, role }, leader, path);
        }
    }

    /// How a type stands in a block to whose begin a pointer of it leads; `None` if there is no room for it.
    fn role(&mut self, block: TableBlock, ty: u32) -> Option<BlockRole> {
        let usable = self.found.table.size(block.number);
        let known = self.found.types.get(ty).map(|known| (known.shape, known.size));
        let (shape, size) = known.filter(|(_, size)| *size <= usable)?;
        Some(match shape {
            Shape::Pointer => BlockRole::Array,
            _ if self.found.types.is_unsized(ty) => BlockRole::Object,
            _ if is_single(size, usable) => BlockRole::Object,
            Shape::Plain => BlockRole::Array,
            Shape::Composite if self.looks_like_array(block, ty, usable) => BlockRole::Array,
            Shape::Composite => BlockRole::Beginning,
        })
    }

    /// Whether what follows the first object is more of them: a pointer leads to one that follows, and the pointers of
    /// all are ones, but for a rest. A larger object that begins with a smaller one may have any size.
    fn looks_like_array(&mut self, block: TableBlock, ty: u32, usable: u64) -> bool {
        let layout = self.found.types.layout(self.core, ty);
        let size = self.found.types.get(ty).map_or(0, |known| known.size);
        // One pointer alone is the link of a larger object as well.
        let is_told = self.elements.contains(&(block.number, ty));
        if !is_told || layout.is_empty() || size <= COUNT_WORD {
            return false;
        }
        let count = usable.checked_div(size).unwrap_or(0).min(PROBES);
        let is_one = |index: u64| {
            let at = block.start.saturating_add(index.saturating_mul(size));
            let words = self.words(&ObjectPlace::Memory(at), size, &layout);
            words.is_some_and(|words| words.iter().all(|to| self.may_be_pointer(*to)))
        };
        let sound = (0..count).take_while(|index| is_one(*index)).count() as u64;
        count >= 2 && sound.saturating_mul(4) >= count.saturating_mul(3)
    }

    fn may_be_pointer(&self, to: Addr) -> bool {
        to.get() == 0 || self.core.space().slice(to).is_ok()
    }

    /// Sets the type of a block, if the claim says more than the one before; two that say as much are a dispute.
    fn claim(&mut self, number: u32, claim: Claim, leader: &Leader, path: &str) {
        let Some(new) = self.found.types.get(claim.ty) else { return };
        let (strength, size) = (claim.strength(new), new.size);
        let Some(old_claim) = self.found.claim(number) else {
            self.set(number, claim, leader, path);
            return;
        };
        let Some(old) = self.found.types.get(old_claim.ty).filter(|_| old_claim != claim) else {
            return;
        };
        let (before, old_size) = (old_claim.strength(old), old.size);
        let is_more = (strength, size) > (before, old_size);
        // What containers say of their own, and pointers to characters, is beyond dispute.
        let is_sure = strength.max(before) > 2 || strength.min(before) == 0;
        let types = &mut self.found.types;
        let (large, small) =
            if size >= old_size { (claim.ty, old_claim.ty) } else { (old_claim.ty, claim.ty) };
        let agree = is_sure || types.begins_with(self.core, large, small);
        if !agree {
            self.found.disputed.set(number);
        }
        if strength > before || (is_more && agree && strength == before && strength < 3) {
            self.set(number, claim, leader, path);
        }
    }

    fn set(&mut self, number: u32, claim: Claim, leader: &Leader, path: &str) {
        self.found.set(number, claim, leader, path);
        if claim.role != BlockRole::Part {
            self.waiting.push_back(Visit::Block(number));
        }
    }
}

impl Leader {
    /// The same, by a member of it.
    fn with(&self, path: &Arc<str>) -> Self {
        match self {
            Self::Variable { name, is_pointer } if !path.is_empty() => {
                Self::Variable { name: self.joined(name, path), is_pointer: *is_pointer }
            }
            _ => self.clone(),
        }
    }

    /// The same, of what the member points to.
    fn behind_pointer(self) -> Self {
        match self {
            Self::Variable { name, .. } => Self::Variable { name, is_pointer: true },
            other => other,
        }
    }
}
