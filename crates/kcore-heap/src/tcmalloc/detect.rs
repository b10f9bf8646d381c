//! Finding it, and telling its version.

use std::sync::Arc;

use kcore_mem::AddressSpace;
use memchr::memmem;

use super::NAME;
use super::cache::Caches;
use super::central;
use super::heap::Tcmalloc;
use super::map::Map;
use crate::module_words::{constants, holds_text};
use crate::{HeapHost, HeapIdentity, HeapModule, NativeHeap, Refused};

/// What every build asks the environment for.
const TEXT: [&[u8]; 2] = [b"TCMALLOC_RELEASE", b"_RATE"];
/// What stands before the version.
const VERSION: &[u8] = b"gperftools ";

/// Every copy of it in the process.
pub(super) fn detect(host: &dyn HeapHost) -> Vec<Result<Box<dyn NativeHeap>, Refused>> {
    let modules = host.modules();
    let with_it = modules.iter().filter(|module| holds_text(host.space(), **module, TEXT));
    with_it.map(|module| heap_of(host, *module)).collect()
}

fn heap_of(host: &dyn HeapHost, module: &dyn HeapModule) -> Result<Box<dyn NativeHeap>, Refused> {
    let version = version(host.space(), module);
    let refused = |why: &str| Refused {
        allocator: NAME,
        version: version.clone(),
        instance: module.name().into(),
        why: why.into(),
        ranges: Vec::new(),
    };
    let Some(mut caches) = Caches::find(host, module) else {
        return Err(refused(
            "no cache of a thread proves itself, so that the sizes of its blocks are not known",
        ));
    };
    let Some(map) = Map::find(host, module) else {
        return Err(refused(
            "its map of pages was not found: its memory is not in the core, or its version is not known",
        ));
    };
    let has_central = central::add(host, module, &mut caches);
    let identity = identity(module, version, &map, has_central);
    Ok(Box::new(Tcmalloc::new(identity, map, caches)))
}

fn identity(
    module: &dyn HeapModule,
    version: Option<Arc<str>>,
    map: &Map,
    has_central: bool,
) -> HeapIdentity {
    let kib = 1_u64.wrapping_shl(map.lg_page) >> 10;
    let mut unknown: Vec<Arc<str>> = Vec::new();
    if !has_central {
        unknown.push(
            "transfer caches: the central lists fit no table, so blocks in them count as used"
                .into(),
        );
    }
    HeapIdentity {
        allocator: NAME,
        version,
        instance: module.name().into(),
        layout: format!(
            "table for 2.7 to 2.17, pages of {kib} KiB, map of pages at {:x}",
            map.root
        )
        .into(),
        unknown,
    }
}

/// Its version as it stands among the constants.
fn version(space: &dyn AddressSpace, module: &dyn HeapModule) -> Option<Arc<str>> {
    constants(space, module).into_iter().find_map(version_in)
}

fn version_in(bytes: &[u8]) -> Option<Arc<str>> {
    memmem::find_iter(bytes, VERSION).find_map(|at| {
        let rest = bytes.get(at.checked_add(VERSION.len())?..)?;
        let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let version = std::str::from_utf8(rest.get(..end)?).ok()?;
        (version.len() > 2 && version.contains('.')).then(|| version.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_behind_the_name() {
        assert_eq!(version_in(b"x\0gperftools 2.10\0").as_deref(), Some("2.10"));
        assert_eq!(version_in(b"gperftools project\0"), None);
        assert_eq!(version_in(b"gperftools 2"), None);
    }
}
