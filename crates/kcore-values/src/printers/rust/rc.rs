//! `Rc`, `Arc` and their `Weak`: a pointer to counts with the value behind them.

use kcore_mem::Addr;
use kcore_symbols::TypeKind;

use super::{
    slice::{is_text, pointee},
    trait_object::concrete,
};
use crate::{
    Content, Object, Pointee, Pointer,
    eval::{Evaluator, valued},
    printers::{Printer, find::aligned, owner::Counts},
};

/// What an observer leads to that never observed anything.
const NEVER: Addr = Addr::new(u64::MAX);

/// One of the owners of a value, or an observer of it.
pub struct Rc;

impl Printer for Rc {
    fn families(&self) -> &'static [&'static str] {
        &["rust::Rc", "rust::Arc", "rust::Weak"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let is_owner = !object.ty.name()?.starts_with("Weak");
        let pointer = evaluator.member(&evaluator.member(object, "ptr")?, "pointer")?;
        let at = Addr::new(evaluator.dig_number(&pointer)?);
        if !is_owner && at == NEVER {
            return Some(Content::Other("dangling".to_owned()));
        }
        let counts = counts(evaluator, at)?;
        match (evaluator.pointer_in(&pointer, &["vtable"]), is_owner) {
            (Some(table), _) => trait_object(evaluator, table, at, is_owner, counts),
            (None, true) => owned(evaluator, object, &pointer, counts),
            (None, false) => Some(evaluator.bare(held(evaluator, &pointer)?.address()?, counts)),
        }
    }
}

/// Two words: owners, and observers with one for all owners together.
fn counts(evaluator: &Evaluator<'_>, at: Addr) -> Option<Counts> {
    let strong = evaluator.pointer_at(at, 0)?.get();
    let weak = evaluator.pointer_at(at, evaluator.word())?.get();
    let weak = if strong > 0 { weak.checked_sub(1)? } else { weak };
    Some(vec![("strong", strong), ("weak", weak)])
}

/// The value stands behind the counts where its alignment lets it, the third word of its table.
fn trait_object(
    evaluator: &mut Evaluator<'_>,
    table: Addr,
    at: Addr,
    is_owner: bool,
    counts: Counts,
) -> Option<Content> {
    let counted = evaluator.word().checked_mul(2)?;
    let alignment = evaluator.pointer_at(table, counted)?.get();
    let at = at.checked_add(aligned(counted, alignment))?;
    match evaluator.process().type_of_vtable(table) {
        Some(ty) => concrete(evaluator, Object::at(ty, at), is_owner, counts),
        None => Some(evaluator.bare(at, counts)),
    }
}

/// What stands behind the counts; of a slice, its first element.
fn held(evaluator: &Evaluator<'_>, pointer: &Object) -> Option<Object> {
    let thin = evaluator.dig_pointer(pointer)?;
    let inner = thin.target(evaluator.process()).ok()?;
    evaluator.member(&inner, "value").or_else(|| evaluator.member(&inner, "data"))
}

/// A value of known size, or text or a slice as long as the number beside the pointer says.
fn owned(
    evaluator: &mut Evaluator<'_>,
    object: &Object,
    pointer: &Object,
    counts: Counts,
) -> Option<Content> {
    let held = held(evaluator, pointer)?;
    let Some(length) = evaluator.member(pointer, "length") else {
        return evaluator.owner(&held, counts);
    };
    let length = evaluator.number(&length)?;
    let content = match is_text(pointee(object.ty.name()?)) {
        Some(has_nul) => {
            evaluator.text(held.address()?, length.checked_sub(u64::from(has_nul))?, 1)?
        }
        None => slice(evaluator, &held, length)?,
    };
    let value = valued(&held, content);
    let Content::Pointer(pointer) = evaluator.bare(held.address()?, counts) else { return None };
    let pointee = Some(Pointee::Value(Box::new(value)));
    Some(Content::Pointer(Pointer { pointee, ..pointer }))
}

/// Elements whose number stands beside the pointer.
fn slice(evaluator: &mut Evaluator<'_>, held: &Object, length: u64) -> Option<Content> {
    let ty = evaluator.complete(&held.ty)?;
    let element = match ty.kind() {
        TypeKind::Array(array) => ty.follow(&array.element).ok()?,
        _ => ty,
    };
    evaluator.contiguous(&element, held.address()?, length)
}
