//! Pointers with a table of functions beside them: `&dyn Trait`, `Box<dyn Trait>`. The table tells the
//! true type.

use kcore_mem::Addr;
use kcore_symbols::Type;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// A pointer to a trait object.
pub struct TraitObject;

impl Printer for TraitObject {
    fn families(&self) -> &'static [&'static str] {
        &["rust::dyn"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let at = evaluator.pointer_in(object, &["pointer"])?;
        let name = object.ty.name()?;
        let owns = name.starts_with('&') || name.starts_with("alloc::boxed::Box<");
        match true_type(evaluator, object) {
            Some(ty) => concrete(evaluator, Object::at(ty, at), owns, Vec::new()),
            None => Some(evaluator.bare(at, Vec::new())),
        }
    }
}

/// The type that the table beside a pointer belongs to.
fn true_type(evaluator: &Evaluator<'_>, pointer: &Object) -> Option<Type> {
    let table: Addr = evaluator.pointer_in(pointer, &["vtable"])?;
    evaluator.process().type_of_vtable(table)
}

/// A pointer to an object whose true type is known.
pub fn concrete(
    evaluator: &mut Evaluator<'_>,
    target: Object,
    owns: bool,
    counts: Vec<(&'static str, u64)>,
) -> Option<Content> {
    let content = match owns {
        true => evaluator.owner(&target, counts)?,
        false => evaluator.bare(target.address()?, counts),
    };
    match content {
        Content::Pointer(mut pointer) => {
            pointer.dynamic = Some(target.ty);
            Some(Content::Pointer(pointer))
        }
        other => Some(other),
    }
}
