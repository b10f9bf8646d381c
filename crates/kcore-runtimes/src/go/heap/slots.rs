//! The words of a type's values that refer to others.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use kcore_mem::{Addr, AddressSpace};
use rustc_hash::FxBuildHasher;

use crate::go::{
    tables::Tables,
    type_shape::{Field, MAX_NESTED, MapShape, Shape, Shaped},
};

/// Words of one type, at most. What lies behind them is not told.
const MAX_SLOTS: usize = 1 << 12;

/// A word of a type's values, or the first one of several, that refers to something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Where it lies.
    pub offset: u64,
    /// What it refers to.
    pub to: Target,
    /// Its path of fields and elements, without the name of the type.
    pub path: String,
}

impl Slot {
    /// Where the word lies that is a pointer: the second one of an interface.
    pub fn data_offset(&self) -> u64 {
        match self.to {
            Target::Interface => self.offset.saturating_add(DATA),
            _ => self.offset,
        }
    }
}

/// The offset of the pointer in an interface.
const DATA: u64 = 8;

/// What a word refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A value of a type.
    Value(Addr),
    /// Values of a type; the word behind it but one says for how many there is room.
    Slice(Addr),
    /// The bytes of a text.
    Text,
    /// What the interface holds that begins here.
    Interface,
    /// A map.
    Map(MapShape),
    /// A channel of elements of a type.
    Channel(Addr),
    /// A function with what it holds on to.
    Function,
    /// Something.
    Unknown,
}

/// A type, with the words that refer to others.
#[derive(Debug)]
pub struct Words {
    /// The type.
    pub shaped: Arc<Shaped>,
    /// Its words that refer to something, lowest first.
    pub slots: Vec<Slot>,
}

/// Fields of all types, at most, and steps that it takes to find the words of one type.
const MAX_FIELDS: usize = 1 << 20;
const MAX_STEPS: usize = 1 << 16;

type Remembered<T> = RwLock<HashMap<Addr, Option<Arc<T>>, FxBuildHasher>>;

/// Types that were read.
pub struct TypeReader<'a> {
    pub space: &'a dyn AddressSpace,
    pub tables: &'a Tables,
    shapes: Remembered<Shaped>,
    words: Remembered<Words>,
    /// Fields that were read.
    fields: AtomicUsize,
}

/// The words of a type that are being found.
struct Finding {
    slots: Vec<Slot>,
    path: String,
    steps: usize,
}

impl<'a> TypeReader<'a> {
    pub fn new(space: &'a dyn AddressSpace, tables: &'a Tables) -> Self {
        Self {
            space,
            tables,
            shapes: RwLock::default(),
            words: RwLock::default(),
            fields: AtomicUsize::new(0),
        }
    }

    /// The type at an address.
    pub fn shaped(&self, at: Addr) -> Option<Arc<Shaped>> {
        remembered(&self.shapes, at, || {
            let shaped = Shaped::load(self.space, self.tables, at)?;
            let count = match &shaped.shape {
                Shape::Structure(fields) => fields.len(),
                _ => 0,
            };
            let before = self.fields.fetch_add(count, Ordering::Relaxed);
            (before < MAX_FIELDS).then_some(shaped)
        })
    }

    /// The type at an address, with its words that refer to others.
    pub fn words(&self, at: Addr) -> Option<Arc<Words>> {
        remembered(&self.words, at, || {
            let shaped = self.shaped(at)?;
            let mut found = Finding { slots: Vec::new(), path: String::new(), steps: MAX_STEPS };
            self.add(&shaped, 0, MAX_NESTED, &mut found);
            Some(Words { shaped, slots: found.slots })
        })
    }

    fn add(&self, shaped: &Shaped, offset: u64, depth: usize, found: &mut Finding) {
        let to = match &shaped.shape {
            Shape::Plain => return,
            Shape::Structure(fields) => return self.add_fields(fields, offset, depth, found),
            Shape::Array(element, count) => {
                return self.add_elements(*element, *count, offset, depth, found);
            }
            Shape::Text => Target::Text,
            Shape::Interface(_) => Target::Interface,
            Shape::Pointer(ty) => Target::Value(*ty),
            Shape::Unsafe => Target::Unknown,
            Shape::Function => Target::Function,
            Shape::Channel(ty) => Target::Channel(*ty),
            Shape::Slice(ty) => Target::Slice(*ty),
            Shape::Map(map) => Target::Map(*map),
        };
        if found.slots.len() < MAX_SLOTS {
            found.slots.push(Slot { offset, to, path: found.path.clone() });
        }
    }

    fn add_fields(&self, fields: &[Field], offset: u64, depth: usize, found: &mut Finding) {
        for field in fields {
            let dot = if found.path.is_empty() { "" } else { "." };
            let at = offset.saturating_add(field.offset);
            self.add_part(field.ty, at, format_args!("{dot}{}", field.name), depth, found);
        }
    }

    fn add_elements(&self, ty: Addr, count: u64, offset: u64, depth: usize, found: &mut Finding) {
        let Some(size) = self.shaped(ty).map(|element| element.ty.size) else { return };
        for index in 0..count {
            let before = found.slots.len();
            let at = offset.saturating_add(index.saturating_mul(size));
            self.add_part(ty, at, format_args!("[{index}]"), depth, found);
            // One without references has none to find in those behind it.
            if found.slots.len() == before {
                return;
            }
        }
    }

    fn add_part(
        &self,
        ty: Addr,
        offset: u64,
        part: std::fmt::Arguments<'_>,
        depth: usize,
        found: &mut Finding,
    ) {
        found.steps = found.steps.saturating_sub(1);
        let goes_on = found.slots.len() < MAX_SLOTS && found.steps > 0;
        let Some(depth) = depth.checked_sub(1).filter(|_| goes_on) else { return };
        let Some(shaped) = self.shaped(ty) else { return };
        let len = found.path.len();
        let _ = found.path.write_fmt(part);
        self.add(&shaped, offset, depth, found);
        found.path.truncate(len);
    }
}

fn remembered<T>(
    known: &Remembered<T>,
    at: Addr,
    load: impl FnOnce() -> Option<T>,
) -> Option<Arc<T>> {
    let found = known.read().unwrap_or_else(PoisonError::into_inner).get(&at).cloned();
    found.unwrap_or_else(|| {
        let loaded = load().map(Arc::new);
        known.write().unwrap_or_else(PoisonError::into_inner).entry(at).or_insert(loaded).clone()
    })
}
