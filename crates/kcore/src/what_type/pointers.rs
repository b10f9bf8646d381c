//! Where objects of a type have pointers, and which member lies at an offset.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kcore_mem::Addr;
use kcore_symbols::{Dimension, MemberPlace, Type, TypeIdentity, TypeKind};
use kcore_values::{HolderKind, Object, ObjectPlace};

use crate::Core;

/// Structures and arrays within one another that are looked into.
const MAX_DEPTH: usize = 24;
/// Pointers of one type.
const MAX_POINTERS: usize = 1 << 14;
/// Parts of one type that are searched for pointers.
const MAX_LOOKS: usize = 1 << 18;
/// Elements of an array that are looked into.
const MAX_ELEMENTS: u64 = 1 << 12;

/// A pointer in an object.
#[derive(Clone, Debug)]
pub struct PointerSlot {
    /// Bytes from the beginning of the object.
    pub offset: u64,
    /// The path of the member, as it stands behind the object: `.next`; empty if the object is a pointer.
    pub path: Arc<str>,
    /// What it points to.
    pub to: Type,
}

/// A part of an object that holds more than its members tell: see [`HolderKind`].
#[derive(Clone, Debug)]
pub struct HolderSlot {
    /// Bytes from the beginning of the object.
    pub offset: u64,
    /// The path of the member, as that of a pointer.
    pub path: Arc<str>,
    /// Its type, behind aliases.
    pub ty: Type,
    /// What it is.
    pub kind: HolderKind,
}

/// Where objects of a type lead to others.
#[derive(Clone, Debug, Default)]
pub struct TypeLayout {
    /// The pointers to objects, those in containers as well.
    pub pointers: Vec<PointerSlot>,
    /// The containers, none within another, and the enumerations with data.
    pub holders: Vec<HolderSlot>,
}

/// Where objects of a type lead to others.
pub fn layout_of(core: &Core, ty: &Type) -> TypeLayout {
    let mut collector = Collector {
        core,
        found: TypeLayout::default(),
        is_in_container: false,
        looks: 0,
        has: HashMap::new(),
    };
    collector.collect(ty, 0, &mut String::new(), MAX_DEPTH);
    collector.found
}

/// The layout of one type under construction.
struct Collector<'a> {
    core: &'a Core,
    found: TypeLayout,
    /// Whether what is looked at is a part of a container.
    is_in_container: bool,
    /// Parts that were looked at.
    looks: usize,
    /// Whether a structure has pointers. Those without are not searched again: a type may occur in others
    /// any number of times.
    has: HashMap<TypeIdentity, bool>,
}

impl Collector<'_> {
    fn collect(&mut self, ty: &Type, offset: u64, path: &mut String, depth: usize) {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.goes_on()) else { return };
        let Ok(ty) = ty.stripped() else { return };
        if let TypeKind::Pointer(_) = ty.kind() {
            let to = ty.target().ok().flatten().and_then(|to| named(self.core, to));
            let path = path.as_str().into();
            self.found.pointers.extend(to.map(|to| PointerSlot { offset, path, to }));
            return;
        }
        let kind = HolderKind::of(&ty).filter(|_| !self.is_in_container);
        if let Some(kind) = kind {
            let (path, ty) = (path.as_str().into(), ty.clone());
            self.found.holders.push(HolderSlot { offset, path, ty, kind });
        }
        if !self.has_pointers(&ty, depth) {
            return;
        }
        let is_container = matches!(kind, Some(HolderKind::Buffer | HolderKind::Nodes));
        self.is_in_container |= is_container;
        each_part(self.core, &ty, |part| {
            let len = path.len();
            path.push_str(&part.name);
            if let Some(offset) = offset.checked_add(part.offset) {
                self.collect(&part.ty, offset, path, depth);
            }
            path.truncate(len);
        });
        self.is_in_container &= !is_container;
    }

    fn goes_on(&mut self) -> bool {
        self.looks = self.looks.saturating_add(1);
        let found = self.found.pointers.len().max(self.found.holders.len());
        found < MAX_POINTERS && self.looks < MAX_LOOKS
    }

    /// Whether there is a pointer, or an enumeration with data, anywhere in a type.
    fn has_pointers(&mut self, ty: &Type, depth: usize) -> bool {
        let (Some(depth), Ok(ty)) = (depth.checked_sub(1), ty.stripped()) else { return false };
        match ty.kind() {
            TypeKind::Pointer(_) => true,
            TypeKind::Array(_) => {
                let element = ty.target().ok().flatten();
                element.is_some_and(|element| self.has_pointers(&element, depth))
            }
            TypeKind::Composite(_) => {
                if let Some(has) = self.has.get(&ty.identity()) {
                    return *has;
                }
                // A type that contains itself adds nothing to itself.
                self.has.insert(ty.identity(), false);
                if HolderKind::of(&ty).is_some() {
                    self.has.insert(ty.identity(), true);
                    return true;
                }
                let mut parts = Vec::new();
                each_part(self.core, &ty, |part| parts.push(part.ty));
                let has = parts.iter().any(|part| self.has_pointers(part, depth));
                self.has.insert(ty.identity(), has);
                has
            }
            _ => false,
        }
    }
}

