//! The names by which printers know types.

use kcore_symbols::{Language, Member, Type, TypeKind};

/// Crates whose types have families.
const CRATES: &[&str] = &["core", "alloc", "std", "hashbrown"];

/// Other crates of which some types have printers: the family is named after the crate.
const OTHER_CRATES: &[&str] = &["chrono", "dashmap", "uuid"];

/// The family of a type, if its last name `is_known`.
///
/// Of C++ it is the qualified name without arguments, and in the standard library without inline
/// namespaces (`std::__1`, `std::__cxx11`, `std::__debug`). Types of Rust's own crates move between modules
/// from release to release: `Vec` of any of these is `rust::Vec`.
pub fn of(ty: &Type, is_known: &dyn Fn(&str) -> bool) -> Option<String> {
    if let Some(family) = by_structure(ty) {
        return Some(family.to_owned());
    }
    let last = without_arguments(ty.name()?);
    if !is_known(last) {
        return None;
    }
    let scope = ty.scope();
    let mut parts: Vec<&str> = scope.iter().map(|part| &**part).collect();
    let first = parts.first().copied().unwrap_or_default();
    if ty.language() == Some(Language::Rust) {
        if OTHER_CRATES.contains(&first) {
            return Some(format!("{first}::{last}"));
        }
        return CRATES.contains(&first).then(|| format!("rust::{last}"));
    }
    parts.retain(|part| !(first == "std" && part.starts_with("__")));
    parts.push(last);
    let parts: Vec<&str> = parts.into_iter().map(without_arguments).collect();
    Some(parts.join("::"))
}

/// Families that are known by their members: pointers of Rust with a length or a table beside them, slices of D, and
/// all of Go, which names its types after what they hold.
fn by_structure(ty: &Type) -> Option<&'static str> {
    let (family, language) = match ty.kind() {
        TypeKind::Composite(composite) => by_members(&composite.members)?,
        TypeKind::Pointer(_) => (by_pointee(ty.name()?)?, Language::Go),
        _ => return None,
    };
    // What was made by a descriptor is Go's, and nothing else of these members is made.
    let is_made = ty.id().is_none() && language == Language::Go;
    (is_made || ty.language() == Some(language)).then_some(family)
}

fn by_members(members: &[Member]) -> Option<(&'static str, Language)> {
    let name = |index: usize| members.get(index).and_then(|member| member.name.as_deref());
    Some(match (name(0)?, name(1)?, name(2), members.len()) {
        ("data_ptr", "length", None, 2) => ("rust::[]", Language::Rust),
        ("pointer", "vtable", None, 2) => ("rust::dyn", Language::Rust),
        ("str", "len", None, 2) => ("go::string", Language::Go),
        ("_type", "data", None, 2) => ("go::eface", Language::Go),
        ("tab", "data", None, 2) => ("go::iface", Language::Go),
        ("length", "ptr", None, 2) => ("d::[]", Language::D),
        ("array", "len", Some("cap"), 3) => ("go::[]", Language::Go),
        _ => return None,
    })
}

/// Maps and channels of Go are pointers to structures of these names.
fn by_pointee(name: &str) -> Option<&'static str> {
    let pointee = name.strip_prefix('*')?;
    let families = [("hash<", "go::hash"), ("map<", "go::map"), ("hchan<", "go::hchan")];
    families.into_iter().find_map(|(start, family)| pointee.starts_with(start).then_some(family))
}

/// A name up to the arguments of its template.
fn without_arguments(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_no_part_of_a_family() {
        assert_eq!(without_arguments("vector<int, std::allocator<int> >"), "vector");
        assert_eq!(without_arguments("String"), "String");
    }
}
