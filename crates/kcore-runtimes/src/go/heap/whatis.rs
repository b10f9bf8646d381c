//! What lies at an address of the heap, in one line.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};

use super::{Heap, class::Class};
use crate::{Host, go::Go};

impl Go {
    /// The object, the free slot or the stack that holds an address.
    pub(in crate::go) fn what_holds(&self, host: &dyn Host, at: Addr) -> Option<String> {
        self.has_goroutines().then_some(())?;
        if let Some(goroutine) = self.goroutines(host).holding(at) {
            let AddrRange { start, end } = goroutine.stack;
            let (start, end) = (start.get(), end.get());
            return Some(format!("the stack of goroutine {} [{start:x},{end:x})", goroutine.id));
        }
        let heap = self.heap(host).ok()?;
        self.in_heap(host, heap, at)
    }

    fn in_heap(&self, host: &dyn Host, heap: &Heap, at: Addr) -> Option<String> {
        if heap.is_manual(at) {
            return Some("memory of Go's runtime, or a stack that is not used".to_owned());
        }
        let span = heap.span_at(at)?;
        let size = match span.class {
            0 => format!("large object of {} bytes", span.slot),
            _ => format!("slot of {} bytes", span.slot),
        };
        let Some(index) = span.index_of(at) else {
            return Some(format!("the unused end of a span of Go's heap, {size}s"));
        };
        let start = span.slot_at(index);
        let offset = at.offset_from(start)?;
        let Some((_, _, class)) = self.object_and_class(host, heap, at) else {
            let free = if span.is_unswept { "free or not yet swept" } else { "free" };
            return Some(format!("a {size} of Go's heap at {:x} that is {free}", start.get()));
        };
        let class = match class {
            Class::Unknown(..) => self.told_by_itself(host, start),
            _ => None,
        }
        .unwrap_or_else(|| class.name(self, host));
        let object = format!("an object of Go's heap in use: {class}, {size}");
        Some(match offset {
            0 => object,
            _ => format!("{:x}+{offset:#x}, {object}", start.get()),
        })
    }

    /// What an object to which no type leads is by its own fields: a goroutine, or a channel.
    fn told_by_itself(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        if let Some(goroutine) = self.goroutines(host).lying_at(at) {
            return Some(format!("runtime.g of goroutine {}", goroutine.id).into());
        }
        let channel = self.channel(host, at)?;
        let (element, count, capacity) = (channel.element, channel.count, channel.capacity);
        Some(format!("chan {element} with {count} of {capacity} values").into())
    }
}
