//! Types of Rust by the tables of functions that stand beside pointers to trait objects. A table has the
//! function that drops a value, or zero where there is nothing to drop, the size and the alignment of
//! values, then the methods (`rustc_middle::ty::vtable`).

use kcore_mem::Addr;
use kcore_symbols::{Type, demangle};

use crate::Core;

/// The function that drops a value, before and after its type.
const DROP: (&str, &str) = ("core::ptr::drop_in_place<", ">");

/// Words of a table before its methods, and methods that are looked at.
const HEAD: u64 = 3;
const MAX_METHODS: u64 = 16;

impl Core {
    /// The type whose methods a table has.
    pub(crate) fn type_of_rust_vtable(&self, table: Addr) -> Option<Type> {
        let named = self.described_by_vtable(table).or_else(|| self.dropped_by_vtable(table));
        named.or_else(|| self.implemented_by_vtable(table))
    }

    /// The type that debug information names for a table: it describes those that are made by code, and
    /// not those of constants.
    fn described_by_vtable(&self, table: Addr) -> Option<Type> {
        let module = self.modules().at(table)?;
        module.symbols().debug_info()?.type_of_vtable(module.svma(table)?)
    }

    /// The type whose values the first function of a table drops.
    fn dropped_by_vtable(&self, table: Addr) -> Option<Type> {
        let (at, name) = self.function_of_vtable(table, 0)?;
        let dropped = name.strip_prefix(DROP.0)?.strip_suffix(DROP.1)?;
        self.sized_by_vtable(table, at, dropped)
    }

    /// The type that implements the first of the methods that is no method of all types.
    fn implemented_by_vtable(&self, table: Addr) -> Option<Type> {
        for index in HEAD..HEAD.saturating_add(MAX_METHODS) {
            let (at, name) = self.function_of_vtable(table, index)?;
            if let Some(implementor) = implementor(&name) {
                return self.sized_by_vtable(table, at, implementor);
            }
        }
        None
    }

    /// A function of a table: where it begins, and its name without parameters.
    fn function_of_vtable(&self, table: Addr, index: u64) -> Option<(Addr, String)> {
        let word = u64::from(self.space().target().word);
        let at = self.space().read_addr(table.checked_add(index.checked_mul(word)?)?).ok()?;
        let mangled = self.symbols().mangled_name(at).filter(|_| at.get() != 0)?;
        Some((at, demangle(mangled.as_bytes()).function))
    }

    /// The type of a name, if values of it have the size that the table says: functions of several types
    /// that have the same code may be one.
    fn sized_by_vtable(&self, table: Addr, near: Addr, name: &str) -> Option<Type> {
        let word = u64::from(self.space().target().word);
        let size = self.space().read_word(table.checked_add(word)?).ok()?;
        let is_it = |ty: &Type| ty.size() == Some(size);
        self.defined(self.debug_info_at(near).as_ref(), name, is_it)
    }
}

/// The type in `<Type as Trait>::method`.
fn implementor(name: &str) -> Option<&str> {
    let inner = name.strip_prefix('<')?;
    let mut depth = 0_u32;
    for (at, c) in inner.char_indices() {
        match c {
            '<' => depth = depth.checked_add(1)?,
            '>' if !inner.get(..at)?.ends_with('-') => depth = depth.checked_sub(1)?,
            ' ' if depth == 0 && inner.get(at..)?.starts_with(" as ") => return inner.get(..at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_name_the_type_that_they_are_of() {
        let name = "<demo::Cat as demo::Animal>::noise";
        assert_eq!(implementor(name), Some("demo::Cat"));
        let name = "<demo::Box<<i32 as A>::B> as demo::Animal>::noise";
        assert_eq!(implementor(name), Some("demo::Box<<i32 as A>::B>"));
        assert_eq!(implementor("demo::Animal::noise"), None);
        assert_eq!(implementor("<demo::Cat>::noise"), None);
    }
}
