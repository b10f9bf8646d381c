//! Pointers that are followed: those that own what they point to, and references.

use super::Evaluator;
use crate::{Object, Pointee};

impl Evaluator<'_> {
    /// What lies behind a pointer, as far as pointers are followed. Something that is shown already
    /// around the pointer is not shown again.
    pub(crate) fn followed(&mut self, target: &Object) -> Option<Pointee> {
        let at = target.address()?;
        let place = (at, target.ty.clone());
        if self.around.contains(&place) {
            return Some(Pointee::Shown);
        }
        if self.around.len() as u64 >= self.limits.pointers {
            return None;
        }
        self.around.push(place);
        let value = self.value(target);
        self.around.pop();
        Some(Pointee::Value(Box::new(value)))
    }
}
