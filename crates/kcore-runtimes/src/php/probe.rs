//! How PHP is found: by what it exports, or by the name of a program without symbols.

use std::sync::Arc;

use kcore_mem::Endian;

use super::{
    Php,
    globals::{Globals, Storage, search, version},
    layout::{Layout, numbers},
};
use crate::{Damage, Finding, FrameKind, Host, HostModule, Identity, Probe, StandIn};

/// Looks for PHP.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "php";

/// What PHP exports without threads of its own, and with them.
const EXECUTOR: &str = "executor_globals";
const EXECUTOR_OFFSET: &str = "executor_globals_offset";
const SERVER: &str = "sapi_globals";
const SERVER_OFFSET: &str = "sapi_globals_offset";
/// The machine.
const MACHINE: &str = "execute_ex";
/// What names of programs and libraries that have PHP begin with.
const NAMES: [&str; 3] = ["php", "libphp", "frankenphp"];
/// What every PHP says of itself to clients, before its release.
const BANNER: &[u8] = b"X-Powered-By: PHP/";
/// Characters of a release, at most.
const MAX_VERSION: usize = 32;
/// Offsets in the storage of a thread, at most.
const MAX_OFFSET: u64 = 1 << 20;

fn find(host: &dyn Host) -> Vec<Finding> {
    let found = host.modules().into_iter().filter_map(|module| find_in(host, module));
    found.collect()
}

fn find_in(host: &dyn Host, module: &dyn HostModule) -> Option<Finding> {
    let exports = |name| module.exported(name).is_some();
    let has_machine = exports(MACHINE) && (exports(EXECUTOR) || exports(EXECUTOR_OFFSET));
    let storage = match has_machine {
        true => storage(host, module),
        false if NAMES.iter().any(|name| module.name().starts_with(name)) => {
            Some(Storage::Fixed(Globals {
                executor: search(host.space(), &module.data())?,
                server: None,
            }))
        }
        false => return None,
    };
    let version = storage
        .and_then(|storage| told(host, &storage))
        .or_else(|| has_machine.then(|| banner(module)).flatten());
    Some(match decodable(host, storage, version.as_deref()) {
        Ok((storage, layout)) => {
            let identity = Identity {
                version: version.map(Arc::from),
                metadata: "table of its version, which the constants of the program tell".into(),
                ..Identity::new(NAME, module.name())
            };
            Finding::Found(Box::new(Php::new(identity, layout, module.span(), storage)))
        }
        Err(why) => {
            let stand_in =
                StandIn { module: module.span(), function: MACHINE, kind: FrameKind::Php };
            let version = version.map(Arc::from);
            let why = why.into();
            Finding::Damaged(Damage { name: NAME, version, why, stand_in: Some(stand_in) })
        }
    })
}

fn decodable(
    host: &dyn Host,
    storage: Option<Storage>,
    version: Option<&str>,
) -> Result<(Storage, &'static Layout), &'static str> {
    let target = host.space().target();
    if target.word_size() != 8 || target.endian != Endian::Little {
        return Err("its layouts are known on machines with little-endian words of 64 bits only");
    }
    let Some(version) = version else {
        return Err("its version is not known: its constants are damaged, or were not dumped");
    };
    let layout = Layout::of_release(version);
    let layout = layout.ok_or("its layouts are not known (those of 7.4 to 8.5 are)")?;
    let storage = storage.ok_or("where it keeps its calls was not dumped")?;
    Ok((storage, layout))
}

/// Where a module that exports it keeps what it executes.
fn storage(host: &dyn Host, module: &dyn HostModule) -> Option<Storage> {
    // A program that uses a variable of a library has the only copy that counts.
    let program = host.modules().into_iter().next();
    let at = |name| {
        let copy = program.and_then(|program| program.addr(program.exported(name)?.0));
        copy.or_else(|| module.addr(module.exported(name)?.0))
    };
    if let Some(executor) = at(EXECUTOR) {
        return Some(Storage::Fixed(Globals { executor, server: at(SERVER) }));
    }
    let offset = |name| {
        let offset = host.space().read_word(at(name)?).ok()?;
        (offset > 0 && offset < MAX_OFFSET).then_some(offset)
    };
    Some(Storage::PerThread { executor: offset(EXECUTOR_OFFSET)?, server: offset(SERVER_OFFSET) })
}

/// The release that the program's constants tell: with threads, those of the first thread that has some.
fn told(host: &dyn Host, storage: &Storage) -> Option<String> {
    match storage {
        Storage::Fixed(globals) => version(host.space(), globals.executor),
        Storage::PerThread { .. } => host
            .threads()
            .into_iter()
            .find_map(|thread| version(host.space(), storage.of(host, thread)?.executor)),
    }
}

/// The release that the file of a module says.
fn banner(module: &dyn HostModule) -> Option<String> {
    let data = module.image()?.section_data(".rodata")?;
    let at = memchr::memmem::find(&data, BANNER)?.checked_add(BANNER.len())?;
    let text: Vec<u8> =
        data.iter().skip(at).take(MAX_VERSION).copied().take_while(u8::is_ascii_graphic).collect();
    String::from_utf8(text).ok().filter(|text| numbers(text).is_some())
}
