//! Variables of objects: `variable.c`, `shape.h`, `include/ruby/internal/core/robject.h`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    heap::{Heap, OBJECT, Object},
    layout::VariableKind,
};

/// The flag of objects whose variables lie in them.
const EMBED: u32 = 1;
/// Variables of one object, at most.
const MAX_VARIABLES: u64 = 1 << 16;
/// A node of the tree of shapes: `edge_name`, `next_iv_index`, `type`, `parent_id`.
const EDGE: u64 = 8;
const NEXT_INDEX: u64 = 16;
const TYPE: u64 = 24;
const PARENT: u64 = 28;
/// `SHAPE_IVAR`, and the shape of objects that have a table instead.
const IVAR: u64 = 1;
const TOO_COMPLEX: u64 = 4;
/// `INVALID_SHAPE_ID`, of 32 bits.
const NO_SHAPE: u64 = 0xffff_ffff;
/// Shapes of a process, at most: `SHAPE_BUFFER_SIZE` has fewer.
const MAX_SHAPES: u64 = 1 << 20;

/// Variables by name, with their values.
pub type Variables = Vec<(Arc<str>, u64)>;

impl Heap<'_> {
    /// The variables of an object that have a value, in the order of their places.
    pub fn variables(&self, object: Object) -> Option<Variables> {
        (object.kind() == OBJECT).then_some(())?;
        match self.layout.variables {
            VariableKind::Index | VariableKind::Entry => self.indexed(object),
            VariableKind::Shapes(_) => {
                let values = match object.has(EMBED) {
                    true => object.at.checked_add(16)?,
                    false => self.pointer(object.at, 16)?,
                };
                self.shaped(object.flags, values)
            }
            VariableKind::Unknown => None,
        }
    }

    /// By a table of the class.
    fn indexed(&self, object: Object) -> Option<Variables> {
        let (values, count) = match object.has(EMBED) {
            true => (object.at.checked_add(16)?, 3),
            false => (Addr::new(self.word(object.at, 24)?), self.uint(object.at, 16, 4)?),
        };
        let class = self.class(self.real_class(self.class_of(object)?)?)?;
        let extension = self.pointer(class.at, self.layout.class.extension?)?;
        // No variable was ever set in an object of a class without a table.
        let Some(table) = self.pointer(extension, 0) else { return Some(Vec::new()) };
        let mut found = Vec::new();
        for (id, entry) in self.table(table)?.take(usize::try_from(MAX_VARIABLES).ok()?) {
            let index = match self.layout.variables {
                VariableKind::Entry => self.uint(Addr::new(entry), 0, 4)?,
                _ => entry,
            };
            let value = (index < count).then(|| self.word(values, index.checked_mul(8)?)).flatten();
            if let Some(value) = value.filter(|value| *value != self.layout.undef) {
                found.push((index, self.identifier(id)?.into(), value));
            }
        }
        found.sort_unstable_by_key(|(index, ..)| *index);
        Some(found.into_iter().map(|(_, name, value)| (name, value)).collect())
    }

    /// By the shape whose number stands in the flags.
    pub fn shaped(&self, flags: u64, values: Addr) -> Option<Variables> {
        let mut found = Vec::new();
        let mut shape = flags >> 32;
        for _ in 0..MAX_VARIABLES {
            let node = self.shape(shape)?;
            let kind = self.uint(node, TYPE, 1)?;
            (kind != TOO_COMPLEX).then_some(())?;
            if kind == IVAR {
                let index = self.uint(node, NEXT_INDEX, 4)?.checked_sub(1)?;
                let name = self.identifier(self.word(node, EDGE)?)?;
                let value = self.word(values, index.checked_mul(8)?)?;
                found.push((Arc::from(name), value));
            }
            shape = self.uint(node, PARENT, 4)?;
            if shape == NO_SHAPE {
                break;
            }
        }
        found.reverse();
        found.retain(|(_, value)| *value != self.layout.undef);
        Some(found)
    }

    fn shape(&self, number: u64) -> Option<Addr> {
        let VariableKind::Shapes(size) = self.layout.variables else { return None };
        (number < MAX_SHAPES).then_some(())?;
        self.shapes?.checked_add(number.checked_mul(size)?)
    }
}

impl Heap<'_> {
    /// Whether the nodes of a tree of shapes begin at an address: the first one is a root, and those that others grew
    /// from have names.
    pub fn is_shape_list(&self, list: Addr) -> bool {
        let VariableKind::Shapes(size) = self.layout.variables else { return false };
        let node = |number: u64| list.checked_add(number.checked_mul(size)?);
        let is_root =
            self.uint(list, TYPE, 1) == Some(0) && self.uint(list, PARENT, 4) == Some(NO_SHAPE);
        let named =
            (1..MAX_TRIED).filter_map(node).find(|node| self.uint(*node, TYPE, 1) == Some(IVAR));
        is_root
            && named.is_some_and(|node| {
                self.word(node, EDGE).is_some_and(|id| self.identifier(id).is_some())
            })
    }
}

/// Nodes that are looked at to believe a tree.
const MAX_TRIED: u64 = 64;
