//! Lists, tuples, dicts, sets and byte arrays.

use kcore_mem::Addr;

use super::{
    super::{
        dict::{Entries, Entry},
        heap::Object,
    },
    Items, ValueKind, ordered,
    reader::Reader,
};

/// Slots of a set that are looked at, at most.
const MAX_SLOTS: u64 = 1 << 26;

impl Reader<'_> {
    pub(super) fn items(&mut self, object: Object, of: Items) -> Option<ValueKind> {
        let length = self.heap.size(object)?;
        let first = match length {
            0 => object.at,
            _ => self.heap.items(object)?,
        };
        let mut items = Vec::new();
        for index in 0..length.min(self.limits.entries) {
            let Some(word) = self.heap.word(first, index.checked_mul(8)?) else { break };
            if self.left == 0 {
                break;
            }
            items.push(self.at(Addr::new(word)));
        }
        Some(ValueKind::Items { of, items, length })
    }

    /// A tuple whose items have names, as its constructor takes it.
    pub(super) fn named_tuple(&mut self, object: Object) -> Option<ValueKind> {
        let names = self.python.item_names(self.host, &self.heap, object)?;
        let first = self.heap.items(object)?;
        let items = names.into_iter().zip((0_u64..).step_by(8));
        let most = usize::try_from(self.limits.entries).ok()?;
        let items = items.take(most).map_while(|(name, offset)| {
            let item = self.heap.pointer(first, offset)?;
            Some((name, self.next_at(item)?))
        });
        let items: Vec<_> = items.collect();
        let has_more = (items.len() as u64) < self.heap.size(object)?;
        Some(self.call(object, Vec::new(), items).with_more(has_more))
    }

    pub(super) fn dict(&mut self, object: Object) -> Option<ValueKind> {
        let length = self.heap.word(object.at, 16)?;
        let entries = self.entries(object)?.into_iter();
        let entries =
            entries.map_while(|entry| Some((self.next_at(entry.key)?, self.next_at(entry.value)?)));
        Some(ValueKind::Dict { entries: entries.collect(), length })
    }

    /// The first entries of a dict, in its order, as many as are told.
    pub(super) fn entries(&self, object: Object) -> Option<Vec<Entry>> {
        let most = self.limits.entries.min(self.left);
        if self.native(object).as_deref() == Some("collections.OrderedDict") {
            return ordered::entries(&self.heap, object, most);
        }
        let entries = Entries::of(&self.heap, object)?;
        Some(entries.take(usize::try_from(most).ok()?).collect())
    }

    /// `PySetObject`, `Include/cpython/setobject.h`: a table of keys and their hashes. What was taken out
    /// has the hash -1.
    pub(super) fn set(&mut self, object: Object, of: Items) -> Option<ValueKind> {
        let (length, mask) = (self.heap.word(object.at, 24)?, self.heap.word(object.at, 32)?);
        let table = self.heap.pointer(object.at, 40)?;
        let mut items = Vec::new();
        for slot in 0..mask.saturating_add(1).min(MAX_SLOTS) {
            if items.len() as u64 >= self.limits.entries.min(length) {
                break;
            }
            let at = table.checked_add(slot.checked_mul(16)?)?;
            let Some(key) = self.heap.word(at, 0) else { break };
            if key != 0 && self.heap.word(at, 8)? != u64::MAX {
                items.push(self.at(Addr::new(key)));
            }
        }
        Some(ValueKind::Items { of, items, length })
    }

    /// `PyByteArrayObject`, `Include/cpython/bytearrayobject.h`.
    pub(super) fn byte_array(&self, object: Object) -> Option<ValueKind> {
        let length = self.heap.size(object)?;
        let start = Addr::new(self.heap.word(object.at, 40)?);
        let bytes = self.heap.space.read_held(start, length.min(self.limits.characters));
        Some(ValueKind::Bytes { bytes, length })
    }
}
