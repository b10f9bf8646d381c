//! `Rc`, `Arc` and their `Weak`: a pointer to counts with the value behind them.

use kcore_mem::Addr;
use kcore_symbols::TypeKind;

use super::trait_object::{concrete, true_type};
use crate::{
    Content, Object, Pointee, Pointer,
    eval::{Evaluator, valued},
    printers::{Printer, find::aligned, owner::Counts},
};

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
        let Some(counts) = counts(evaluator, at) else {
            // An observer that never observed anything.
            return (!is_owner).then(|| evaluator.bare(at, Vec::new()));
        };
        if !is_owner {
            return Some(evaluator.bare(at, counts));
        }
        match evaluator.member(&pointer, "vtable") {
            Some(_) => trait_object(evaluator, &pointer, at, counts),
            None => value(evaluator, object, &pointer, counts),
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

/// The value stands behind the counts where its true type may stand.
fn trait_object(
    evaluator: &mut Evaluator<'_>,
    pointer: &Object,
    at: Addr,
    counts: Counts,
) -> Option<Content> {
    let Some(ty) = true_type(evaluator, pointer) else {
        return Some(evaluator.bare(at, counts));
    };
    let offset = aligned(evaluator.word().checked_mul(2)?, evaluator.alignment(&ty));
    concrete(evaluator, Object::at(ty, at.checked_add(offset)?), true, counts)
}

/// A value of known size, or a slice as long as the number beside the pointer says.
fn value(
    evaluator: &mut Evaluator<'_>,
    object: &Object,
    pointer: &Object,
    counts: Counts,
) -> Option<Content> {
    let thin = evaluator.dig_pointer(pointer)?;
    let inner = thin.target(evaluator.process()).ok()?;
    let held = evaluator.member(&inner, "value").or_else(|| evaluator.member(&inner, "data"))?;
    let Some(length) = evaluator.member(pointer, "length") else {
        return evaluator.owner(&held, counts);
    };
    let length = evaluator.number(&length)?;
    let is_text = evaluator.argument(&object.ty, 0)?.name() == Some("str");
    let content = match is_text {
        true => evaluator.text(held.address()?, length, 1)?,
        false => slice(evaluator, &held, length)?,
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
