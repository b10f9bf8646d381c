//! The types that blocks may have, by numbers.

use std::sync::Arc;

use kcore_symbols::{Type, TypeIdentity, TypeKind};
use kcore_values::HolderKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Core,
    what_type::{TypeLayout, inner_member, layout_of},
};

/// Types that are told apart; all others are not known.
const MAX_TYPES: u32 = 1 << 20;
/// Base classes within base classes that a table of virtual functions is looked for in.
const MAX_DEPTH: usize = 16;

/// What a type is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A number: `char *` leads to anything.
    Plain,
    /// A pointer.
    Pointer,
    /// A structure, class or union, and anything else.
    Composite,
}

/// A type.
pub struct KnownType {
    /// The type. A structure without a name is behind its typedef.
    pub ty: Type,
    /// As a program spells it.
    pub name: Arc<str>,
    /// Bytes of an object.
    pub size: u64,
    /// What it is made of.
    pub shape: Shape,
    /// Whether its objects tell of which class they are.
    pub has_table: bool,
    layout: Option<Arc<KnownLayout>>,
}

/// Where objects of a type lead to others.
#[derive(Default)]
pub struct KnownLayout {
    pub slots: Vec<KnownSlot>,
    pub holders: Vec<KnownHolder>,
}

/// A pointer of a type.
pub struct KnownSlot {
    pub offset: u64,
    pub path: Arc<str>,
    /// The number of the type that it points to.
    pub to: u32,
    /// The index of the container that it is a part of.
    pub container: Option<usize>,
}

/// A container, or an enumeration with data, in a type.
pub struct KnownHolder {
    pub offset: u64,
    pub path: Arc<str>,
    pub ty: Type,
    pub kind: HolderKind,
    /// The number of its type.
    pub number: u32,
}

impl KnownLayout {
    /// Whether objects lead nowhere.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.holders.is_empty()
    }
}

/// The types that were met.
#[derive(Default)]
pub struct KnownTypes {
    all: Vec<KnownType>,
    numbers: FxHashMap<TypeIdentity, u32>,
    /// Whether objects of one type begin with one of another.
    begins: FxHashMap<(u32, u32), bool>,
}

impl KnownTypes {
    /// The number of a type; that of a type without a size is the number of none.
    pub fn number(&mut self, ty: &Type) -> u32 {
        if let Some(number) = self.numbers.get(&ty.identity()) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(MAX_TYPES);
        let known = KnownType::of(ty).filter(|_| number < MAX_TYPES);
        let Some(known) = known else { return MAX_TYPES };
        // Its identity is that of the type as long as the type lives: it is kept.
        self.numbers.insert(known.ty.identity(), number);
        self.all.push(known);
        number
    }

    /// The type of a number.
    pub fn get(&self, number: u32) -> Option<&KnownType> {
        self.all.get(number as usize)
    }

    /// Where objects of a type lead.
    pub fn layout(&mut self, core: &Core, number: u32) -> Arc<KnownLayout> {
        let Some(known) = self.get(number) else { return Arc::default() };
        if let Some(layout) = &known.layout {
            return Arc::clone(layout);
        }
        let of_type = layout_of(core, &known.ty);
        let layout = Arc::new(self.numbered(of_type));
        if let Some(known) = self.all.get_mut(number as usize) {
            known.layout = Some(Arc::clone(&layout));
        }
        layout
    }

    /// The same, of a type whose layout was asked for before.
    pub fn known_layout(&self, number: u32) -> Option<&KnownLayout> {
        self.get(number)?.layout.as_deref()
    }

    fn numbered(&mut self, layout: TypeLayout) -> KnownLayout {
        let holders: Vec<KnownHolder> = layout
            .holders
            .into_iter()
            .map(|holder| KnownHolder {
                offset: holder.offset,
                path: holder.path,
                number: self.number(&holder.ty),
                ty: holder.ty,
                kind: holder.kind,
            })
            .collect();
        let container = |offset: u64| {
            let holds = |holder: &KnownHolder| {
                let within = offset.checked_sub(holder.offset);
                holder.kind != HolderKind::Variants
                    && within.is_some_and(|it| holder.ty.size().is_some_and(|size| it < size))
            };
            holders.iter().position(holds)
        };
        let slots = layout.pointers.into_iter().map(|slot| KnownSlot {
            offset: slot.offset,
            path: slot.path,
            to: self.number(&slot.to),
            container: container(slot.offset),
        });
        let slots: Vec<KnownSlot> = slots.collect();
        KnownLayout { slots: self.undisputed(slots), holders }
    }

