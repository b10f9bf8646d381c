//! Containers of values, and text of a known length.

use kcore_mem::{Addr, Fault};
use kcore_symbols::{BitField, Type};

use crate::{
    Content, Elements, Entry, Object, ObjectPlace, Text, Value,
    eval::{Evaluator, replaced},
};

impl Evaluator<'_> {
    /// A container whose elements `element` finds one after the other, by their numbers. It ends where
    /// the next one cannot be found.
    pub(super) fn sequence(
        &mut self,
        total: u64,
        element: impl FnMut(&mut Self, u64) -> Option<Object>,
    ) -> Option<Content> {
        self.counted_sequence(total, Some(total), element)
    }

    /// The same, where nobody knows how many there are: at least `count`.
    pub(super) fn counted_sequence(
        &mut self,
        count: u64,
        total: Option<u64>,
        mut element: impl FnMut(&mut Self, u64) -> Option<Object>,
    ) -> Option<Content> {
        self.nested(|evaluator| {
            let mut values: Vec<Value> = Vec::new();
            for index in 0..count.min(evaluator.max_elements()) {
                let Some(object) = element(evaluator, index) else { break };
                values.push(evaluator.value(&object));
            }
            Ok(Content::Elements(Elements { values, total }))
        })
        .ok()
    }

    /// The keys and values of a map, found one after the other.
    pub(super) fn entries(
        &mut self,
        total: u64,
        mut entry: impl FnMut(&mut Self, u64) -> Option<(Object, Object)>,
    ) -> Option<Content> {
        self.nested(|evaluator| {
            let mut entries: Vec<Entry> = Vec::new();
            for index in 0..total.min(evaluator.max_elements()) {
                let Some((key, value)) = entry(evaluator, index) else { break };
                let (key, value) = (evaluator.value(&key), evaluator.value(&value));
                entries.push(Entry { key, value });
            }
            Ok(Content::Entries { entries, total: Some(total) })
        })
        .ok()
    }

    /// `count` objects, one directly behind the other. Where they should be there must be memory.
    pub(super) fn contiguous(&mut self, ty: &Type, first: Addr, count: u64) -> Option<Content> {
        let size = self.complete(ty)?.size()?;
        let bytes = count.checked_mul(size)?;
        if bytes > 0 && !self.is_all_mapped(first, bytes) {
            return None;
        }
        let first = Object::at(ty.clone(), first);
        self.sequence(count, |_, index| {
            let place = first.place.part(index.checked_mul(size)?);
            Some(Object { ty: first.ty.clone(), place })
        })
    }

    /// `count` truth values of one bit each, the least significant first.
    pub(super) fn bits(&mut self, ty: &Type, first: Addr, count: u64) -> Option<Content> {
        if count > 0 && !self.is_all_mapped(first, count.div_ceil(8)) {
            return None;
        }
        self.sequence(count, |_, offset| {
            Some(Object {
                ty: ty.clone(),
                place: ObjectPlace::Bits(first, BitField { offset, size: 1 }),
            })
        })
    }

    fn is_all_mapped(&self, first: Addr, bytes: u64) -> bool {
        let last = bytes.checked_sub(1).and_then(|last| first.checked_add(last));
        last.is_some_and(|last| self.is_mapped(first) && self.is_mapped(last))
    }

    /// `count` characters of `unit` bytes.
    pub(super) fn text(&self, at: Addr, count: u64, unit: u64) -> Option<Content> {
        let space = self.process().space();
        let shown = count.min(self.limits().characters.unwrap_or(u64::MAX));
        if count > 0 && !self.is_all_mapped(at, count.checked_mul(unit)?) {
            return None;
        }
        let wanted = shown.checked_mul(unit)?;
        self.go(wanted / 8)?;
        let bytes = space.read_held(at, wanted);
        if (bytes.len() as u64) < wanted {
            let missing = at.saturating_add(bytes.len() as u64);
            return Some(Content::Absent(
                space.slice(missing).err().unwrap_or(Fault::Unmapped(missing)).into(),
            ));
        }
        let is_cut = shown < count;
        if unit == 1 {
            return Some(Content::Text(Text::of_bytes(&bytes, is_cut)));
        }
        let text = replaced(&bytes, usize::try_from(unit).ok()?, space.target().endian);
        Some(Content::Text(Text::of(text, is_cut)))
    }
}
