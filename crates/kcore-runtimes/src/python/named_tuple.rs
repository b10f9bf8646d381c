//! The names of a tuple's items: `_fields` of what `collections.namedtuple` makes, and the members of what C code makes by
//! `PyStructSequence_NewType` (`Objects/structseq.c`).

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Python,
    dict::Entries,
    heap::{DICT, Heap, Object, TUPLE},
};
use crate::Host;

/// `tp_members` and `tp_base`.
const MEMBERS: u64 = 240;
const BASE: u64 = 256;
/// Bases of one type, and items of one such tuple, at most.
const MAX_BASES: usize = 64;
const MAX_NAMES: u64 = 1024;
/// In a `PyMemberDef`: its kind and its offset; how big one is: `Include/structmember.h`.
const KIND: u64 = 8;
const OFFSET: u64 = 16;
const MEMBER: u64 = 40;
/// `T_OBJECT`, `_Py_T_OBJECT` since 3.12.
const OBJECT: i32 = 6;

impl Python {
    /// The names of all items of a tuple, in order; `None` of one whose items have none.
    pub(super) fn item_names(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        tuple: Object,
    ) -> Option<Vec<Arc<str>>> {
        let count = heap.size(tuple).filter(|count| (1..=MAX_NAMES).contains(count))?;
        let native = self.native(host, tuple.class)?;
        match &*native.name == "tuple" {
            true => heap.fields_of_class(tuple, native.class, count),
            false => heap.members_of_class(native.class, count),
        }
    }

    /// The item of a tuple that has a name.
    pub(super) fn named_item(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        tuple: Object,
        name: &str,
    ) -> Option<Addr> {
        tuple.is(TUPLE).then_some(())?;
        let names = self.item_names(host, heap, tuple)?;
        let index = names.iter().position(|own| **own == *name)?;
        heap.item(tuple, u64::try_from(index).ok()?).map(|item| item.at)
    }
}

impl Heap<'_> {
    /// `_fields` of a class, or of one that it is derived from below `tuple`.
    fn fields_of_class(&self, tuple: Object, end: Addr, count: u64) -> Option<Vec<Arc<str>>> {
        let mut class = tuple.class;
        for _ in 0..MAX_BASES {
            if class == end {
                return None;
            }
            let dict = self.field_of(class, self.layout.types.dict, DICT)?;
            // A class body has few names before it; a class with very many is none of these.
            let fields = Entries::of(self, dict)?.take(MAX_NAMES.try_into().ok()?);
            let is_it =
                |key: Addr| self.object(key).is_some_and(|key| self.is_text(key, "_fields"));
            if let Some(entry) = { fields }.find(|entry| is_it(entry.key)) {
                let fields = self.object(entry.value).filter(|fields| fields.is(TUPLE))?;
                (self.size(fields)? == count).then_some(())?;
                let name = |index| Some(Arc::from(self.name(self.item(fields, index)?)?));
                return (0..count).map(name).collect();
            }
            class = self.pointer(class, BASE)?;
        }
        None
    }

    /// The members of a type that lie where the items of a tuple do.
    fn members_of_class(&self, class: Addr, count: u64) -> Option<Vec<Arc<str>>> {
        let first = self.pointer(class, MEMBERS)?;
        let mut names: Vec<Option<Arc<str>>> = vec![None; usize::try_from(count).ok()?];
        for index in 0..MAX_NAMES {
            let member = first.checked_add(index.checked_mul(MEMBER)?)?;
            let name = match self.word(member, 0)? {
                0 => break,
                name => self.space.read_cstr(Addr::new(name), 256).ok()?,
            };
            (self.int(member, KIND)? == OBJECT).then_some(())?;
            let offset = self.word(member, OFFSET)?.checked_sub(self.layout.objects.tuple)?;
            if let Some(place) = names.get_mut(usize::try_from(offset / 8).ok()?) {
                *place = Some(String::from_utf8(name).ok()?.into());
            }
        }
        names.into_iter().collect()
    }
}
