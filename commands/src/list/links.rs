//! How the elements of a list are linked, by the types of their members.
//!
//! A member may point to the next element itself, or to the same part of the next element: a link that is
//! embedded in it, such as the kernel's `struct list_head`. The member may be that link as a whole.

use kcore::{Addr, MemberPlace, Object, ObjectPlace, Process, Type, TypeKind};

/// How deep structures within structures are searched.
const MAX_DEPTH: usize = 8;
/// Members of one structure that are searched, at most.
const MAX_PARTS: usize = 1 << 12;

/// How to go from one element to the next.
#[derive(Clone, Debug)]
pub struct Links {
    /// Bytes from the beginning of an element to what pointers to it point to.
    pub base: u64,
    /// Bytes from there to the pointer to the next one, which may lie before it.
    pub next: i64,
    /// The type that pointers point to; `None` where it is not known.
    pub target: Option<Type>,
    /// Whether that is a part of the elements, so that the head of the list looks like one of them.
    pub is_embedded: bool,
}

/// A pointer within a type.
struct LinkPointer {
    at: u64,
    name: String,
    target: Type,
}

impl Links {
    /// How elements of type `element` are linked by `member`. `part` is this member of an element at address 0.
    ///
    /// # Errors
    /// Why the member does not lead to the next element, in words.
    pub fn of(
        process: &dyn Process,
        element: &Type,
        member: &str,
        part: &Object,
    ) -> Result<Self, String> {
        let ObjectPlace::Memory(at) = part.place else {
            return Err(format!("{member} is not a pointer: {}", part.ty.spelled()));
        };
        let at = at.get();
        let ty = part.complete_type(process).map_err(|error| error.to_string())?;
        let mut pointers = Vec::new();
        collect(process, &ty, member, at, MAX_DEPTH, &mut pointers);
        if pointers.is_empty() {
            return match ty.composite().is_some_and(|it| it.variants.is_some()) {
                // An `Option<Box<T>>` of Rust is a pointer that may be null.
                true => Ok(Self::plain(at)),
                false => Err(format!("{member} is not a pointer: {}", part.ty.spelled())),
            };
        }
        let fits = |it: &LinkPointer| embedded(process, element, &it.target, it.at);
        let mut fitting = pointers.iter().filter_map(|it| Some((it, fits(it)?)));
        let found = fitting.clone().find(|(it, _)| it.name.contains("next"));
        let (pointer, base) = found.or_else(|| fitting.next()).ok_or_else(|| {
            let targets: Vec<String> = pointers.iter().map(|it| it.target.spelled()).collect();
            format!("{member} points to {}, and not to {}", targets.join(", "), element.spelled())
        })?;
        let next = pointer.at.cast_signed().wrapping_sub(base.cast_signed());
        let target = &pointer.target;
        let is_void = target.stripped().is_ok_and(|ty| matches!(ty.kind(), TypeKind::Void));
        let is_embedded = !is_void && !is_same(process, target, element);
        Ok(Self { base, next, target: Some(target.clone()), is_embedded })
    }

    /// The links of elements that have a pointer to the next one at this offset.
    pub const fn plain(offset: u64) -> Self {
        Self { base: 0, next: offset.cast_signed(), target: None, is_embedded: false }
    }

    /// Where a head, which is no element itself, points to the first one: a structure of the type that
    /// pointers of the list point to, or one that begins with such a pointer. `None` of what is no head.
    pub fn first_of_head(
        &self,
        process: &dyn Process,
        element: &Type,
        head: &Object,
    ) -> Option<u64> {
        let target = self.target.as_ref()?;
        let ty = head.complete_type(process).ok()?;
        if is_same(process, &ty, element) {
            return None;
        }
        if is_same(process, &ty, target) {
            return u64::try_from(self.next).ok();
        }
        let mut pointers = Vec::new();
        collect(process, &ty, "", 0, MAX_DEPTH, &mut pointers);
        let first = pointers.first().filter(|first| first.at == 0)?;
        is_same(process, &first.target, target).then_some(0)
    }

