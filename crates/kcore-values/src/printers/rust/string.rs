//! `String` and the other owners of text.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

use super::{slice, vec::buffer};

/// Text that is owned.
pub struct RustString;

impl Printer for RustString {
    fn families(&self) -> &'static [&'static str] {
        &["rust::String", "rust::OsString", "rust::PathBuf", "rust::CString"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        // A `CString` has a boxed slice, its NUL included.
        if let Some(boxed) = evaluator.dig(object, &["inner"])
            && evaluator.member(&boxed, "data_ptr").is_some()
        {
            return slice::text(evaluator, &boxed, true);
        }
        let (at, len) = buffer(evaluator, object, 1)?;
        evaluator.text(at, len, 1)
    }
}
