//! `RefCell`: a value, and who borrows it.

use crate::{
    Content, Field, Object,
    eval::Evaluator,
    printers::{
        Printer,
        made::{count, truth},
    },
};

/// A value that is borrowed at run time.
pub struct RefCell;

impl Printer for RefCell {
    fn families(&self) -> &'static [&'static str] {
        &["rust::RefCell"]
    }

    /// Readers are counted up from 0, writers down (`BorrowFlag` in `core::cell`).
    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let held = evaluator.member(object, "value")?;
        let flag = evaluator.member(object, "borrow")?;
        let flag = evaluator.dig(&flag, &["value"])?;
        let flag = evaluator.dig(&flag, &["value"]).unwrap_or(flag);
        let borrows = i64::try_from(flag.number(evaluator.process()).ok()?.value()?).ok()?;
        evaluator
            .nested(|evaluator| {
                let value = evaluator.value(&held);
                let value = Field { name: Some("value".into()), is_base: false, value };
                let readers = count("readers", u64::try_from(borrows).unwrap_or(0));
                Ok(Content::Fields(vec![value, readers, truth("writing", borrows < 0)]))
            })
            .ok()
    }
}
