//! Finding it.

use kcore_mem::Target;

use super::{NAME, context::Context, heap::Musl};
use crate::{Detected, HeapHost, HeapIdentity, HeapModule};

/// The process's C library, or a static program.
pub(super) fn detect(host: &dyn HeapHost) -> Vec<Detected> {
    // Of machines whose pages have several sizes, the context has one word more.
    if host.space().target() != Target::X86_64 {
        return Vec::new();
    }
    let modules = host.modules();
    let found = candidates(&modules).find_map(|module| {
        let context = Context::find(host, &module.data())?;
        let heap: Detected = Ok(Box::new(Musl::new(identity(module), context)));
        Some(heap)
    });
    found.into_iter().collect()
}

/// The modules that may have it: musl, which is library and dynamic linker in one, or else the program, if no other C
/// library is there.
fn candidates<'m>(
    modules: &'m [&'m dyn HeapModule],
) -> impl Iterator<Item = &'m dyn HeapModule> + 'm {
    let is_glibc = |name: &str| name.starts_with("libc.so.") || name.starts_with("libc-2.");
    let has_musl = modules.iter().any(|module| is_musl(module.name()));
    let has_other = modules.iter().any(|module| is_glibc(module.name()));
    let program = modules.first().filter(|_| !has_musl && !has_other);
    let libraries = modules.iter().filter(|module| is_musl(module.name()));
    libraries.chain(program).copied()
}

fn is_musl(name: &str) -> bool {
    name == "libc.so" || name.starts_with("ld-musl-") || name.starts_with("libc.musl-")
}

fn identity(module: &dyn HeapModule) -> HeapIdentity {
    HeapIdentity {
        allocator: NAME,
        version: Some("1.2.1 and later".into()),
        instance: module.name().into(),
        layout: "table for mallocng of 1.2.1 and later, proven by its secret".into(),
        unknown: Vec::new(),
    }
}
