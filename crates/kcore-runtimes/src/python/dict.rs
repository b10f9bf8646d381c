//! Dicts: `Objects/dictobject.c`, `Include/internal/pycore_dict.h`.

use kcore_mem::Addr;

use super::heap::{DICT, Heap, Object};

/// Entries of one dict, at most.
const MAX_ENTRIES: u64 = 1 << 26;
/// Attributes that one array of values holds, at most: `SHARED_KEYS_MAX_SIZE` is 30.
const MAX_VALUES: u64 = 254;

/// An entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its key.
    pub key: Addr,
    /// Its value.
    pub value: Addr,
}

/// The keys of a dict, which instances of a class share.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Where the entries begin.
    entries: Addr,
    /// Bytes of each.
    stride: u64,
    /// Where in an entry the key lies.
    key: u64,
    /// How many there are, free ones too.
    count: u64,
}

impl Keys {
    /// Those at an address, `PyDictKeysObject`.
    pub fn load(heap: &Heap<'_>, at: Addr) -> Option<Self> {
        let (index_bytes, is_wide, header, count) = match heap.layout.minor {
            ..=10 => {
                let size = heap.word(at, 8).filter(|size| size.is_power_of_two())?;
                (size.checked_mul(index_width(size))?, true, 40, heap.word(at, 32)?)
            }
            _ => {
                let log2 = u32::try_from(heap.uint(at, 9, 1)?).ok().filter(|log2| *log2 < 40)?;
                (1_u64.checked_shl(log2)?, heap.uint(at, 10, 1)? == 0, 32, heap.word(at, 24)?)
            }
        };
        let (stride, key) = if is_wide { (24, 8) } else { (16, 0) };
        let entries = at.checked_add(header)?.checked_add(index_bytes)?;
        (count <= MAX_ENTRIES).then_some(Self { entries, stride, key, count })
    }

    /// Where the entries lie, and how many bytes they are.
    pub fn table(&self) -> Option<(Addr, u64)> {
        Some((self.entries, self.count.checked_mul(self.stride)?))
    }

    fn entry(&self, index: u64) -> Option<Addr> {
        (index < self.count).then_some(())?;
        self.entries.checked_add(index.checked_mul(self.stride)?)?.checked_add(self.key)
    }

    /// Key `index`.
    fn key(&self, heap: &Heap<'_>, index: u64) -> Option<Addr> {
        heap.pointer(self.entry(index)?, 0)
    }
}

/// Bytes of an index into so many entries, to 3.10.
const fn index_width(size: u64) -> u64 {
    match size {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x1_0000_0000 => 4,
        _ => 8,
    }
}

/// Values that stand apart from their keys.
#[derive(Clone, Debug)]
pub struct Values {
    at: Addr,
    /// Which of the keys have a value, in the order in which they were given one.
    order: Vec<u8>,
}

impl Values {
    /// Those at an address, `PyDictValues`: of 3.11 and 3.12 the order lies before them, since 3.13
    /// behind. To 3.10 the order is that of the keys.
    pub fn load(heap: &Heap<'_>, at: Addr, keys: &Keys) -> Option<Self> {
        let count = keys.count.min(MAX_VALUES);
        match heap.layout.minor {
            ..=10 => Some(Self { at, order: (0..u8::try_from(count).ok()?).collect() }),
            11 | 12 => {
                let used = heap.uint(Addr::new(at.get().checked_sub(2)?), 0, 1)?;
                let order = (0..used.min(count)).map_while(|index| {
                    let before = index.checked_add(3)?;
                    let at = Addr::new(at.get().checked_sub(before)?);
                    u8::try_from(heap.uint(at, 0, 1)?).ok()
                });
                Some(Self { at, order: order.collect() })
            }
            _ => {
                let (capacity, used) = (heap.uint(at, 0, 1)?, heap.uint(at, 1, 1)?);
                let order = at.checked_add(capacity.checked_mul(8)?.checked_add(8)?)?;
                let order = heap.space.read_held(order, used.min(capacity));
                Some(Self { at: at.checked_add(8)?, order })
            }
        }
    }
}

/// The entries of a dict, in the order in which they were made.
pub struct Entries<'a> {
    heap: Heap<'a>,
    keys: Keys,
    values: Option<Values>,
    next: u64,
}

impl<'a> Entries<'a> {
    /// Those of a dict.
    pub fn of(heap: &Heap<'a>, dict: Object) -> Option<Self> {
        dict.is(DICT).then_some(())?;
        let keys = Keys::load(heap, heap.pointer(dict.at, 32)?)?;
        let values = match heap.word(dict.at, 40)? {
            0 => None,
            at => Some(Values::load(heap, Addr::new(at), &keys)?),
        };
        Some(Self { heap: *heap, keys, values, next: 0 })
    }

    /// Those of an instance whose values lie at `values`.
    pub fn split(heap: &Heap<'a>, keys: Keys, values: Values) -> Self {
        Self { heap: *heap, keys, values: Some(values), next: 0 }
    }

    /// How many there may be.
    pub fn bound(&self) -> u64 {
        self.values.as_ref().map_or(self.keys.count, |values| values.order.len() as u64)
    }

    fn at(&self, position: u64) -> Option<Entry> {
        match &self.values {
            None => {
                let at = self.keys.entry(position)?;
                let (key, value) = (self.heap.pointer(at, 0)?, self.heap.pointer(at, 8)?);
                Some(Entry { key, value })
            }
            Some(values) => {
                let index = u64::from(*values.order.get(usize::try_from(position).ok()?)?);
                let value = self.heap.pointer(values.at, index.checked_mul(8)?)?;
                Some(Entry { key: self.keys.key(&self.heap, index)?, value })
            }
        }
    }
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        while self.next < self.bound() {
            let entry = self.at(self.next);
            self.next = self.next.saturating_add(1);
            // What memory does not hold has no end worth looking for.
            if entry.is_none() && self.values.is_none() {
                let at = self.keys.entry(self.next.saturating_sub(1))?;
                self.heap.word(at, 8)?;
            }
            if entry.is_some() {
                return entry;
            }
        }
        None
    }
}
