//! Members of types, by their names.

use kcore_symbols::{MemberPlace, Type, TypeKind};

/// Types within types that are looked into, and members of one search.
const MAX_DEPTH: usize = 16;
const MAX_MEMBERS: usize = 1024;

/// Where a member lies that is reached by names from one type to the next, in bytes from the beginning of the first, and its
/// type. Members of base classes count.
pub fn member(ty: &Type, path: &[&str]) -> Option<(u64, Type)> {
    path.iter().try_fold((0_u64, ty.stripped().ok()?), |(offset, ty), name| {
        let (within, ty) = own_member(&ty, name, MAX_DEPTH)?;
        Some((offset.checked_add(within)?, ty))
    })
}

/// The offset alone.
pub fn offset(ty: &Type, path: &[&str]) -> Option<u64> {
    member(ty, path).map(|(offset, _)| offset)
}

/// What a pointer or a reference leads to.
pub fn pointee(ty: &Type) -> Option<Type> {
    match ty.kind() {
        TypeKind::Pointer(pointer) => ty.follow(&pointer.to).ok()?.stripped().ok(),
        _ => None,
    }
}

fn own_member(ty: &Type, name: &str, depth: usize) -> Option<(u64, Type)> {
    let depth = depth.checked_sub(1)?;
    let composite = ty.composite()?;
    let mut members = composite.members.iter();
    if let Some(member) = members.find(|member| member.name.as_deref() == Some(name)) {
        let MemberPlace::Offset(offset) = member.place else { return None };
        return Some((offset, ty.follow(&member.ty).ok()?.stripped().ok()?));
    }
    composite.bases.iter().find_map(|base| {
        let MemberPlace::Offset(offset) = base.place else { return None };
        let class = ty.follow(&base.ty).ok()?.stripped().ok()?;
        let (within, found) = own_member(&class, name, depth)?;
        Some((offset.checked_add(within)?, found))
    })
}

/// Where the first pointer lies in a type, however deep, to a type whose name begins so.
pub fn pointer_to(ty: &Type, name: &str) -> Option<u64> {
    let mut left = MAX_MEMBERS;
    search(ty, name, 0, MAX_DEPTH, &mut left)
}

fn search(ty: &Type, name: &str, offset: u64, depth: usize, left: &mut usize) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    *left = left.checked_sub(1)?;
    let ty = ty.stripped().ok()?;
    if let Some(to) = pointee(&ty) {
        return to.name().is_some_and(|it| it.starts_with(name)).then_some(offset);
    }
    let composite = ty.composite()?;
    let bases = composite.bases.iter().map(|base| (&base.ty, &base.place));
    let members = composite.members.iter().map(|member| (&member.ty, &member.place));
    bases.chain(members).find_map(|(link, place)| {
        let MemberPlace::Offset(within) = place else { return None };
        search(&ty.follow(link).ok()?, name, offset.checked_add(*within)?, depth, left)
    })
}
