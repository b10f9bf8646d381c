//! The names by which printers know types.

use kcore_symbols::Type;

/// The family of a type, if its last name `is_known`: its qualified name without arguments, and of the
/// standard library of C++ without inline namespaces (`std::__1`, `std::__cxx11`, `std::__debug`).
pub fn of(ty: &Type, is_known: &dyn Fn(&str) -> bool) -> Option<String> {
    let last = without_arguments(ty.name()?);
    // Some names of Rust bring their scopes with them.
    let (_, own) = last.rsplit_once("::").unwrap_or(("", last));
    if !is_known(own) {
        return None;
    }
    let scope = ty.scope();
    let mut parts: Vec<&str> = scope.iter().map(|part| &**part).collect();
    let is_std = parts.first().is_some_and(|first| *first == "std");
    parts.retain(|part| !(is_std && part.starts_with("__")));
    parts.push(last);
    Some(parts.join("::"))
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
