//! Strings.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Text with its length.
pub struct GoString;

impl Printer for GoString {
    fn families(&self) -> &'static [&'static str] {
        &["go::string"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let at = evaluator.pointer_in(object, &["str"])?;
        let len = evaluator.number_in(object, &["len"])?;
        evaluator.text(at, len, 1)
    }
}