/// The path of the innermost member that lies at an offset of an object.
pub fn member_at(core: &Core, ty: &Type, offset: u64) -> Option<String> {
    inner_member(core, ty, offset, &|_| true).map(|member| member.path)
}

/// A member at any depth.
pub struct InnerMember {
    /// The way to it, as it stands behind the object: `.a.b[0x3]`.
    pub path: String,
    /// Its type.
    pub ty: Type,
    /// Bytes from its start to the offset that was asked for.
    pub rest: u64,
}

/// The innermost member that lies at an offset of an object, inside of types alone that `enters` answers true for.
pub fn inner_member(
    core: &Core,
    ty: &Type,
    offset: u64,
    enters: &dyn Fn(&Type) -> bool,
) -> Option<InnerMember> {
    let (mut ty, mut rest, mut path) = (ty.clone(), offset, String::new());
    let mut seen = HashSet::new();
    for _ in 0..MAX_DEPTH {
        let Ok(stripped) = ty.stripped() else { break };
        // A structure that contains itself is damaged debug information.
        if stripped.composite().is_some() && !seen.insert(stripped.identity()) {
            break;
        }
        let mut inner = None;
        if enters(&stripped) {
            each_part(core, &stripped, |part| {
                let within = rest.checked_sub(part.offset);
                let size = part.ty.size().unwrap_or(0);
                if let Some(within) = within.filter(|within| *within < size) {
                    inner.get_or_insert((part, within));
                }
            });
        }
        let Some((part, within)) = inner else { break };
        path.push_str(&part.name);
        (ty, rest) = (part.ty, within);
    }
    (!path.is_empty()).then_some(InnerMember { path, ty, rest })
}

/// A member, base class or element.
struct Part {
    /// As it stands behind what it is a part of.
    name: String,
    offset: u64,
    ty: Type,
}

/// Calls `each` with the parts of a type that has any.
fn each_part(core: &Core, ty: &Type, mut each: impl FnMut(Part)) {
    match ty.kind() {
        TypeKind::Composite(_) => each_member(core, ty, &mut each),
        TypeKind::Array(_) => each_element(ty, &mut each),
        _ => {}
    }
}

fn each_member(core: &Core, ty: &Type, each: &mut impl FnMut(Part)) {
    let Some(whole) = complete(core, ty) else { return };
    let Some(composite) = whole.composite() else { return };
    let bases = composite.bases.iter().map(|base| (String::new(), &base.ty, &base.place));
    let named = composite.members.iter().map(|member| {
        let name = member.name.as_deref().map(|name| format!(".{name}"));
        (name.unwrap_or_default(), &member.ty, &member.place)
    });
    for (name, link, place) in bases.chain(named) {
        if let (MemberPlace::Offset(offset), Ok(ty)) = (place, whole.follow(link))
            && !(name.is_empty() && is_hollow(core, &ty, &mut HashSet::new()))
        {
            each(Part { name, offset: *offset, ty });
        }
    }
}

