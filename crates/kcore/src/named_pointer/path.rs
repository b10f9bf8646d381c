//! Names of memory, and of members behind pointers.

use kcore_mem::Addr;
use kcore_symbols::{Keyword, PointerKind, Type, TypeKind};

use super::NamedPointer;
use crate::{Core, KnownFrames, variables::HeldVariable, what_type::inner_member};

/// The pointer that lies at an address, as a frame names it: a local variable, one of the module's, or a part of either.
pub fn named_at(
    core: &Core,
    frames: &KnownFrames<'_>,
    frame: usize,
    at: Addr,
) -> Option<NamedPointer> {
    let variable = frames.variable_round(frame, at).or_else(|| module_variable(core, at))?;
    let offset = at.offset_from(variable.at?)?;
    let (path, ty) = match (offset, variable.ty.stripped().ok()?.composite()) {
        (0, None) => (String::new(), variable.ty.clone()),
        _ => whole_member(core, &variable.ty, offset)?,
    };
    let value = core.space().read_addr(at).ok()?;
    let name = format!("{}{path}", variable.name);
    Some(NamedPointer { name, ty, at: Some(at), value, depth: variable.depth })
}

/// The variable of a module that lies round an address.
fn module_variable(core: &Core, at: Addr) -> Option<HeldVariable> {
    let symbol =
        core.symbols().at(at).filter(|symbol| symbol.sized && symbol.offset < symbol.size)?;
    let (name, object) = core.named_variable_at(symbol.start)?;
    Some(HeldVariable { name, ty: object.ty, at: Some(symbol.start), value: None, depth: 0 })
}

/// The pointer that lies so many bytes behind what a pointer points to.
pub fn behind(core: &Core, pointer: &NamedPointer, displacement: i64) -> Option<NamedPointer> {
    let offset = u64::try_from(displacement).ok()?;
    let at = pointer.value.checked_add(offset)?;
    let value = core.space().read_addr(at).ok()?;
    let pointee = pointee(&pointer.ty)?;
    let (name, ty) = match (offset, pointee.stripped().ok()?.composite()) {
        (0, None) => (format!("*{}", pointer.name), pointee),
        _ => {
            let (path, ty) = whole_member(core, &pointee, offset)?;
            (member_of(pointer, &path), ty)
        }
    };
    Some(NamedPointer { name, ty, at: Some(at), value, depth: pointer.depth })
}

/// The pointer that lies so many bytes behind the first element of an array that a pointer leads to: `table[3]`,
/// `conns[3].peer`. `factor` is what code multiplied the index by: that of elements of another type is none of theirs.
pub fn element(
    core: &Core,
    pointer: &NamedPointer,
    bytes: u64,
    factor: u64,
) -> Option<NamedPointer> {
    let ty = pointee(&pointer.ty)?;
    let size = ty.stripped().ok()?.size().filter(|size| *size > 0 && factor != 0)?;
    if factor.checked_rem(size) != Some(0) {
        // It may be an element of a member.
        let within = i64::try_from(bytes).ok().filter(|_| bytes < size)?;
        return behind(core, pointer, within);
    }
    let (index, rest) = (bytes.checked_div(size)?, bytes.checked_rem(size)?);
    let at = pointer.value.checked_add(bytes)?;
    let value = core.space().read_addr(at).ok()?;
    let name = match pointer.name.starts_with('*') {
        true => format!("({})[{index}]", pointer.name),
        false => format!("{}[{index}]", pointer.name),
    };
    let (name, ty) = match (rest, ty.stripped().ok()?.composite()) {
        (0, None) => (name, ty),
        _ => {
            let (path, ty) = whole_member(core, &ty, rest)?;
            (format!("{name}{path}"), ty)
        }
    };
    Some(NamedPointer { name, ty, at: Some(at), value, depth: pointer.depth })
}

/// The member of so many bytes that lies so many bytes behind what a pointer points to, as an expression:
/// `conn->peer->len`. `None` if there is no such member, or several are possible.
pub(crate) fn pointee_member(
    core: &Core,
    pointer: &NamedPointer,
    displacement: i64,
    size: u64,
) -> Option<String> {
    let offset = u64::try_from(displacement).ok()?;
    let (path, ty) = whole_member(core, &pointee(&pointer.ty)?, offset)?;
    (ty.stripped().ok()?.size() == Some(size)).then(|| member_of(pointer, &path))
}

/// The innermost member at an offset, if it begins there, no union makes it one of several, and it has a type.
fn whole_member(core: &Core, ty: &Type, offset: u64) -> Option<(String, Type)> {
    let member = inner_member(core, ty, offset, &|ty| is_plain(ty))?;
    (member.rest == 0).then(|| (in_decimal(&member.path), member.ty))
}

/// A path with its subscripts in decimal, as programs have them.
fn in_decimal(path: &str) -> String {
    let mut parts = path.split("[0x");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| {
        let number =
            part.split_once(']').map(|(digits, rest)| (u64::from_str_radix(digits, 16), rest));
        match number {
            Some((Ok(index), rest)) => format!("{path}[{index}]{rest}"),
            _ => format!("{path}[0x{part}"),
        }
    })
}

/// Whether each offset of a type belongs to one member, and that can be named: no union, and no array of arrays.
fn is_plain(ty: &Type) -> bool {
    match ty.kind() {
        TypeKind::Composite(composite) => composite.keyword != Keyword::Union,
        TypeKind::Array(array) => array.dimensions.len() == 1,
        _ => true,
    }
}

fn member_of(pointer: &NamedPointer, path: &str) -> String {
    let is_reference = matches!(
        pointer.ty.stripped().as_ref().map(Type::kind),
        Ok(TypeKind::Pointer(pointer)) if pointer.kind != PointerKind::Pointer
    );
    let name = match pointer.name.starts_with('*') {
        true => format!("({})", pointer.name),
        false => pointer.name.clone(),
    };
    match path.strip_prefix('.').filter(|_| !is_reference) {
        Some(member) => format!("{name}->{member}"),
        None if is_reference => format!("{name}{path}"),
        None => format!("(*{name}){path}"),
    }
}

/// Whether a type is one of pointers or references.
pub fn is_pointer(ty: &Type) -> bool {
    ty.stripped().is_ok_and(|stripped| matches!(stripped.kind(), TypeKind::Pointer(_)))
}

/// What a pointer points to.
pub fn pointee(ty: &Type) -> Option<Type> {
    let stripped = ty.stripped().ok()?;
    match stripped.kind() {
        TypeKind::Pointer(_) => stripped.target().ok().flatten(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::in_decimal;

    #[test]
    fn subscripts_are_decimal() {
        assert_eq!(in_decimal(".table[0x1f].peers[0x2]"), ".table[31].peers[2]");
        assert_eq!(in_decimal(".table"), ".table");
        assert_eq!(in_decimal("[0xzz]"), "[0xzz]");
    }
}
