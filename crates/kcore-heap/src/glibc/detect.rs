//! How copies of glibc are found.

use std::sync::{Arc, OnceLock};

use kcore_mem::{AddrRange, Arch, Endian};

use super::{
    Glibc,
    arena::{self, ArenaRing, RingEnd},
    layout::ARENAS,
    par,
};
use crate::{Detected, HeapHost, HeapIdentity, HeapModule, Refused, words::held_parts};

const NAME: &str = "glibc";

/// Every copy that the process holds.
pub fn detect(host: &dyn HeapHost) -> Vec<Detected> {
    if let Some(refused) = other_machine(host) {
        return vec![Err(refused)];
    }
    let (modules, held) = (host.modules(), host.regions());
    let held = held.as_slice();
    let mut found = Vec::new();
    for module in modules {
        let rings = arena::find(host, held, module);
        if rings.is_empty() {
            found.extend(without_data(held, module).map(Err));
        }
        found.extend(rings.into_iter().map(|ring| heap_of(host, held, module, ring)));
    }
    found
}

/// That a library is there whose data is not.
fn without_data(held: &[AddrRange], module: &dyn HeapModule) -> Option<Refused> {
    let is_libc = module.name() == "libc.so.6" || module.name().starts_with("libc-2.");
    // What the dynamic linker made read-only is a run of its own.
    let is_held = |range: &AddrRange| {
        let bytes = held_parts(held, *range).map(|part| part.len()).fold(0, u64::saturating_add);
        bytes >= range.len()
    };
    if !is_libc || module.data().iter().all(is_held) {
        return None;
    }
    let why = "not all of its data is in the core, so that it is not known where its heap lies";
    let instance = module.name().into();
    Some(Refused { allocator: NAME, version: None, instance, why: why.into(), ranges: Vec::new() })
}

/// Layouts of other word sizes and byte orders are not known.
fn other_machine(host: &dyn HeapHost) -> Option<Refused> {
    let target = host.space().target();
    if target.word == 8 && target.endian == Endian::Little {
        return None;
    }
    let libc = host.modules().into_iter().find(|module| module.name().starts_with("libc.so"))?;
    let bits = u32::from(target.word).saturating_mul(8);
    let why = match target.endian {
        Endian::Big => format!("its layouts are not known for big-endian {}", target.arch),
        Endian::Little => format!("its layouts are not known for {bits} bits"),
    };
    let instance = libc.name().into();
    Some(Refused { allocator: NAME, version: None, instance, why: why.into(), ranges: Vec::new() })
}

fn heap_of(
    host: &dyn HeapHost,
    held: &[AddrRange],
    module: &dyn HeapModule,
    ring: ArenaRing,
) -> Detected {
    let minor = arena::version_of(host, held, module);
    let instance: Arc<str> = module.name().into();
    let newest = ARENAS.last().map_or(0, |layout| layout.last);
    if let Some(minor) = minor.filter(|minor| *minor > newest) {
        let why = format!("its layouts are known up to version 2.{newest}");
        let version = Some(format!("2.{minor}").into());
        return Err(Refused {
            allocator: NAME,
            version,
            instance,
            why: why.into(),
            ranges: Vec::new(),
        });
    }
    let par = segment_of(module, &ring).and_then(|segment| {
        let main = ring.arenas.first()?.at;
        let parts: Vec<AddrRange> = held_parts(held, segment).collect();
        let versions = minor.map_or(ring.layout.first..=ring.layout.last, |minor| minor..=minor);
        par::find(host, &parts, versions, main)
    });
    let mut heap = Glibc {
        identity: HeapIdentity {
            allocator: NAME,
            version: None,
            instance,
            layout: "".into(),
            unknown: Vec::new(),
        },
        ring,
        par,
        minor,
        regions: OnceLock::new(),
        caches: OnceLock::new(),
        binned: OnceLock::new(),
        mmapped: OnceLock::new(),
        index: OnceLock::new(),
    };
    heap.identify(host);
    Ok(Box::new(heap))
}

fn segment_of(module: &dyn HeapModule, ring: &ArenaRing) -> Option<AddrRange> {
    let main = ring.arenas.first()?.at;
    module.data().into_iter().find(|range| range.contains(main))
}

impl Glibc {
    /// Says what it is, and what is not known of it.
    fn identify(&mut self, host: &dyn HeapHost) {
        let range = match (self.oldest(), self.newest()) {
            (oldest, newest) if oldest == newest => format!("2.{oldest}"),
            (oldest, newest) => format!("2.{oldest} to 2.{newest}"),
        };
        let version = self.minor.map_or_else(|| range.clone(), |minor| format!("2.{minor}"));
        self.identity.layout = format!("table for {range}, found by its structure").into();
        self.identity.version = Some(version.into());
        let mut unknown: Vec<Arc<str>> = Vec::new();
        if self.par.is_none() {
            unknown.push(
                "mmapped chunks and the beginning of the main heap: mp_ was not found".into(),
            );
        }
        match self.ring.end {
            RingEnd::Closed => {}
            RingEnd::Torn => unknown.push("arenas: the list of them is torn".into()),
            RingEnd::Missing => {
                unknown.push(
                    "arenas: the list of them leads to memory that is not in the core".into(),
                );
            }
        }
        let has_pointers = host.threads().into_iter().any(|tid| host.thread_pointer(tid).is_some());
        if !has_pointers && self.newest() >= 26 {
            unknown.push("thread caches: the thread pointers are not known".into());
        }
        if host.space().target().arch != Arch::X86_64 && self.newest() >= 26 {
            unknown.push(
                "thread caches: only the first ones of arenas are looked for on this machine"
                    .into(),
            );
        }
        self.identity.unknown = unknown;
    }
}
