//! `std::expected`: a value, or what is there instead.

use crate::{Content, Field, Object, VariantValue, eval::Evaluator, printers::Printer};

/// A value or an error.
pub struct Expected;

impl Printer for Expected {
    fn families(&self) -> &'static [&'static str] {
        &["std::expected"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let (name, members) = match evaluator.number_in(object, &["_M_has_value", "__has_val_"])? {
            0 => ("unexpected", ["_M_unex", "__unex_"]),
            1 => ("expected", ["_M_val", "__val_"]),
            _ => return None,
        };
        // That of `void` has no member for its value.
        let held = evaluator.dig(object, &members);
        let held =
            held.map(|held| Field { name: None, is_base: false, value: evaluator.value(&held) });
        let fields = held.into_iter().collect();
        Some(Content::Variant(VariantValue { name: name.into(), fields }))
    }
}
