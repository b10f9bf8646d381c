//! Members of values: attributes, items, entries by key.

use kcore_mem::Addr;

use super::super::{
    Python,
    dict::Entries,
    heap::{DICT, Heap, LIST, Object, STR, TUPLE},
};
use super::deque;
use crate::Host;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An attribute, by its name.
    Name(String),
    /// An item of a list or tuple, or the entry of a dict with this number as its key.
    Index(u64),
    /// The entry of a dict with this text as its key.
    Key(String),
}

impl Python {
    /// Where a member of the object at `at` lies; `None` if there is none, or it cannot be read.
    pub fn member(&self, host: &dyn Host, at: Addr, step: &Step) -> Option<Addr> {
        let heap = self.heap(host);
        let object = heap.object(at)?;
        match step {
            Step::Name(name) => {
                let own = self.attributes(&heap, object).into_iter();
                let mut named = own.filter(|(own, _)| **own == **name).map(|(_, value)| value);
                named
                    .next()
                    .or_else(|| entry(&heap, object, |key| heap.is_text(key, name)))
                    .or_else(|| self.builtin_member(host, &heap, object, name))
            }
            Step::Index(index) if object.is(LIST) || object.is(TUPLE) => {
                (*index < heap.size(object)?).then_some(())?;
                heap.pointer(heap.items(object)?, index.checked_mul(8)?)
            }
            Step::Index(index) if self.is_deque(host, object) => {
                let items = deque::items(&heap, object, index.checked_add(1)?)?;
                items.get(usize::try_from(*index).ok()?).copied()
            }
            Step::Index(index) => {
                let number = i64::try_from(*index).ok();
                let of_dict = entry(&heap, object, |key| {
                    heap.small_int(key).is_some_and(|key| Some(key) == number)
                });
                let attribute = || self.attribute(&heap, object, &format!("[{index}]"));
                of_dict.or_else(|| attribute().map(|attribute| attribute.at))
            }
            Step::Key(text) => entry(&heap, object, |key| key.is(STR) && heap.is_text(key, text)),
        }
    }
}

impl Python {
    fn is_deque(&self, host: &dyn Host, object: Object) -> bool {
        let native = self.native(host, object.class);
        native.is_some_and(|native| &*native.name == "collections.deque")
    }

    /// A field of an object of a builtin type, or a name of a module or type.
    fn builtin_member(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
        name: &str,
    ) -> Option<Addr> {
        let fields = self.fields(host, heap, object).into_iter();
        let mut fields = fields.chain(self.frame_fields(host, heap, object));
        let field = fields.find(|(own, _)| **own == *name).map(|(_, value)| value);
        let field = field.or_else(|| self.named_item(host, heap, object, name));
        field.or_else(|| {
            let mut names = self.namespace(host, heap, object)?;
            let is_it = |key: Addr| heap.object(key).is_some_and(|key| heap.is_text(key, name));
            names.find(|entry| is_it(entry.key)).map(|entry| entry.value)
        })
    }
}

/// The value of the entry of a dict whose key is the one.
fn entry(heap: &Heap<'_>, dict: Object, is_it: impl Fn(Object) -> bool) -> Option<Addr> {
    dict.is(DICT).then_some(())?;
    let mut entries = Entries::of(heap, dict)?;
    let found = entries.find(|entry| heap.object(entry.key).is_some_and(&is_it))?;
    Some(found.value)
}
