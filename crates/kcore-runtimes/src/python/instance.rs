//! Where instances keep their attributes: `Objects/object.c` (`_PyObject_GetDictPtr`), `Objects/dictobject.c`
//! (`_PyObject_InlineValues`), `Include/internal/pycore_object.h`.

use kcore_mem::Addr;

use super::{
    dict::{Entries, Keys, Values},
    heap::{DICT, HEAP_TYPE, Heap, INT, Object},
};

/// `tp_flags`: values lie behind the object, since 3.13; the dict lies before it, since 3.11.
const INLINE_VALUES: u64 = 1 << 2;
const MANAGED_DICT: u64 = 1 << 4;

impl<'a> Heap<'a> {
    /// The attributes that an instance of a class keeps itself; `None` of what keeps none.
    pub fn attributes(&self, object: Object) -> Option<Entries<'a>> {
        match self.layout.minor {
            ..=10 => self.by_dict_offset(object),
            _ if !object.is(MANAGED_DICT) => self.by_dict_offset(object),
            11 => self.before(object, -32, |word| word).or_else(|| self.dict_before(object)),
            12 => match self.word_before(object, -24)? & 1 {
                1 => self.before(object, -24, |word| word.wrapping_add(1)),
                _ => self.dict_before(object),
            },
            _ => self.dict_before(object).or_else(|| self.inline(object)),
        }
    }

    /// The dict of an instance, if it has one.
    pub fn dict_of(&self, object: Object) -> Option<Addr> {
        let dict = match self.layout.minor {
            11.. if object.is(MANAGED_DICT) => {
                self.field_of(object.at.wrapping_offset(-24), 0, DICT)
            }
            _ => self.field_of(self.dict_place(object)?, 0, DICT),
        };
        dict.map(|dict| dict.at)
    }

    /// The values of an instance's attributes that lie neither in a dict nor behind it, in 3.11 and 3.12.
    pub fn values_elsewhere(&self, object: Object) -> Option<Entries<'a>> {
        let is_so = matches!(self.layout.minor, 11 | 12) && object.is(HEAP_TYPE);
        (is_so && object.is(MANAGED_DICT) && self.dict_of(object).is_none()).then_some(())?;
        self.attributes(object)
    }

    /// The dict at `tp_dictoffset`; a negative one counts from the end of an object of varying size.
    fn by_dict_offset(&self, object: Object) -> Option<Entries<'a>> {
        Entries::of(self, self.field_of(self.dict_place(object)?, 0, DICT)?)
    }

    fn dict_place(&self, object: Object) -> Option<Addr> {
        let types = &self.layout.types;
        let offset = self.word(object.class, types.dict_offset)?.cast_signed();
        let offset = match offset {
            0 => return None,
            1.. => offset,
            _ => self.size_of(object)?.cast_signed().checked_add(offset)?,
        };
        object.at.checked_add(u64::try_from(offset).ok()?)
    }

    /// Bytes of an object, `_PyObject_VAR_SIZE`.
    pub fn size_of(&self, object: Object) -> Option<u64> {
        const MAX: u64 = 1 << 40;
        let types = &self.layout.types;
        let (basic, item) =
            (self.word(object.class, types.basic_size)?, self.word(object.class, types.item_size)?);
        let count = match item {
            0 => 0,
            // `lv_tag`: an int has room for one digit at least.
            _ if object.is(INT) && self.layout.minor >= 12 => {
                (self.word(object.at, 16)? >> 3).max(1)
            }
            // The sign of an int, to 3.11.
            _ => self.word(object.at, 16)?.cast_signed().unsigned_abs(),
        };
        let size = basic.checked_add(item.checked_mul(count)?)?;
        size.checked_next_multiple_of(8).filter(|size| *size <= MAX)
    }

    fn word_before(&self, object: Object, offset: i64) -> Option<u64> {
        self.word(object.at.wrapping_offset(offset), 0)
    }

    fn dict_before(&self, object: Object) -> Option<Entries<'a>> {
        let dict = self.field_of(object.at.wrapping_offset(-24), 0, DICT)?;
        Entries::of(self, dict)
    }

    /// Values whose address, by way of `values`, lies in a word before the object.
    fn before(
        &self,
        object: Object,
        offset: i64,
        values: impl Fn(u64) -> u64,
    ) -> Option<Entries<'a>> {
        let word = self.word_before(object, offset).filter(|word| *word != 0)?;
        self.split(object, Addr::new(values(word)))
    }

    /// Bytes of the values behind an object.
    pub fn inline_size(&self, object: Object) -> u64 {
        let size = || {
            (self.layout.minor >= 13 && object.is(INLINE_VALUES)).then_some(())?;
            let size = self.word(object.class, self.layout.types.basic_size)?;
            let capacity = self.uint(object.at.checked_add(size)?, 0, 1)?;
            // A header, the values, and a byte for the order of each: `_PyDict_NewKeysForClass`.
            capacity.checked_mul(9)?.checked_add(8)?.checked_next_multiple_of(8)
        };
        size().unwrap_or_default()
    }

    /// Values behind the object, unless a dict took them.
    fn inline(&self, object: Object) -> Option<Entries<'a>> {
        object.is(INLINE_VALUES).then_some(())?;
        let size = self.word(object.class, self.layout.types.basic_size)?;
        let values = object.at.checked_add(size)?;
        let is_valid = self.uint(values, 3, 1)? != 0;
        is_valid.then(|| self.split(object, values))?
    }

    fn split(&self, object: Object, values: Addr) -> Option<Entries<'a>> {
        let keys = self.pointer(object.class, self.layout.types.cached_keys)?;
        let keys = Keys::load(self, keys)?;
        let values = Values::load(self, values, &keys)?;
        Some(Entries::split(self, keys, values))
    }
}
