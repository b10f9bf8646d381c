//! `std::complex`.

use crate::{Content, FloatValue, Object, eval::Evaluator, printers::Printer};

/// Two numbers.
pub struct Complex;

impl Printer for Complex {
    fn families(&self) -> &'static [&'static str] {
        &["std::complex"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        if let Some(both) = evaluator.member(object, "_M_value") {
            return Some(evaluator.value(&both).content);
        }
        let real = part(evaluator, object, "__re_")?;
        Some(Content::Complex(real, part(evaluator, object, "__im_")?))
    }
}

fn part(evaluator: &mut Evaluator<'_>, object: &Object, name: &str) -> Option<FloatValue> {
    let part = evaluator.member(object, name)?;
    match evaluator.value(&part).content {
        Content::Float(value) => Some(value),
        _ => None,
    }
}
