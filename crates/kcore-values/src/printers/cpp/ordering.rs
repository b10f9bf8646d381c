//! What comparisons give: `std::strong_ordering` and its like.

use crate::{Content, Object, VariantValue, eval::Evaluator, printers::Printer};

/// The result of a comparison.
pub struct Ordering;

impl Printer for Ordering {
    fn families(&self) -> &'static [&'static str] {
        &["std::strong_ordering", "std::weak_ordering", "std::partial_ordering"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let result = evaluator.dig(object, &["_M_value", "__value_"])?;
        let result = result.number(evaluator.process()).ok()?.value()?;
        let name = name_of(object.ty.name()?, result)?;
        Some(Content::Variant(VariantValue { name: name.into(), fields: Vec::new() }))
    }
}

/// The number that stands for values that cannot be compared: 2 in libstdc++ up to gcc 15, -128 behind it, -127 in
/// libc++.
const UNORDERED: [i128; 3] = [2, -127, -128];

fn name_of(class: &str, result: i128) -> Option<&'static str> {
    Some(match result {
        -1 => "less",
        0 if class == "strong_ordering" => "equal",
        0 => "equivalent",
        1 => "greater",
        other if class == "partial_ordering" && UNORDERED.contains(&other) => "unordered",
        _ => return None,
    })
}
