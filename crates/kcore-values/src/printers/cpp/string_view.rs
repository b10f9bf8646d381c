//! `std::basic_string_view`.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Text that lies elsewhere.
pub struct StringView;

impl Printer for StringView {
    fn families(&self) -> &'static [&'static str] {
        &["std::basic_string_view", "std::experimental::basic_string_view"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let character = evaluator.argument(&object.ty, 0)?;
        let unit =
            evaluator.complete(&character)?.size().filter(|size| matches!(size, 1 | 2 | 4))?;
        let at = evaluator.pointer_in(object, &["_M_str", "__data_", "__data"])?;
        let len = evaluator.number_in(object, &["_M_len", "__size_", "__size"])?;
        evaluator.text(at, len, unit)
    }
}
