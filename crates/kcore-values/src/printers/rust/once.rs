//! `OnceLock` and `LazyLock`: a value, once somebody has made it.

use crate::{Content, Field, Object, VariantValue, eval::Evaluator, printers::Printer};

/// States of `Once` (`std::sys::sync::once::futex`): until 1.83 `state` counts up to 4, then
/// `state_and_queued` counts down to 0, with a flag above.
const COMPLETE: u64 = 4;
const STATE_MASK: u64 = 3;

/// A value that is made once.
pub struct Once;

impl Printer for Once {
    fn families(&self) -> &'static [&'static str] {
        &["rust::OnceLock", "rust::LazyLock"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let once = evaluator.member(object, "once")?;
        let is_complete = match evaluator.number_in(&once, &["state_and_queued"]) {
            Some(state) => state & STATE_MASK == 0,
            None => evaluator.number_in(&once, &["state"])? == COMPLETE,
        };
        if !is_complete {
            return Some(Content::Variant(VariantValue {
                name: "None".into(),
                fields: Vec::new(),
            }));
        }
        // What makes the value lies at the same place before.
        let value = match evaluator.member(object, "data") {
            Some(data) => evaluator.member(&evaluator.member(&data, "value")?, "value")?,
            None => evaluator.member(object, "value")?,
        };
        let value = evaluator.value(&value);
        let field = Field { name: Some("0".into()), is_base: false, value };
        Some(Content::Variant(VariantValue { name: "Some".into(), fields: vec![field] }))
    }
}