    /// Without the members of unions at one place that point to different types: which of them counts, nothing tells.
    fn undisputed(&self, mut slots: Vec<KnownSlot>) -> Vec<KnownSlot> {
        let mut first: FxHashMap<u64, u32> = FxHashMap::default();
        let mut disputed: FxHashSet<u64> = FxHashSet::default();
        for slot in slots.iter().filter(|slot| slot.container.is_none()) {
            let other = *first.entry(slot.offset).or_insert(slot.to);
            if !self.is_called_as(other, slot.to) {
                disputed.insert(slot.offset);
            }
        }
        slots.retain(|slot| slot.container.is_some() || !disputed.contains(&slot.offset));
        slots
    }

    /// Whether two types are called the same.
    fn is_called_as(&self, one: u32, other: u32) -> bool {
        let name = |number| self.get(number).map(|known| &known.name);
        one == other || (name(one).is_some() && name(one) == name(other))
    }

    /// Whether an object of a type of Rust takes all of its block: a counted slice, text or object of a trait has no size
    /// of its own.
    pub fn is_unsized(&self, number: u32) -> bool {
        const COUNTED: [&str; 3] =
            ["alloc::sync::ArcInner<", "alloc::rc::RcBox<", "alloc::rc::RcInner<"];
        let Some(known) = self.get(number) else { return false };
        let inner = COUNTED.iter().find_map(|counted| known.name.strip_prefix(counted));
        inner.is_some_and(|inner| {
            inner.starts_with("dyn ") || inner.starts_with("str>") || is_slice(inner)
        })
    }

    /// Whether objects of one type begin with one of another, or both are called the same.
    pub fn begins_with(&mut self, core: &Core, whole: u32, part: u32) -> bool {
        let is_known = self.begins.get(&(whole, part)).copied();
        is_known.unwrap_or_else(|| {
            let begins = self.looks_begun_with(core, whole, part);
            self.begins.insert((whole, part), begins);
            begins
        })
    }

    fn looks_begun_with(&self, core: &Core, whole: u32, part: u32) -> bool {
        let (Some(whole), Some(part)) = (self.get(whole), self.get(part)) else { return false };
        let is_part = |ty: &Type| *ty.spelled() == *part.name;
        whole.name == part.name
            || inner_member(core, &whole.ty, 0, &|ty| !is_part(ty)).is_some_and(|inner| {
                is_part(&inner.ty) || inner.ty.stripped().is_ok_and(|it| is_part(&it))
            })
    }
}

/// Whether a name begins with that of a slice, `[T]`, and not with that of an array, `[T; 3]`.
fn is_slice(name: &str) -> bool {
    let Some(inner) = name.strip_prefix('[') else { return false };
    let mut depth = 1_u32;
    for sign in inner.chars() {
        match sign {
            '[' => depth = depth.saturating_add(1),
            ']' => depth = depth.saturating_sub(1),
            ';' if depth == 1 => return false,
            _ => {}
        }
        if depth == 0 {
            return true;
        }
    }
    false
}

impl KnownType {
    fn of(ty: &Type) -> Option<Self> {
        let whole = ty.stripped().ok()?;
        let size = whole.size().filter(|size| *size > 0)?;
        let shape = match whole.kind() {
            TypeKind::Base(_) | TypeKind::Enumeration(_) => Shape::Plain,
            TypeKind::Pointer(_) | TypeKind::MemberPointer(_) => Shape::Pointer,
            _ => Shape::Composite,
        };
        let has_table = has_table(&whole, MAX_DEPTH);
        Some(Self {
            ty: ty.clone(),
            name: ty.spelled().into(),
            size,
            shape,
            has_table,
            layout: None,
        })
    }
}

/// Whether a class, or one of its bases, has virtual functions.
fn has_table(ty: &Type, depth: usize) -> bool {
    let (Some(depth), Some(composite)) = (depth.checked_sub(1), ty.composite()) else {
        return false;
    };
    composite.is_dynamic
        || composite.bases.iter().any(|base| {
            let class = ty.follow(&base.ty).and_then(|class| class.stripped());
            class.is_ok_and(|class| has_table(&class, depth))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_told_from_arrays() {
        assert!(is_slice("[u8]>") && is_slice("[[u8; 4]]>") && is_slice("[alloc::vec::Vec<[u8]>]"));
        assert!(
            !is_slice("[u8; 3]>") && !is_slice("[[u8]; 2]") && !is_slice("[u8") && !is_slice("u8")
        );
    }
}
