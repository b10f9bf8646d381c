//! Constants and variables of classes: `id_table.c`, `constant.h`, `variable.c`.
//!
//! Where a class has the table of its constants differs from version to version. It is seen by what the table of `Object`
//! holds: names that begin with a capital letter, of entries that say in which file they were set.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Ruby,
    heap::{CLASS, Heap, Object, STRING},
    layout::ClassName,
};
use crate::Host;

/// Words of `rb_classext_t` among which the table is looked for.
const MAX_WORDS: u64 = 24;
/// Constants of one class, at most.
const MAX_CONSTANTS: u64 = 1 << 16;
/// Constants of `Object` that a table must have to be believed: every program has many.
const MIN_BELIEVED: usize = 16;
/// Classes between that of a thread and `Object`.
const MAX_SUPER: usize = 16;
/// `self` of `rb_thread_t`.
const SELF: u64 = 16;
/// `capa` and `items` of `struct rb_id_table`; bytes of an item, and its `val`.
const CAPACITY: u64 = 0;
const ITEMS: u64 = 16;
const ITEM: u64 = 16;
const ENTRY: u64 = 8;
/// `value` and `file` of `rb_const_entry_t`.
const VALUE: u64 = 8;
const FILE: u64 = 16;
/// `super` of a class.
const SUPER: u64 = 16;

/// A name with its value.
pub type NamedValue = (Arc<str>, u64);

impl Ruby {
    /// Where classes have the table of their constants, in their extension; found once.
    pub(super) fn constants_at(&self, host: &dyn Host) -> Option<u64> {
        *self.constants.get_or_init(|| {
            let heap = self.heap(host);
            let thread = self.threads(host).all.first()?.at;
            let thread = heap.object(heap.word(thread, SELF)?)?;
            let class = heap.class(heap.real_class(heap.class_of(thread)?)?);
            let above = |class: &Object| heap.class(heap.pointer(class.at, SUPER)?);
            let mut classes = std::iter::successors(class, above).take(MAX_SUPER);
            let is_object = |class: &Object| {
                class.kind() == CLASS && heap.class_name(class.at).as_deref() == Some("Object")
            };
            let object = classes.find(is_object)?;
            let mut offsets = (0..MAX_WORDS).filter_map(|word| word.checked_mul(8));
            offsets.find(|offset| {
                heap.constants(object, *offset).is_some_and(|all| all.len() >= MIN_BELIEVED)
            })
        })
    }
}

impl Heap<'_> {
    /// The constants of a class whose table is at an offset of its extension; `None` where no such table is.
    pub fn constants(&self, class: Object, offset: u64) -> Option<Vec<NamedValue>> {
        let table = self.pointer(self.extension(class)?, offset)?;
        let capacity = self.uint(table, CAPACITY, 4)?;
        (capacity <= MAX_CONSTANTS).then_some(())?;
        let items = self.pointer(table, ITEMS)?;
        let (mut found, mut others) = (Vec::new(), 0_usize);
        for index in 0..capacity {
            let item = items.checked_add(index.checked_mul(ITEM)?)?;
            let serial = self.uint(item, 0, 4)?;
            let entry = self.pointer(item, ENTRY).filter(|_| serial != 0);
            match entry.and_then(|entry| self.constant(serial, entry)) {
                Some(constant) => found.push(constant),
                None if serial != 0 => others = others.saturating_add(1),
                None => {}
            }
        }
        // Some have names that no program can write.
        (others <= found.len()).then_some(found)
    }

    fn constant(&self, serial: u64, entry: Addr) -> Option<NamedValue> {
        let name = self.name_of_serial(self.names?, serial)?;
        name.starts_with(char::is_uppercase).then_some(())?;
        let (value, file) = (self.word(entry, VALUE)?, self.word(entry, FILE)?);
        let is_file = self.is_special(file)
            || self.object(file).is_some_and(|object| object.kind() == STRING);
        let is_value = self.is_special(value) || self.object(value).is_some();
        (is_file && is_value).then(|| (name.into(), value))
    }

    /// The variables that a class itself has, for the program and hidden ones.
    pub fn own_variables(&self, class: Object) -> Option<Vec<NamedValue>> {
        let extension = self.extension(class)?;
        if self.layout.class.name != ClassName::Variable {
            return self.shaped(class.flags, self.pointer(extension, 0)?);
        }
        let named = |(id, value)| Some((Arc::from(self.identifier(id)?), value));
        let table = self.table(self.pointer(extension, 8)?)?;
        Some(table.take(usize::try_from(MAX_CONSTANTS).ok()?).filter_map(named).collect())
    }
}
