//! `std::future`, `shared_future` and `promise`: whether the result is there, and what it is.

use kcore_mem::Addr;
use kcore_symbols::{Type, TypeKind};

use crate::{
    Content, Field, Object, VariantValue,
    eval::Evaluator,
    printers::{Printer, find::aligned},
};

/// In `__state_` of libc++: the value was made, and the result is ready (`__assoc_sub_state`).
const CONSTRUCTED: u64 = 1;
const READY: u64 = 4;

/// A result that may come later.
pub struct Future;

impl Printer for Future {
    fn families(&self) -> &'static [&'static str] {
        &["std::future", "std::shared_future", "std::promise"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let result = evaluator.argument(&object.ty, 0)?;
        let state = evaluator.dig(object, &["_M_state", "_M_future", "__state_"])?;
        let at = Addr::new(evaluator.number(&evaluator.dig_pointer(&state)?)?);
        if at.get() == 0 {
            return Some(variant("no state", None));
        }
        match evaluator.dig(&state, &["_M_ptr"]) {
            Some(state) => libstdcxx(evaluator, &state, &result),
            None => libcxx(evaluator, &state, at, &result),
        }
    }
}

fn variant(name: &str, value: Option<crate::Value>) -> Content {
    let field = value.map(|value| Field { name: None, is_base: false, value });
    Content::Variant(VariantValue { name: name.into(), fields: field.into_iter().collect() })
}

/// `_State_baseV2`, whose `_M_result` owns a `_Result_base` once it is ready: a table of virtual functions and the
/// exception, behind which `_Result<T>` has the value.
fn libstdcxx(evaluator: &mut Evaluator<'_>, state: &Object, result: &Type) -> Option<Content> {
    let state = state.target(evaluator.process()).ok()?;
    let is_ready = evaluator.number_in(&state, &["_M_status"])? & 1 != 0;
    let held = evaluator.dig_pointer(&evaluator.dig(&state, &["_M_result"])?)?;
    let held = held.pointer(evaluator.process()).ok()?;
    if !is_ready || held.get() == 0 {
        return Some(variant("pending", None));
    }
    let links = evaluator.word().checked_mul(2)?;
    let exception = evaluator.pointer_at(held, evaluator.word())?;
    let value = held.checked_add(aligned(links, evaluator.alignment(result)))?;
    ready(evaluator, result, exception, value)
}

/// `__assoc_sub_state`; `__assoc_state<T>` has the value as `__value_`. clang may only declare both.
fn libcxx(
    evaluator: &mut Evaluator<'_>,
    pointer: &Object,
    at: Addr,
    result: &Type,
) -> Option<Content> {
    let state = pointer.target(evaluator.process()).ok()?;
    let flags = evaluator.number_in(&state, &["__state_"])?;
    if flags & READY == 0 {
        return Some(variant("pending", None));
    }
    let exception = evaluator.pointer_in(&state, &["__exception_"])?;
    if flags & CONSTRUCTED == 0 || is_void(result) || exception.get() != 0 {
        return ready(evaluator, result, exception, at);
    }
    let value = evaluator.dig(&state, &["__value_"])?.address()?;
    ready(evaluator, result, exception, value)
}

/// What came: a value, nothing, or what was thrown.
fn ready(
    evaluator: &mut Evaluator<'_>,
    result: &Type,
    exception: Addr,
    at: Addr,
) -> Option<Content> {
    if exception.get() != 0 {
        let thrown = evaluator.process().type_named(result, "std::__exception_ptr::exception_ptr");
        let value = thrown.map(|ty| {
            let of_pointer = Object::of_number(
                ty,
                u128::from(exception.get()),
                evaluator.process().space().target(),
            );
            evaluator.value(&of_pointer)
        });
        return Some(variant("exception", value));
    }
    if is_void(result) {
        return Some(variant("ready", None));
    }
    let value = evaluator.value(&Object::at(result.clone(), at));
    Some(variant("ready", Some(value)))
}

fn is_void(ty: &Type) -> bool {
    ty.stripped().is_ok_and(|ty| matches!(ty.kind(), TypeKind::Void))
}
