//! What an object of C++ is in truth: the derived class that its table of virtual functions names.

use kcore_mem::Addr;
use kcore_symbols::{Composite, MemberPlace, Type};

use super::{Object, complete};
use crate::Process;

/// Base classes within base classes that a table is looked for in.
const MAX_DEPTH: usize = 16;

/// The whole object of which `object` is a base class, by its table of virtual functions. `None` when it
/// has none, or is the whole itself.
pub(crate) fn dynamic_object(object: &Object, process: &dyn Process) -> Option<Object> {
    let ty = complete(&object.ty, process).ok()?;
    let at = object.address().filter(|at| at.get() != 0)?;
    let into = table_place(&ty, process, MAX_DEPTH)?;
    let table = process.space().read_addr(at.checked_add(into)?).ok()?;
    let class = process.type_of_vtable(table)?;
    let whole = at.checked_add(into)?.wrapping_offset(offset_to_top(process, table)?);
    let is_same = whole == at && (class == ty || class.qualified_name() == ty.qualified_name());
    (!is_same).then(|| Object::at(class, whole))
}

impl Object {
    /// The whole object that this one is a base class of; it itself where nothing else is known.
    #[must_use]
    pub fn whole(&self, process: &dyn Process) -> Self {
        dynamic_object(self, process).unwrap_or_else(|| self.clone())
    }
}

/// Two words before the address that objects hold stands how far it is to the beginning of the whole
/// (C++ ABI of Itanium, 2.5.2).
fn offset_to_top(process: &dyn Process, table: Addr) -> Option<i64> {
    let word = i64::from(process.space().target().word);
    let at = table.wrapping_offset(word.checked_mul(-2)?);
    let offset = process.space().read_word(at).ok()?.cast_signed();
    Some(if word == 4 { i64::from(i32::try_from(offset << 32 >> 32).ok()?) } else { offset })
}

/// Where in objects of a class the pointer to its table lies.
fn table_place(ty: &Type, process: &dyn Process, depth: usize) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    let composite = ty.composite()?;
    own_table(composite)
        .or_else(|| {
            composite.bases.iter().find_map(|base| {
                let MemberPlace::Offset(offset) = base.place else { return None };
                let class = complete(&ty.follow(&base.ty).ok()?, process).ok()?;
                table_place(&class, process, depth)?.checked_add(offset)
            })
        })
        .or_else(|| {
            // A class with virtual bases alone has a table all the same, at its beginning.
            composite.bases.iter().any(|base| base.is_virtual).then_some(0)
        })
}

/// The member that compilers call `_vptr.Class` or `_vptr$Class`.
fn own_table(composite: &Composite) -> Option<u64> {
    let is_table = |name: &str| name.starts_with("_vptr");
    let member =
        composite.members.iter().find(|member| member.name.as_deref().is_some_and(is_table))?;
    match member.place {
        MemberPlace::Offset(offset) => Some(offset),
        _ => None,
    }
}
