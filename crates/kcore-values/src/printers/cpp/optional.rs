//! `std::optional`.

use crate::{Content, Field, Object, VariantValue, eval::Evaluator, printers::Printer};

/// A value, or none.
pub struct Optional;

impl Printer for Optional {
    fn families(&self) -> &'static [&'static str] {
        &["std::optional", "std::experimental::optional"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        match evaluator.number_in(object, &["_M_engaged", "__engaged_"])? {
            0 => {
                Some(Content::Variant(VariantValue { name: "nullopt".into(), fields: Vec::new() }))
            }
            1 => {
                let value = evaluator.dig(object, &["_M_value", "__val_"])?;
                let value = evaluator.value(&value);
                let fields = vec![Field { name: None, is_base: false, value }];
                Some(Content::Variant(VariantValue { name: "optional".into(), fields }))
            }
            _ => None,
        }
    }
}
