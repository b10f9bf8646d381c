//! `std::reference_wrapper`.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// A reference that can be stored.
pub struct ReferenceWrapper;

impl Printer for ReferenceWrapper {
    fn families(&self) -> &'static [&'static str] {
        &["std::reference_wrapper"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let pointer = evaluator.dig(object, &["_M_data", "__f_"])?;
        let target = pointer.target(evaluator.process()).ok()?;
        evaluator.owner(&target, Vec::new())
    }
}
