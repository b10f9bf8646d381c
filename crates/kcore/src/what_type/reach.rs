//! All objects that variables lead to, nearest first.

use std::{collections::VecDeque, ops::Range, sync::Arc};

use kcore_mem::Addr;
use kcore_symbols::{DieId, Type};
use kcore_values::{HolderKind, Object, ObjectPlace};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Evidence, TypeGuess,
    pointers::{PointerSlot, TypeLayout, layout_of, member_at},
    roots::Root,
};
use crate::Core;

/// Objects that are looked at, at most.
const MAX_OBJECTS: usize = 1 << 20;
/// Bytes of one object that are read for its pointers.
const MAX_SIZE: u64 = 1 << 20;
/// What all containers hold that is looked at, and one of them: a variable that was never set may be a ring of links.
const MAX_HELD: u64 = 1 << 22;
const MAX_HELD_BY_ONE: u64 = 1 << 16;
/// Objects between two questions whether to go on.
const BATCH: usize = 1 << 10;

/// A visit of objects, one after the other.
pub struct Reach<R> {
    roots: R,
    waiting: VecDeque<Visit>,
    ways: Vec<ReachStep>,
    seen: FxHashSet<(Addr, u64)>,
    layouts: FxHashMap<TypeKey, Arc<TypeLayout>>,
    held_left: u64,
}

/// An object that is to be looked at, and the way that led to it.
struct Visit {
    object: Object,
    size: u64,
    way: usize,
}

/// How one gets to an object.
struct ReachStep {
    /// The way to the object that points to it, or that holds it; `None` of a variable.
    from: Option<usize>,
    /// The variable's name, or the path of the pointer or the container in that object.
    text: Arc<str>,
    /// Whether a container holds it.
    is_held: bool,
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
            layouts: FxHashMap::default(),
            held_left: MAX_HELD,
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
            self.follow(core, &visit, at);
        }
    }

    /// The next object: a variable, as long as there are any.
    fn next(&mut self) -> Option<Visit> {
        let Some(root) = self.roots.next() else { return self.waiting.pop_front() };
        let way = self.ways.len();
        self.ways.push(ReachStep { from: None, text: root.name.into(), is_held: false });
        let size = root.object.ty.size().unwrap_or(0);
        Some(Visit { object: root.object, size, way })
    }

    /// Remembers what an object points to, and what its containers hold.
    fn follow(&mut self, core: &Core, visit: &Visit, at: Addr) {
        let layout = self.layout(core, &visit.object.ty);
        let is_plain = layout.pointers.is_empty() && layout.holders.is_empty();
        if is_plain || visit.size > MAX_SIZE || self.seen.len() >= MAX_OBJECTS {
            return;
        }
        let told = self.hold(core, visit, &layout, at);
        let Ok(bytes) = visit.object.place.read(core, visit.size) else { return };
        for slot in &layout.pointers {
            if told.iter().any(|buffer| buffer.contains(&slot.offset)) {
                continue;
            }
            if let Some(to) = word_at(core, &bytes, slot.offset).filter(|to| to.get() != 0) {
                self.reach(core, to, slot, visit.way);
            }
        }
    }

    /// Remembers what the containers of an object hold, as far as it leads on or holds `at`. Answers where in the object
    /// those lie whose pointers tell no more than their elements: one leads behind the last.
    fn hold(
        &mut self,
        core: &Core,
        visit: &Visit,
        layout: &TypeLayout,
        at: Addr,
    ) -> Vec<Range<u64>> {
        let mut told = Vec::new();
        for holder in &layout.holders {
            let place = visit.object.place.part(holder.offset);
            let container = Object { ty: holder.ty.clone(), place };
            let most = self.held_left.min(MAX_HELD_BY_ONE);
            let Some(held) = container.held(core, most) else { continue };
            self.held_left = self.held_left.saturating_sub(held.len() as u64);
            if holder.kind != HolderKind::Variants {
                let size = holder.ty.size().unwrap_or(0);
                told.push(holder.offset..holder.offset.saturating_add(size));
            }
            for object in held {
                self.take_held(core, object, &holder.path, visit.way, at);
            }
        }
        told
    }

    fn take_held(&mut self, core: &Core, object: Object, path: &Arc<str>, from: usize, at: Addr) {
        let object = object.whole(core);
        let (Some(size), Some(base)) = (object.ty.size(), object.address()) else { return };
        let holds = at.offset_from(base).is_some_and(|offset| offset < size);
        let leads = || {
            let layout = self.layouts.get(&key_of(&object.ty));
            layout.is_none_or(|layout| !layout.pointers.is_empty() || !layout.holders.is_empty())
        };
        if (holds || leads()) && self.seen.len() < MAX_OBJECTS && self.seen.insert((base, size)) {
            self.layout(core, &object.ty);
            let way = self.ways.len();
            self.ways.push(ReachStep { from: Some(from), text: Arc::clone(path), is_held: true });
            self.waiting.push_back(Visit { object, size, way });
        }
    }

    fn reach(&mut self, core: &Core, to: Addr, slot: &PointerSlot, from: usize) {
        let object = Object { ty: slot.to.clone(), place: ObjectPlace::Memory(to) }.whole(core);
        let (Some(size), Some(at)) = (object.ty.size(), object.address()) else { return };
        if core.space().origin(at).is_ok() && self.seen.insert((at, size)) {
            let way = self.ways.len();
            self.ways.push(ReachStep {
                from: Some(from),
                text: Arc::clone(&slot.path),
                is_held: false,
            });
            self.waiting.push_back(Visit { object, size, way });
        }
    }

    fn layout(&mut self, core: &Core, ty: &Type) -> Arc<TypeLayout> {
        match key_of(ty) {
            (_, None) => layout_of(core, ty).into(),
            key => {
                let layout = self.layouts.entry(key);
                Arc::clone(layout.or_insert_with(|| layout_of(core, ty).into()))
            }
        }
    }

    fn evidence(&self, way: usize) -> Evidence {
        match self.ways.get(way) {
            Some(ReachStep { from: Some(from), text, is_held: false }) => {
                Evidence::Pointer(self.expression(*from, text))
            }
            Some(ReachStep { from: Some(from), text, is_held: true }) => {
                Evidence::Element(self.expression(*from, text))
            }
            Some(ReachStep { from: None, text, .. }) => Evidence::Variable(text.to_string()),
            None => Evidence::VirtualTable,
        }
    }

    /// The member at `path` of the object to which a way leads, as C writes it; `[]` is an element of a container.
    fn expression(&self, way: usize, path: &str) -> String {
        let (mut parts, mut way) = (vec![path.to_owned()], self.ways.get(way));
        while let Some(ReachStep { from, text, is_held }) = way {
            // What is pointed to has its members behind an arrow.
            if let (Some(_), Some(last)) = (from, parts.last_mut()) {
                *last = match last.strip_prefix('.') {
                    _ if *is_held => format!("[]{last}"),
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

fn key_of(ty: &Type) -> TypeKey {
    (ty.debug_info().map_or(0, |info| Arc::as_ptr(info).addr()), ty.id())
}

/// The pointer at an offset of what was read.
fn word_at(core: &Core, bytes: &[u8], offset: u64) -> Option<Addr> {
    let (start, size) = (usize::try_from(offset).ok()?, core.target().word_size());
    let word = bytes.get(start..start.checked_add(size)?)?;
    Some(Addr::new(core.target().uint(word)))
}
