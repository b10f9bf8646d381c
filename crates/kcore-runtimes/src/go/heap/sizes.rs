//! How full the heap is, by the size of its slots.

use std::collections::BTreeMap;

use crate::{Host, go::Go};

/// The spans whose slots have one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeClass {
    /// Bytes of a slot; `None` of spans that hold one large object each.
    pub size: Option<u64>,
    /// Whether the objects hold no pointers.
    pub is_plain: bool,
    /// How many spans there are.
    pub spans: u64,
    /// Their objects in use.
    pub objects: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Bytes of slots that are free.
    pub free: u64,
}

impl Go {
    /// The sizes of slots that its heap has, smallest first, and large objects last.
    ///
    /// # Errors
    /// In words, where the heap is not found or cannot be read.
    pub fn size_classes(&self, host: &dyn Host) -> Result<Vec<SizeClass>, &str> {
        let heap = self.heap(host)?;
        let mut classes: BTreeMap<(bool, u8, bool), SizeClass> = BTreeMap::new();
        for span in &heap.spans {
            let size = (span.class != 0).then_some(span.slot);
            let key = (size.is_none(), span.class, span.is_plain);
            let none = SizeClass {
                size,
                is_plain: span.is_plain,
                spans: 0,
                objects: 0,
                bytes: 0,
                free: 0,
            };
            let class = classes.entry(key).or_insert(none);
            let objects = heap.objects_of(span).count() as u64;
            let free = u64::from(span.count).saturating_sub(objects).saturating_mul(span.slot);
            class.spans = class.spans.saturating_add(1);
            class.objects = class.objects.saturating_add(objects);
            class.bytes = class.bytes.saturating_add(objects.saturating_mul(span.slot));
            class.free = class.free.saturating_add(free);
        }
        Ok(classes.into_values().collect())
    }
}
