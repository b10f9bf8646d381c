//! What `*` of Rust leads to from a type that implements `Deref`, where memory tells: from owners and guards of the
//! standard library and of crates of locks.

use kcore_symbols::{Language, Type, TypeKind};

use super::containers;
use crate::{Object, Process};

/// Types that are shown as a pointer to what they lead to.
const OWNERS: &[&str] = &["Rc", "Arc", "UniqueRc", "UniqueArc", "Pin"];

/// A guard, by the crate that defines it: the members that lead to what it guards, `*` for what a pointer points to.
struct Guard {
    crates: &'static [&'static str],
    name: &'static str,
    /// Of one release or another.
    routes: &'static [&'static [&'static str]],
}

const STD: &[&str] = &["std", "core"];
const LOCK_API: &[&str] = &["lock_api"];

/// A pointer that is never null, and a reference as releases before had it.
const POINTER_TO_DATA: &[&[&str]] = &[&["data", "pointer", "*"], &["data", "*"]];
const POINTER_TO_VALUE: &[&[&str]] = &[&["value", "pointer", "*"], &["value", "*"]];

const GUARDS: &[Guard] = &[
    // std::sync::poison, std::cell and core::mem of Rust 1.60 to 1.9x.
    guard(STD, "MutexGuard", &[&["lock", "*", "data", "value"]]),
    guard(STD, "MappedMutexGuard", POINTER_TO_DATA),
    guard(STD, "RwLockReadGuard", &[&["data", "pointer", "*"], &["lock", "*", "data", "value"]]),
    guard(STD, "RwLockWriteGuard", &[&["lock", "*", "data", "value"]]),
    guard(STD, "MappedRwLockReadGuard", POINTER_TO_DATA),
    guard(STD, "MappedRwLockWriteGuard", POINTER_TO_DATA),
    guard(STD, "ReentrantLockGuard", &[&["lock", "*", "data"]]),
    guard(STD, "Ref", POINTER_TO_VALUE),
    guard(STD, "RefMut", POINTER_TO_VALUE),
    guard(STD, "ManuallyDrop", &[&["value"]]),
    guard(STD, "AssertUnwindSafe", &[&["0"]]),
    // lock_api 0.4, which parking_lot is made of.
    guard(LOCK_API, "MutexGuard", &[&["mutex", "*", "data", "value"]]),
    guard(LOCK_API, "ReentrantMutexGuard", &[&["remutex", "*", "data", "value"]]),
    guard(LOCK_API, "RwLockReadGuard", &[&["rwlock", "*", "data", "value"]]),
    guard(LOCK_API, "RwLockWriteGuard", &[&["rwlock", "*", "data", "value"]]),
    guard(LOCK_API, "RwLockUpgradableReadGuard", &[&["rwlock", "*", "data", "value"]]),
    // tokio 1.
    guard(&["tokio"], "MutexGuard", &[&["lock", "*", "c", "value"]]),
];

const fn guard(
    crates: &'static [&'static str],
    name: &'static str,
    routes: &'static [&'static [&'static str]],
) -> Guard {
    Guard { crates, name, routes }
}

/// Whether the type of an object is one of Rust.
pub fn is_rust(object: &Object) -> bool {
    object.ty.language() == Some(Language::Rust)
}

/// What an owner, a guard or a fat pointer of Rust leads to; `None` of anything else, of plain pointers too, and where it
/// cannot be told.
pub fn find(process: &dyn Process, object: &Object) -> Option<Object> {
    let ty = object.complete_type(process).ok()?;
    if ty.language() != Some(Language::Rust) || ty.composite().is_none() {
        return None;
    }
    if is_fat(&ty) {
        return slice(process, object).or_else(|| containers::owned(process, object).ok());
    }
    let name = ty.name()?.split('<').next()?;
    let scope = ty.scope();
    let of = &**scope.first()?;
    if OWNERS.contains(&name) && matches!(of, "alloc" | "core") {
        let pointer = object.member(process, "ptr").and_then(|it| it.member(process, "pointer"));
        let held = pointer.ok().and_then(|pointer| behind_counts(process, &pointer));
        return held.or_else(|| containers::owned(process, object).ok());
    }
    let guard = GUARDS.iter().find(|guard| guard.name == name && guard.crates.contains(&of))?;
    guard.routes.iter().find_map(|route| follow(process, object, route))
}

fn follow(process: &dyn Process, object: &Object, route: &[&str]) -> Option<Object> {
    let mut at = object.clone();
    for step in route {
        at = match *step {
            // What a fat pointer leads to has no type: it is the pointer itself that tells its length.
            "*" if at.complete_type(process).is_ok_and(|ty| is_fat(&ty)) => find(process, &at)?,
            "*" => at.target(process).ok()?,
            member => at.member(process, member).ok()?,
        };
    }
    // Newer releases wrap what is dropped by hand once more.
    match at.ty.name().is_some_and(|name| name.starts_with("MaybeDangling<")) {
        true => at.member(process, "0").ok(),
        false => Some(at),
    }
}

/// Whether something stands beside the pointer: a length, or a table of functions.
fn is_fat(ty: &Type) -> bool {
    let members = ty.composite().map(|composite| composite.members.as_slice()).unwrap_or_default();
    let name = |index: usize| members.get(index)?.name.as_deref();
    members.len() == 2
        && matches!(
            (name(0), name(1)),
            (Some("data_ptr"), Some("length")) | (Some("pointer"), Some("vtable"))
        )
}

/// The array that a pointer with a length beside it leads to; text is what it is already.
fn slice(process: &dyn Process, pointer: &Object) -> Option<Object> {
    let first = pointer.member(process, "data_ptr").ok()?.target(process).ok()?;
    let length = pointer.member(process, "length").ok()?.number(process).ok()?.unsigned()?;
    match containers::is_text(process, pointer) {
        true => Some(pointer.clone()),
        false => Some(first.cast(first.ty.array(Some(length)))),
    }
}

/// The text or the array that lies behind counts of owners.
fn behind_counts(process: &dyn Process, pointer: &Object) -> Option<Object> {
    let length = pointer.member(process, "length").ok()?.number(process).ok()?.unsigned()?;
    let counted = pointer.member(process, "data_ptr").ok()?.target(process).ok()?;
    let held =
        counted.member(process, "value").or_else(|_| counted.member(process, "data")).ok()?;
    let ty = held.complete_type(process).ok()?;
    let element = match ty.kind() {
        TypeKind::Array(array) => ty.follow(&array.element).ok()?,
        _ => held.ty.clone(),
    };
    if pointer.ty.name().is_some_and(|name| name.contains("Inner<str")) {
        let text = process.type_named(&pointer.ty, "&str")?;
        let bits = u128::from(length).checked_shl(64)? | u128::from(held.address()?.get());
        return Some(Object::of_number(text, bits, process.space().target()));
    }
    Some(held.cast(element.array(Some(length))))
}