    /// The element that a pointer to `node` leads to.
    pub const fn element(&self, node: Addr) -> Addr {
        Addr::new(node.get().wrapping_sub(self.base))
    }

    /// What pointers to an element point to.
    pub const fn node(&self, element: Addr) -> Addr {
        Addr::new(element.get().wrapping_add(self.base))
    }

    /// Where the pointer to the next one lies.
    pub const fn pointer(&self, node: Addr) -> Addr {
        Addr::new(node.get().wrapping_add_signed(self.next))
    }
}

/// The pointers in a type, in the order in which they lie, with where they lie and their names.
fn collect(
    process: &dyn Process,
    ty: &Type,
    name: &str,
    at: u64,
    depth: usize,
    found: &mut Vec<LinkPointer>,
) {
    let Some(depth) = depth.checked_sub(1).filter(|_| found.len() < MAX_PARTS) else { return };
    match ty.kind() {
        TypeKind::Pointer(pointer) => {
            if let Ok(target) = ty.follow(&pointer.to) {
                found.push(LinkPointer { at, name: name.to_owned(), target });
            }
        }
        TypeKind::Composite(_) => {
            for (part, name, offset) in parts(process, ty) {
                collect(process, &part, &name, at.saturating_add(offset), depth, found);
            }
        }
        _ => {}
    }
}

/// Where an object of type `wanted` lies in one of type `ty`, so that the byte at `inner` is a part of it.
/// Nothing is known of what a pointer to `void` leads to.
fn embedded(process: &dyn Process, ty: &Type, wanted: &Type, inner: u64) -> Option<u64> {
    let is_void = wanted.stripped().is_ok_and(|ty| matches!(ty.kind(), TypeKind::Void));
    if is_void {
        return Some(0);
    }
    let mut ty = ty.clone();
    let mut at = 0_u64;
    for _ in 0..MAX_DEPTH {
        if is_same(process, &ty, wanted) {
            return Some(at);
        }
        let complete = Object::at(ty, Addr::new(0)).complete_type(process).ok()?;
        let holds = |(part, _, offset): &(Type, String, u64)| {
            let begin = at.saturating_add(*offset);
            let size = part.size().unwrap_or(0);
            inner.checked_sub(begin).is_some_and(|into| into < size)
        };
        let (part, _, offset) = parts(process, &complete).into_iter().find(holds)?;
        at = at.saturating_add(offset);
        ty = part;
    }
    None
}

/// The base classes and members of a structure, with their names and where they lie.
fn parts(process: &dyn Process, ty: &Type) -> Vec<(Type, String, u64)> {
    let Some(composite) = ty.composite() else { return Vec::new() };
    let bases = composite.bases.iter().map(|base| (&base.ty, &base.place, None));
    let members = composite.members.iter().map(|it| (&it.ty, &it.place, it.name.as_deref()));
    let found = bases.chain(members).take(MAX_PARTS).filter_map(|(link, place, name)| {
        let MemberPlace::Offset(offset) = place else { return None };
        let object = Object::at(ty.follow(link).ok()?, Addr::new(0));
        Some((object.complete_type(process).ok()?, name.unwrap_or_default().to_owned(), *offset))
    });
    found.collect()
}

/// Whether two types are the same. Each unit may describe one type again.
fn is_same(process: &dyn Process, one: &Type, other: &Type) -> bool {
    let complete = |ty: &Type| Object::at(ty.clone(), Addr::new(0)).complete_type(process).ok();
    let (Some(one), Some(other)) = (complete(one), complete(other)) else { return false };
    match (one.qualified_name(), other.qualified_name()) {
        (Some(a), Some(b)) => {
            a == b && std::mem::discriminant(one.kind()) == std::mem::discriminant(other.kind())
        }
        _ => one.identity() == other.identity(),
    }
}
