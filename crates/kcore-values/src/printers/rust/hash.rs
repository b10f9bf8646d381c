//! `HashMap` and `HashSet`: tables of hashbrown. Before the bytes that say which buckets are full the
//! buckets lie, the first one last.

use kcore_mem::Addr;
use kcore_symbols::Type;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Bytes of control that are read at once.
const CHUNK: u64 = 4096;

/// Hash tables.
pub struct Hash;

impl Printer for Hash {
    fn families(&self) -> &'static [&'static str] {
        &["rust::HashMap", "rust::HashSet"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let is_map = object.ty.name()?.starts_with("HashMap");
        let mut table = Table::of(evaluator, object)?;
        let items = table.items;
        match is_map {
            true => evaluator.entries(items, |evaluator, _| {
                let pair = table.next(evaluator)?;
                let key = evaluator.member(&pair, "__0")?;
                Some((key, evaluator.member(&pair, "__1")?))
            }),
            false => evaluator.sequence(items, |evaluator, _| {
                let pair = table.next(evaluator)?;
                evaluator.member(&pair, "__0")
            }),
        }
    }
}

/// A walk over the full buckets of a table.
pub struct Table {
    control: Addr,
    buckets: u64,
    /// Full buckets.
    pub items: u64,
    /// What a bucket holds, and how many bytes.
    bucket: (Type, u64),
    /// The next bucket.
    next: u64,
    /// The bytes of control from the first bucket of a chunk on.
    held: (u64, Vec<u8>),
}

impl Table {
    /// The table within an object.
    pub fn of(evaluator: &Evaluator<'_>, object: &Object) -> Option<Self> {
        Self::of_raw(evaluator, &evaluator.dig(object, &["table"])?)
    }

    /// The table that a `RawTable` is.
    pub fn of_raw(evaluator: &Evaluator<'_>, raw: &Object) -> Option<Self> {
        let mask = evaluator.number_in(raw, &["bucket_mask"])?;
        let items = evaluator.number_in(raw, &["items"])?;
        let control = evaluator.number(&evaluator.dig_pointer(&evaluator.dig(raw, &["ctrl"])?)?)?;
        let pair = evaluator.argument(&evaluator.complete(&raw.ty)?, 0)?;
        let size = evaluator.complete(&pair)?.size()?;
        let buckets = mask.checked_add(1)?;
        let control = Addr::new(control);
        let fits = buckets.is_power_of_two() && items < buckets.max(2);
        (fits && evaluator.is_mapped(control)).then_some(Self {
            control,
            buckets,
            items,
            bucket: (pair, size),
            next: 0,
            held: (0, Vec::new()),
        })
    }

    /// The next full bucket: the highest bit of its byte is clear.
    pub fn next(&mut self, evaluator: &Evaluator<'_>) -> Option<Object> {
        while self.next < self.buckets {
            let index = self.next;
            self.next = index.checked_add(1)?;
            if self.control_byte(evaluator, index)? & 0x80 == 0 {
                let before = self.next.checked_mul(self.bucket.1)?;
                let at = self.control.get().checked_sub(before)?;
                return Some(Object::at(self.bucket.0.clone(), Addr::new(at)));
            }
        }
        None
    }

    fn control_byte(&mut self, evaluator: &Evaluator<'_>, index: u64) -> Option<u8> {
        let (first, bytes) = &self.held;
        let into = index.checked_sub(*first).and_then(|into| usize::try_from(into).ok())?;
        if let Some(byte) = bytes.get(into) {
            return Some(*byte);
        }
        let at = self.control.checked_add(index)?;
        let wanted = CHUNK.min(self.buckets.checked_sub(index)?);
        evaluator.go(wanted)?;
        self.held = (index, evaluator.process().space().read_held(at, wanted));
        self.held.1.first().copied()
    }
}
