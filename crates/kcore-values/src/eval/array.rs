//! Arrays and vectors of the machine.

use kcore_symbols::{ArrayType, Dimension, Type};

use super::{Evaluator, text};
use crate::{
    Absent, Content, Elements, Object, ObjectError, Text, Value,
    object::{
        array_layout::{self, ArrayState},
        complete,
    },
};

impl Evaluator<'_> {
    /// An array; `ty` is its type behind aliases.
    pub(super) fn array(
        &mut self,
        object: &Object,
        ty: &Type,
        array: &ArrayType,
    ) -> Result<Content, ObjectError> {
        if array_layout::is_described(array) {
            return match array_layout::laid_out(self.process, object, ty, array)? {
                ArrayState::There(object) => Ok(self.value(&object).content),
                ArrayState::Missing(why) => Ok(Content::Other(why.to_owned())),
            };
        }
        let count = count_of(ty, array);
        if let Some(text) = self.text_of_array(object, ty, array, count) {
            return Ok(text);
        }
        self.nested(|evaluator| {
            let element = |index| object.index(evaluator.process, index);
            let shown = count.unwrap_or(0).min(evaluator.max_elements());
            let objects: Vec<_> =
                (0..shown).map_while(|index| element(i64::try_from(index).ok()?).ok()).collect();
            Ok(Content::Elements(evaluator.elements(&objects, count)))
        })
    }

    /// The text up to the first NUL of `count` characters of one byte that lie in no memory.
    fn text_of_pieces(&self, object: &Object, unit: u64, count: u64) -> Option<Content> {
        let bytes = object.place.read(self.process, count).ok().filter(|_| unit == 1)?;
        let text = bytes.split(|byte| *byte == 0).next()?;
        Some(Content::Text(Text::of_bytes(text, false)))
    }

    /// The values of some objects, the first ones of `total`.
    pub(crate) fn elements(&mut self, objects: &[Object], total: Option<u64>) -> Elements {
        let values: Vec<Value> = objects.iter().map(|object| self.value(object)).collect();
        Elements { values, total }
    }

    /// The text that an array of characters holds up to its first NUL, or to its end. Where more than zeros follow
    /// that NUL, all that it holds.
    fn text_of_array(
        &self,
        object: &Object,
        ty: &Type,
        array: &ArrayType,
        count: Option<u64>,
    ) -> Option<Content> {
        // Characters of Fortran end at no NUL.
        let is_endless = array.layout.is_some() && count.is_none();
        if array.dimensions.len() > 1 || array.is_vector || is_endless {
            return None;
        }
        let element = complete(&ty.follow(&array.element).ok()?, self.process).ok()?;
        let unit = text::unit_of(&element)?;
        let limit = self.limits.characters.unwrap_or(u64::MAX);
        // Every second character, as of a section of Fortran.
        if array.stride.is_some_and(|stride| stride != unit) {
            return None;
        }
        // As MDB has it: one that is longer is shown as any array.
        if count.is_some_and(|count| count > limit) {
            return None;
        }
        let Some(at) = object.address() else {
            return match object.place.why_absent() {
                // An argument that is not there has a length all the same, 0.
                why @ Absent::NotPresent => Some(Content::Absent(why)),
                _ => self.text_of_pieces(object, unit, count?),
            };
        };
        let text = text::up_to_nul(self.process, at, unit, count, limit)?;
        match count.filter(|_| unit == 1) {
            Some(count) => text::with_rest(self.process, at, count, text),
            None => Some(Content::Text(text)),
        }
    }
}

/// How many elements an array has in its first dimension: `None` where only memory would tell.
pub(crate) fn count_of(ty: &Type, array: &ArrayType) -> Option<u64> {
    match array.dimensions.first() {
        Some(Dimension::Count(count)) => Some(*count),
        // The entry may state the size of the whole.
        _ if array.dimensions.len() <= 1 => {
            let whole = ty.node().size?;
            let element = ty.follow(&array.element).ok()?.size().filter(|size| *size > 0)?;
            whole.checked_div(element)
        }
        _ => None,
    }
}
