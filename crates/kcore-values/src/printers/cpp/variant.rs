//! `std::variant`: a union within a union for each alternative.

use super::names::typed_name;
use crate::{Content, Field, Object, VariantValue, eval::Evaluator, printers::Printer};

/// Alternatives that a variant has at most.
const MAX_ALTERNATIVES: u64 = 256;

/// One of several types.
pub struct Variant;

impl Printer for Variant {
    fn families(&self) -> &'static [&'static str] {
        &["std::variant"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let index = evaluator.dig(object, &["_M_index", "__index", "__index_"])?;
        let index = index.number(evaluator.process()).ok()?;
        if index.bits == u128::MAX.checked_shr(128_u32.checked_sub(index.size)?)? {
            return Some(Content::Variant(VariantValue {
                name: "valueless_by_exception".into(),
                fields: Vec::new(),
            }));
        }
        let mut alternatives = evaluator.dig(object, &["_M_u", "__data", "__data_"])?;
        for _ in 0..index.unsigned().filter(|index| *index < MAX_ALTERNATIVES)? {
            let rest = ["_M_rest", "__tail", "__tail_"];
            alternatives = rest.iter().find_map(|rest| evaluator.member(&alternatives, rest))?;
        }
        let first = ["_M_first", "__head", "__head_"];
        let first = first.iter().find_map(|first| evaluator.member(&alternatives, first))?;
        let held = held(evaluator, &first)?;
        let name = typed_name(&evaluator.complete(&held.ty)?.spelled()).into();
        let value = evaluator.value(&held);
        let field = Field { name: None, is_base: false, value };
        Some(Content::Variant(VariantValue { name, fields: vec![field] }))
    }
}

/// The value itself: what is not trivially destroyed lies in bytes of its own (`_Uninitialized`).
fn held(evaluator: &Evaluator<'_>, first: &Object) -> Option<Object> {
    if let Some(value) = evaluator.dig(first, &["__value", "__value_"]) {
        return Some(value);
    }
    let storage = evaluator.member(first, "_M_storage")?;
    let ty = evaluator.complete(&first.ty)?;
    let held = evaluator.argument(&ty, 0)?;
    Some(storage.cast(held))
}
