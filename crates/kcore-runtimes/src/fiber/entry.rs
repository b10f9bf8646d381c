//! What a fiber was made to run: the type of its `boost::fibers::worker_context` says so.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};
use rustc_hash::FxHashMap;

use super::layout::Layout;
use crate::Host;

/// What the table of virtual functions of such a type is called, before what is run.
const TABLE: &str = "vtable for boost::fibers::worker_context<";
/// What `std::bind` makes of a function in libstdc++.
const BOUND: &str = "std::_Bind<";

/// What a fiber runs.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The function, if it was given one, alone or bound to arguments.
    pub function: Option<Addr>,
    /// The type of what it was given: a function, a lambda, an object.
    pub callable: Option<Arc<str>>,
}

/// Types by their tables of virtual functions.
#[derive(Default)]
pub struct Entries {
    callables: FxHashMap<Addr, Option<Arc<str>>>,
}

impl Entries {
    /// What a fiber of a program's runs.
    pub fn of(&mut self, host: &dyn Host, layout: &Layout, fiber: Addr) -> Entry {
        let Ok(table) = host.space().read_addr(fiber) else { return Entry::default() };
        let callable = self.callables.entry(table).or_insert_with(|| callable(host, table)).clone();
        let has_function = callable.as_deref().is_some_and(begins_with_function);
        let function = has_function.then(|| first_word(host.space(), layout, fiber)).flatten();
        let is_code = |at: &Addr| host.range_at(*at).is_some_and(|mapping| mapping.executable);
        Entry { function: function.filter(is_code), callable }
    }
}

fn first_word(space: &dyn AddressSpace, layout: &Layout, fiber: Addr) -> Option<Addr> {
    space.read_addr(fiber.checked_add(layout.size)?).ok()
}

/// The type of what is run by contexts of a table of virtual functions.
fn callable(host: &dyn Host, table: Addr) -> Option<Arc<str>> {
    let module = host.module_at(table)?;
    let symbol = module.symbols().function_at(module.svma(table)?)?;
    let arguments = symbol.name.strip_prefix(TABLE)?;
    Some(first_argument(arguments).into())
}

/// The first of the arguments of a template, which end with its `>`.
fn first_argument(arguments: &str) -> &str {
    let end = outer(arguments).find(|(_, it)| matches!(it, ',' | '>'));
    arguments.get(..end.map_or(arguments.len(), |(at, _)| at)).unwrap_or(arguments).trim_end()
}

/// The characters of a type that are in no brackets of its, and those that open or close such.
fn outer(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut depth = 0_usize;
    text.char_indices().filter(move |(_, it)| {
        let is_outer = depth == 0;
        match it {
            '<' | '(' | '{' | '[' => depth = depth.saturating_add(1),
            '>' | ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_outer
    })
}

/// Whether an object of a type begins with a pointer to a function: it is one, or a function bound to arguments.
fn begins_with_function(callable: &str) -> bool {
    let opens = |text: &str, with: &[&str]| {
        let rests = outer(text).filter_map(|(at, _)| text.get(at..));
        rests.into_iter().any(|rest| with.iter().any(|with| rest.starts_with(with)))
    };
    match callable.strip_prefix(BOUND) {
        Some(bound) => opens(bound, &["(*("]),
        None => opens(callable, &["(*)(", "(&)("]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_from_objects() {
        let plain = "void (*)(int, std::pair<int, long>), int>";
        assert_eq!(first_argument(plain), "void (*)(int, std::pair<int, long>)");
        assert_eq!(
            first_argument("std::_Bind<void (*(int))(int)> >"),
            "std::_Bind<void (*(int))(int)>"
        );
        assert!(begins_with_function("void (*)(int)") && begins_with_function("int (&)()"));
        assert!(begins_with_function("std::_Bind<void (*(int))(int)>"));
        assert!(!begins_with_function("main::{lambda(void (*)(int))#1}"));
        assert!(!begins_with_function("std::function<void (*)(int)>"));
        assert!(!begins_with_function("std::_Bind<Object (void (*)(int))>"));
        assert_eq!(first_argument("main::{lambda()#2}>"), "main::{lambda()#2}");
    }
}
