//! All objects that variables lead to, nearest first.

use std::{collections::VecDeque, sync::Arc};

use kcore_mem::Addr;
use kcore_symbols::{DieId, Type};
use kcore_values::{Object, ObjectPlace};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Evidence, TypeGuess,
    pointers::{PointerSlot, member_at, pointers_of},
    roots::Root,
};
use crate::Core;

/// Objects that are looked at, at most.
const MAX_OBJECTS: usize = 1 << 20;
/// Bytes of one object that are read for its pointers.
const MAX_SIZE: u64 = 1 << 20;
/// Objects between two questions whether to go on.
const BATCH: usize = 1 << 10;

/// A visit of objects, one after the other.
pub struct Reach<R> {
    roots: R,
    waiting: VecDeque<Visit>,
    ways: Vec<ReachStep>,
    seen: FxHashSet<(Addr, u64)>,
    pointers: FxHashMap<TypeKey, Arc<[PointerSlot]>>,
}

/// An object that is to be looked at, and the way that led to it.
struct Visit {
    object: Object,
    size: u64,
    way: usize,
}

/// How one gets to an object.
struct ReachStep {
    /// The way to the object that points to it; `None` of a variable.
    from: Option<usize>,
    /// The variable's name, or the path of the pointer in that object.
    text: Arc<str>,
}

/// What tells types apart: the debug information and the entry.
type TypeKey = (usize, Option<DieId>);

impl<R: Iterator<Item = Root>> Reach<R> {
    /// Begins with these variables.
    pub fn from(roots: R) -> Self {
        Self {
            roots,
            waiting: VecDeque::new(),
            ways: Vec::new(),
            seen: FxHashSet::default(),
            pointers: FxHashMap::default(),
        }
    }

    /// Calls `found` with each object that holds `at`, until it says stop, all was visited, or `go_on`
    /// says stop, which is told now and then how many objects were looked at.
    pub fn find(
        &mut self,
        core: &Core,
        at: Addr,
        found: &mut dyn FnMut(TypeGuess) -> bool,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) {
        for looked_at in 0..MAX_OBJECTS {
            let Some(visit) = self.next() else { return };
            if looked_at.is_multiple_of(BATCH) && !go_on(looked_at as u64) {
                return;
            }
            let base = visit.object.address();
            let offset = base.and_then(|base| at.offset_from(base)).filter(|at| *at < visit.size);
            if let (Some(base), Some(offset)) = (base, offset) {
                let ty = visit.object.ty.clone();
                let member = member_at(core, &ty, offset);
                let guess = TypeGuess { base, ty, member, evidence: self.evidence(visit.way) };
                if !found(guess) {
                    return;
                }
            }
            self.follow(core, &visit);
        }
    }

    /// The next object: a variable, as long as there are any.
    fn next(&mut self) -> Option<Visit> {
        let Some(root) = self.roots.next() else { return self.waiting.pop_front() };
        let way = self.ways.len();
        self.ways.push(ReachStep { from: None, text: root.name.into() });
        let size = root.object.ty.size().unwrap_or(0);
        Some(Visit { object: root.object, size, way })
    }

    /// Remembers what an object points to.
    fn follow(&mut self, core: &Core, visit: &Visit) {
        let slots = self.pointers(core, &visit.object.ty);
        if slots.is_empty() || visit.size > MAX_SIZE || self.seen.len() >= MAX_OBJECTS {
            return;
        }
        let Ok(bytes) = visit.object.place.read(core, visit.size) else { return };
        for slot in slots.iter() {
            if let Some(to) = word_at(core, &bytes, slot.offset).filter(|to| to.get() != 0) {
                self.reach(core, to, slot, visit.way);
            }
        }
    }

    fn reach(&mut self, core: &Core, to: Addr, slot: &PointerSlot, from: usize) {
        let object = Object { ty: slot.to.clone(), place: ObjectPlace::Memory(to) }.whole(core);
        let (Some(size), Some(at)) = (object.ty.size(), object.address()) else { return };
        if core.space().origin(at).is_ok() && self.seen.insert((at, size)) {
            let way = self.ways.len();
            self.ways.push(ReachStep { from: Some(from), text: Arc::clone(&slot.path) });
            self.waiting.push_back(Visit { object, size, way });
        }
    }

    fn pointers(&mut self, core: &Core, ty: &Type) -> Arc<[PointerSlot]> {
        let info = ty.debug_info().map_or(0, |info| Arc::as_ptr(info).addr());
        match ty.id() {
            None => pointers_of(core, ty).into(),
            id => self
                .pointers
                .entry((info, id))
                .or_insert_with(|| pointers_of(core, ty).into())
                .clone(),
        }
    }

    fn evidence(&self, way: usize) -> Evidence {
        match self.ways.get(way) {
            Some(ReachStep { from: Some(from), text }) => {
                Evidence::Pointer(self.expression(*from, text))
            }
            Some(ReachStep { from: None, text }) => Evidence::Variable(text.to_string()),
            None => Evidence::VirtualTable,
        }
    }

    /// The member at `path` of the object to which a way leads, as C writes it.
    fn expression(&self, way: usize, path: &str) -> String {
        let (mut parts, mut way) = (vec![path.to_owned()], self.ways.get(way));
        while let Some(ReachStep { from, text }) = way {
            // What is pointed to has its members behind an arrow.
            if let (Some(_), Some(last)) = (from, parts.last_mut()) {
                *last = match last.strip_prefix('.') {
                    Some(member) => format!("->{member}"),
                    None => format!("[0]{last}"),
                };
            }
            parts.push(text.to_string());
            way = from.and_then(|from| self.ways.get(from));
        }
        parts.reverse();
        parts.concat()
    }
}

/// The pointer at an offset of what was read.
fn word_at(core: &Core, bytes: &[u8], offset: u64) -> Option<Addr> {
    let (start, size) = (usize::try_from(offset).ok()?, core.target().word_size());
    let word = bytes.get(start..start.checked_add(size)?)?;
    Some(Addr::new(core.target().uint(word)))
}
