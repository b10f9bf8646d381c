//! The names by which printers know types.

use kcore_symbols::{Language, Type};

/// Crates whose types have families.
const CRATES: &[&str] = &["core", "alloc", "std", "hashbrown"];

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
    let first = *parts.first()?;
    if ty.language() == Some(Language::Rust) {
        return CRATES.contains(&first).then(|| format!("rust::{last}"));
    }
    parts.retain(|part| !(first == "std" && part.starts_with("__")));
    parts.push(last);
    Some(parts.join("::"))
}

/// Families that are known by their members: pointers of Rust with a length or a table beside them.
fn by_structure(ty: &Type) -> Option<&'static str> {
    let [first, second] = ty.composite()?.members.as_slice() else { return None };
    let family = match (first.name.as_deref()?, second.name.as_deref()?) {
        ("data_ptr", "length") => "rust::[]",
        ("pointer", "vtable") => "rust::dyn",
        _ => return None,
    };
    (ty.language() == Some(Language::Rust)).then_some(family)
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
