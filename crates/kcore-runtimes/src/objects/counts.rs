//! How many objects each class has.

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{HeapObject, Objects, Stopped, Watch};
use crate::Host;

/// The objects of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// Where the class lies; `None` of objects whose class cannot be read.
    pub class: Option<Addr>,
    /// How many there are.
    pub count: u64,
    /// Their own size in bytes.
    pub bytes: u64,
    /// Where the first one begins that was met.
    pub example: Addr,
}

/// Counts all objects one by one.
pub fn count(
    objects: &(impl Objects + ?Sized),
    host: &dyn Host,
    watch: Watch<'_>,
) -> Result<Vec<ClassCount>, Stopped> {
    let mut counts: FxHashMap<Option<Addr>, ClassCount> = FxHashMap::default();
    objects.each_object(host, watch, &mut |object| {
        let HeapObject { at, class, size } = object;
        let none = ClassCount { class, count: 0, bytes: 0, example: at };
        let known = counts.entry(class).or_insert(none);
        known.count = known.count.saturating_add(1);
        known.bytes = known.bytes.saturating_add(size);
    })?;
    Ok(counts.into_values().collect())
}
