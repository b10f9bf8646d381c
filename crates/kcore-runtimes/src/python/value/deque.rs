//! `collections.deque`: a list of blocks, `dequeobject` of `Modules/_collectionsmodule.c` (3.8 to 3.15).

use kcore_mem::Addr;

use super::{
    super::heap::{Heap, Object},
    Items, Value, ValueKind,
    reader::Reader,
};

/// Items of a block, `BLOCKLEN`, which lie between `leftlink` and `rightlink`.
const BLOCK: u64 = 64;
const ITEMS: u64 = 8;
const RIGHT_LINK: u64 = ITEMS + 8 * BLOCK;
/// Items that are looked at, at most: damaged blocks may go in a circle.
const MAX_ITEMS: u64 = 1 << 24;
/// `leftblock`, `rightblock`, `leftindex`, `rightindex` and `maxlen`.
const LEFT_BLOCK: u64 = 24;
const RIGHT_BLOCK: u64 = 32;
const LEFT_INDEX: u64 = 40;
const RIGHT_INDEX: u64 = 48;
const MAX_LENGTH: u64 = 64;

/// The first items of a deque, at most `most`; `None` where its blocks are not what its length says.
pub fn items(heap: &Heap<'_>, deque: Object, most: u64) -> Option<Vec<Addr>> {
    let (length, most) = (heap.size(deque)?, most.min(MAX_ITEMS));
    let mut place = ItemPosition::of(heap, deque, LEFT_BLOCK, LEFT_INDEX)?;
    let mut items = Vec::new();
    for index in 0..length.min(most) {
        if index > 0 {
            place = place.next(heap)?;
        }
        items.push(place.item(heap)?);
    }
    let is_whole = length > 0 && length <= most;
    let last = ItemPosition::of(heap, deque, RIGHT_BLOCK, RIGHT_INDEX)?;
    (!is_whole || place == last).then_some(items)
}

/// Where an item lies.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ItemPosition {
    block: Addr,
    index: u64,
}

impl ItemPosition {
    fn of(heap: &Heap<'_>, deque: Object, block: u64, index: u64) -> Option<Self> {
        let index = heap.word(deque.at, index).filter(|index| *index < BLOCK)?;
        Some(Self { block: heap.pointer(deque.at, block)?, index })
    }

    fn item(self, heap: &Heap<'_>) -> Option<Addr> {
        heap.pointer(self.block, self.index.checked_mul(8)?.checked_add(ITEMS)?)
    }

    fn next(self, heap: &Heap<'_>) -> Option<Self> {
        match self.index.checked_add(1)? {
            BLOCK => Some(Self { block: heap.pointer(self.block, RIGHT_LINK)?, index: 0 }),
            index => Some(Self { index, ..self }),
        }
    }
}

impl Reader<'_> {
    /// Its items as a list, and `maxlen` if it has one.
    pub(super) fn deque(&mut self, object: Object) -> Option<ValueKind> {
        let (length, most) = (self.heap.size(object)?, self.limits.entries.min(self.left));
        let longest = self.heap.word(object.at, MAX_LENGTH)?.cast_signed();
        (longest < 0 || longest.cast_unsigned() >= length).then_some(())?;
        let items = items(&self.heap, object, most)?;
        let items = items.into_iter().map_while(|item| self.next_at(item)).collect();
        let list = ValueKind::Items { of: Items::List, items, length };
        let longest = (longest >= 0).then(|| ("maxlen".into(), Value::of_int(longest)));
        Some(self.call(object, vec![Value::of_kind(list)], longest.into_iter().collect()))
    }
}
