//! The crate uuid.

use std::fmt::Write as _;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Bytes of each part between hyphens end here.
const HYPHENS: [usize; 4] = [4, 6, 8, 10];

/// A number of 128 bits, as it is written everywhere.
pub struct Uuid;

impl Printer for Uuid {
    fn families(&self) -> &'static [&'static str] {
        &["uuid::Uuid"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let bytes = object.place.read(evaluator.process(), 16).ok()?;
        let mut words = String::new();
        for (index, byte) in bytes.iter().enumerate() {
            let hyphen = if HYPHENS.contains(&index) { "-" } else { "" };
            write!(words, "{hyphen}{byte:02x}").ok()?;
        }
        let ty = evaluator.complete(&object.ty)?;
        Some(evaluator.raw(object, &ty).ok()?.meaning(words))
    }
}
