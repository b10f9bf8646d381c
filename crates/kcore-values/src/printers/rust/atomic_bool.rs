//! `AtomicBool`, which holds a byte.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// A truth value that threads share.
pub struct AtomicBool;

impl Printer for AtomicBool {
    fn families(&self) -> &'static [&'static str] {
        &["rust::AtomicBool"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let byte = evaluator.dig(object, &["value", "__0"])?;
        let byte = byte.number(evaluator.process()).ok()?;
        Some(Content::Bool(byte))
    }
}
