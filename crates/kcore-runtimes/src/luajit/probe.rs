//! How LuaJIT is found: `luajit.h`.

use std::sync::Arc;

use kcore_mem::Endian;

use super::LuaJit;
use crate::{Damage, Finding, FrameKind, Host, HostModule, Identity, Probe, StandIn};

/// Looks for LuaJIT.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "luajit";

/// What every LuaJIT exports that programs can be linked with, or load libraries into.
const EXPORTED: &str = "luaJIT_setmode";
/// What runs functions of Lua, where symbols were kept.
const MACHINE: &str = "lj_vm_call";
/// What every LuaJIT says of itself, before its release.
const BANNER: &[u8] = b"LuaJIT 2.";
const BEFORE_RELEASE: usize = 7;
/// Characters of a release, at most.
const MAX_VERSION: usize = 32;

fn find(host: &dyn Host) -> Vec<Finding> {
    let with = host.modules().into_iter().filter(|module| module.exported(EXPORTED).is_some());
    let target = host.space().target();
    let is_known = target.word_size() == 8 && target.endian == Endian::Little;
    with.map(|module| {
        let version = release(module);
        let damaged = |why: &str| {
            let stand_in =
                StandIn { module: module.span(), function: MACHINE, kind: FrameKind::Lua };
            let version = version.as_deref().map(Arc::from);
            let why = why.into();
            Finding::Damaged(Damage { name: NAME, version, why, stand_in: Some(stand_in) })
        };
        if !is_known {
            return damaged(
                "its layouts are known on machines with little-endian words of 64 bits only",
            );
        }
        if version.as_deref().is_some_and(|version| !version.starts_with("2.1")) {
            return damaged("its layouts are not known (those of 2.1 are)");
        }
        let identity = Identity {
            version: version.as_deref().map(Arc::from),
            metadata: "table of 2.1 with pointers of 64 bits, which the shape of its states tells"
                .into(),
            ..Identity::new(NAME, module.name())
        };
        Finding::Found(Box::new(LuaJit::new(identity, module.span())))
    })
    .collect()
}

/// The release that the file of a module says: `2.1.0-beta3`.
fn release(module: &dyn HostModule) -> Option<String> {
    let data = module.image()?.section_data(".rodata")?;
    let at = memchr::memmem::find(&data, BANNER)?.checked_add(BEFORE_RELEASE)?;
    let text: Vec<u8> =
        data.iter().skip(at).take(MAX_VERSION).copied().take_while(u8::is_ascii_graphic).collect();
    String::from_utf8(text).ok()
}
