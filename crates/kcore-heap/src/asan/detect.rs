//! Finding it.

use kcore_mem::Target;

use super::{NAME, heap::Asan, instance::Instance};
use crate::{Detected, HeapHost, HeapIdentity, HeapModule, Refused};

/// What every build exports, also one that is built into a program.
const EXPORTED: &str = "__asan_init";

/// The runtime of the process: there is one, since it replaces malloc.
pub(super) fn detect(host: &dyn HeapHost) -> Vec<Detected> {
    let modules = host.modules();
    let module = modules.into_iter().find(|module| module.exported(EXPORTED).is_some());
    module.map(|module| of_module(host, module)).into_iter().collect()
}

fn of_module(host: &dyn HeapHost, module: &dyn HeapModule) -> Detected {
    let is_known = host.space().target() == Target::X86_64;
    let instance = is_known.then(|| Instance::find(host, &module.data())).flatten();
    let instance = instance.ok_or_else(|| refused(module, is_known))?;
    Ok(Box::new(Asan::new(identity(module), instance, module.data())))
}

fn refused(module: &dyn HeapModule, is_known: bool) -> Refused {
    let why = match is_known {
        true => "its allocator is not laid out as that of GCC 12 or LLVM 14 to 19",
        false => "its allocator is known on x86-64 alone",
    };
    Refused {
        allocator: NAME,
        version: None,
        instance: module.name().into(),
        why: why.into(),
        ranges: Vec::new(),
    }
}

fn identity(module: &dyn HeapModule) -> HeapIdentity {
    HeapIdentity {
        allocator: NAME,
        version: None,
        instance: module.name().into(),
        layout: "table for GCC 12 and LLVM 14 to 19, proven by the words of its allocator".into(),
        unknown: Vec::new(),
    }
}
