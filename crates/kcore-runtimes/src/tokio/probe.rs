//! How tokio is found.

use std::sync::{Arc, OnceLock};

use kcore_elf::SymbolTableKind;

use super::{
    Tokio,
    vtable::{TaskVtable, missing_bytes, tables},
};
use crate::{Damage, Finding, Host, HostModule, Identity, Probe, TaskProbe, Undecoded};

/// Looks for tasks of tokio. It costs a search through the names or the constants of each module, and in those that
/// have tokio a look at their data, so it is for those who ask for stacks that belong to no thread.
pub const PROBE: TaskProbe =
    TaskProbe { probe: Probe { name: NAME, find }, begins_task: |_| false };

/// What it is called.
pub const NAME: &str = "tokio";

/// What the names of its functions have in common, as `rustc` mangles them in both ways.
const SYMBOLS: &[u8] = b"5tokio7runtime4task";
/// Where constants lie; among them the paths of its source files, in messages of panics.
const CONSTANTS: &str = ".rodata";
const SOURCES: &[u8] = b"/tokio-1.";
/// Bytes of code that a module has which holds it.
const MIN_CODE: u64 = 64 << 10;
/// Bytes of a version, at most.
const MAX_VERSION: usize = 24;
/// The first release with the layout of tasks that is known here: 1.24.
const FIRST_MINOR: u32 = 24;

fn find(host: &dyn Host) -> Vec<Finding> {
    let modules = host.modules().into_iter().filter(|module| module.code_size() >= MIN_CODE);
    modules.filter_map(|module| find_in(host, module)).collect()
}

fn find_in(host: &dyn Host, module: &dyn HostModule) -> Option<Finding> {
    let image = module.image()?;
    let strings = image.symbol_strings(SymbolTableKind::Full);
    let is_named = memchr::memmem::find(&strings, SYMBOLS).is_some();
    if !is_named && !strings.is_empty() {
        return None;
    }
    let version = version_of(module);
    if !is_named && version.is_none() {
        return None;
    }
    if let Some((version, _)) = version.as_ref().filter(|(_, minor)| *minor < FIRST_MINOR) {
        return Some(damaged(module, version));
    }
    let vtables = tables(host, module);
    let version = version.map(|(version, _)| version);
    if vtables.is_empty() {
        return unread(host, module, version);
    }
    let names = if is_named { Names::Symbols } else { Names::Stripped };
    Some(Finding::Found(Box::new(found(module, version, names, vtables))))
}

/// What a module has in its own symbols.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Symbols,
    Stripped,
}

fn found(
    module: &dyn HostModule,
    version: Option<Arc<str>>,
    names: Names,
    vtables: Vec<TaskVtable>,
) -> Tokio {
    let has_types = module.symbols().debug_info().is_some();
    let why = match (has_types, names) {
        (true, _) => None,
        (false, Names::Symbols) => Some("has no debug information"),
        (false, Names::Stripped) => Some("has neither symbols nor debug information"),
    };
    let undecoded = why.map(|why| {
        let why = format!("what tasks wait for: {} {why}", module.name());
        Undecoded { why: why.into(), nearest: None }
    });
    Tokio {
        identity: Identity {
            name: NAME,
            version,
            instance: module.name().into(),
            metadata: format!("tables of functions in {}", module.name()).into(),
            undecoded: undecoded.into_iter().collect(),
        },
        vtables: Arc::new(vtables.into_iter().map(|table| (table.at, table)).collect()),
        shapes: Arc::default(),
        cells: Arc::default(),
        kinds: Arc::default(),
        known: OnceLock::new(),
    }
}

/// What is said of a module whose memory is not all there, and which may have had the tables there.
fn unread(host: &dyn Host, module: &dyn HostModule, version: Option<Arc<str>>) -> Option<Finding> {
    let missing = missing_bytes(host, module);
    (missing > 0).then(|| {
        let why = format!(
            "tasks of tokio: {missing:#x} bytes of the data of {}, by which they are known, are not in the core",
            module.name()
        );
        Finding::Damaged(Damage { name: NAME, version, why: why.into(), stand_in: None })
    })
}

fn damaged(module: &dyn HostModule, version: &str) -> Finding {
    let why = format!(
        "tokio {version} of {}: the layout of its tasks is known from 1.{FIRST_MINOR} on",
        module.name()
    );
    let version = Some(version.into());
    Finding::Damaged(Damage { name: NAME, version, why: why.into(), stand_in: None })
}

/// The version in the path of a source file, and its second number.
fn version_of(module: &dyn HostModule) -> Option<(Arc<str>, u32)> {
    let constants = module.image()?.section_data(CONSTANTS)?;
    let found = memchr::memmem::find_iter(&constants, SOURCES);
    found.filter_map(|at| version_in(constants.get(at..)?)).next()
}

fn version_in(path: &[u8]) -> Option<(Arc<str>, u32)> {
    let rest = path.strip_prefix(b"/tokio-")?;
    let len = rest.iter().take(MAX_VERSION).position(|byte| *byte == b'/')?;
    let version = std::str::from_utf8(rest.get(..len)?).ok()?;
    let minor = version.split('.').nth(1)?.parse().ok()?;
    Some((version.into(), minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_source_file_has_the_version() {
        let version = |path: &[u8]| version_in(path).map(|(text, minor)| (text.to_string(), minor));
        assert_eq!(version(b"/tokio-1.54.1/src/lib.rs"), Some(("1.54.1".to_owned(), 54)));
        assert_eq!(version(b"/tokio-1.8/x"), Some(("1.8".to_owned(), 8)));
        assert_eq!(version(b"/tokio-1.54.1"), None);
        assert_eq!(version(b"/tokio-1.x/src"), None);
        assert_eq!(version(b"/tokio-util"), None);
    }
}