/// Whether a base class has nothing in it: it shares its place with what follows it.
fn is_hollow(core: &Core, ty: &Type, seen: &mut HashSet<TypeIdentity>) -> bool {
    let whole = complete(core, ty);
    let Some((ty, composite)) = whole.as_ref().and_then(|ty| Some((ty, ty.composite()?))) else {
        return false;
    };
    if !composite.members.is_empty() || seen.len() >= MAX_DEPTH {
        return false;
    }
    // A type seen before is hollow: the first that is not ends the search.
    if !seen.insert(ty.identity()) {
        return true;
    }
    let mut bases = composite.bases.iter().filter_map(|base| ty.follow(&base.ty).ok());
    bases.all(|base| is_hollow(core, &base, seen))
}

fn each_element(ty: &Type, each: &mut impl FnMut(Part)) {
    let Some(element) = ty.target().ok().flatten() else { return };
    let TypeKind::Array(array) = ty.kind() else { return };
    // Elements of Fortran have indices of their own, and may lie elsewhere.
    if array.layout.is_some() {
        return;
    }
    let Some(size) = array.stride.or_else(|| element.size()) else { return };
    let count = array.dimensions.iter().try_fold(1_u64, |all, dimension| match dimension {
        Dimension::Count(count) => all.checked_mul(*count),
        _ => None,
    });
    for index in 0..count.unwrap_or(0).min(MAX_ELEMENTS) {
        if let Some(offset) = index.checked_mul(size) {
            each(Part { name: subscripts(index, &array.dimensions), offset, ty: element.clone() });
        }
    }
}

/// An element of an array as C writes it, the index of the outermost dimension first: `[0x1][0x2]`.
fn subscripts(index: u64, dimensions: &[Dimension]) -> String {
    let (mut rest, mut text) = (index, String::new());
    for (number, dimension) in dimensions.iter().enumerate().rev() {
        let count = match dimension {
            Dimension::Count(count) if number > 0 => *count,
            _ => u64::MAX,
        };
        let here = rest.checked_rem(count).unwrap_or(0);
        text.insert_str(0, &format!("[{here:#x}]"));
        rest = rest.checked_div(count).unwrap_or(0);
    }
    text
}

/// The definition of what a pointer points to, if it has a size. A structure without a name is what its typedef is called.
fn named(core: &Core, to: Type) -> Option<Type> {
    let whole = complete(core, &to)?;
    let has_name = whole.name().is_some() || whole.composite().is_none();
    if has_name { Some(whole) } else { to.unqualified().ok() }
}

/// The definition of a type, if it has a size; none of `void` and functions.
fn complete(core: &Core, ty: &Type) -> Option<Type> {
    let place = ObjectPlace::Memory(Addr::new(0));
    let ty = Object { ty: ty.clone(), place }.complete_type(core).ok()?;
    ty.size().is_some_and(|size| size > 0).then_some(ty)
}

#[cfg(test)]
mod tests {
    use kcore_symbols::Dimension::{Count, Open};

    use super::subscripts;

    #[test]
    fn elements_have_an_index_for_each_dimension() {
        assert_eq!(subscripts(5, &[Count(8)]), "[0x5]");
        assert_eq!(subscripts(13, &[Count(3), Count(4), Count(2)]), "[0x1][0x2][0x1]");
        assert_eq!(subscripts(23, &[Count(3), Count(4), Count(2)]), "[0x2][0x3][0x1]");
        assert_eq!(subscripts(5, &[Open, Count(3)]), "[0x1][0x2]");
        assert_eq!(subscripts(0, &[Count(0), Count(0)]), "[0x0][0x0]");
    }
}
