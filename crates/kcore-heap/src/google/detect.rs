//! Finding it, by the symbol of its map or by search, and proving its layout.

use std::sync::{Arc, OnceLock};

use kcore_mem::Addr;

use super::NAME;
use super::cache::Caches;
use super::descriptors::Descriptors;
use super::heap::Google;
use super::map::Map;
use super::transfer::Central;
use super::{classes, processors, threads};
use crate::module_words::holds_text;
use crate::{HeapHost, HeapIdentity, HeapModule, NativeHeap, Refused};

/// How names of experiments begin that every build has.
const TEXT: [&[u8]; 2] = [b"TEST_ONLY_", b"TCMALLOC_"];
/// What every build exports, and how the name of its map ends (`tcmalloc_internal::Static::pagemap_`).
const EXPORTED: &str = "MallocExtension_Internal_GetNumericProperty";
const MAP: &str = "tcmalloc_internal6Static8pagemap_E";

/// How the name of the transfer caches ends that processors share by their last-level cache, where they have how many of
/// these there are, and how many it takes for them to be used (`ShardedTransferCacheManagerBase::kMinShardsAllowed`).
const SHARED: &str = "tcmalloc_internal6Static23sharded_transfer_cache_E";
const SHARES: u64 = 16;
const LEAST_SHARES: u64 = 3;

/// Every copy of it in the process.
pub(super) fn detect(host: &dyn HeapHost) -> Vec<Result<Box<dyn NativeHeap>, Refused>> {
    let modules = host.modules();
    let has_it = |module: &&&dyn HeapModule| {
        module.exported(EXPORTED).is_some() || holds_text(host.space(), **module, TEXT)
    };
    modules.iter().filter(has_it).map(|module| heap_of(host, *module)).collect()
}

fn heap_of(host: &dyn HeapHost, module: &dyn HeapModule) -> Result<Box<dyn NativeHeap>, Refused> {
    let refused = |why: &str| Refused {
        allocator: NAME,
        version: None,
        instance: module.name().into(),
        why: why.into(),
        ranges: Vec::new(),
    };
    let Some((map, how)) = map(host, module) else {
        return Err(refused(
            "its map of pages was not found: its memory is not in the core, or its layout is not the one of 2025 with pages of 8, 32 or 256 KiB",
        ));
    };
    let descriptors = Descriptors::find(host, module, &map);
    let Some(mut sizes) = classes::find(host, module, &map, &descriptors) else {
        return Err(refused(
            "no table of the sizes of its classes fits its spans: its layout is not the one of 2025",
        ));
    };
    let central = Central::find(host, module, &sizes);
    if let Some(central) = &central {
        sizes.truncate(usize::try_from(central.classes).unwrap_or(usize::MAX));
    }
    let mut caches = Caches::default();
    let has_processors = processors::add(host, module, sizes.len(), &mut caches);
    threads::add(host, module, &sizes, &mut caches);
    let has_threads = caches.caches.len() > usize::from(has_processors);
    if let Some(central) = &central {
        central.add_cached(host.space(), &mut caches);
    }
    caches.blocks.sort_unstable();
    let mut unknown = unknown(central.is_some(), has_processors || has_threads, &descriptors);
    if has_processors && has_shared(host, module) {
        let why = "transfer caches that some processors share: they are not read, so blocks in them count as used";
        unknown.push(why.into());
    }
    let identity = identity(module, &map, how, unknown);
    let proxies = OnceLock::new();
    Ok(Box::new(Google { identity, map, descriptors, sizes, central, caches, proxies }))
}

/// The map, and how it was found.
fn map(host: &dyn HeapHost, module: &dyn HeapModule) -> Option<(Map, &'static str)> {
    let searched = || Map::find(host, module).map(|map| (map, "found by search"));
    let named = || {
        let symbols = module.symbols_ending(MAP).into_iter();
        let at = |(_, at, _): (String, Addr, u64)| Map::at(host, module, at);
        symbols.filter_map(at).map(|map| (map, "found by its symbol")).next()
    };
    searched().or_else(named)
}

/// Whether processors share transfer caches, as far as a symbol tells.
fn has_shared(host: &dyn HeapHost, module: &dyn HeapModule) -> bool {
    let shares = |(_, at, _): (String, Addr, u64)| {
        host.space().read_uint(at.saturating_add(SHARES), 4).unwrap_or(0)
    };
    module.symbols_ending(SHARED).into_iter().map(shares).any(|shares| shares >= LEAST_SHARES)
}

/// What is not known of it.
fn unknown(has_central: bool, has_caches: bool, descriptors: &Descriptors) -> Vec<Arc<str>> {
    let mut unknown: Vec<Arc<str>> = Vec::new();
    if !has_central {
        let why =
            "transfer caches: the central lists fit no table, so blocks in them count as used";
        unknown.push(why.into());
    }
    if !has_caches {
        let why =
            "caches of processors and threads: none proves itself, so blocks in them count as used";
        unknown.push(why.into());
    }
    if descriptors.in_use.is_none() {
        let why = "freed large blocks: the free descriptors of spans were not found, so some of these count as used";
        unknown.push(why.into());
    }
    unknown
}

fn identity(module: &dyn HeapModule, map: &Map, how: &str, unknown: Vec<Arc<str>>) -> HeapIdentity {
    let kib = map.layout.page() >> 10;
    HeapIdentity {
        allocator: NAME,
        version: None,
        instance: module.name().into(),
        layout: format!(
            "table for 2025, {how}, pages of {kib} KiB, map of pages at {:x}",
            map.root
        )
        .into(),
        unknown,
    }
}
