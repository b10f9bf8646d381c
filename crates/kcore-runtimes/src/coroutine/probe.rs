//! How coroutines of C++20 are found: by the names of the parts into which compilers split them.

use std::sync::Arc;

use kcore_elf::SymbolTableKind;

use super::{
    Coroutines,
    functions::{CoroutineFunction, SIGNS, of_module},
};
use crate::{Finding, Host, HostModule, Probe, TaskProbe};

/// Looks for coroutines of C++20. It costs a search through the names of each module, and in those that have
/// coroutines a look at their symbols, so it is for those who ask for stacks that belong to no thread.
pub const PROBE: TaskProbe =
    TaskProbe { probe: Probe { name: NAME, find }, begins_task: |_| false };

/// What they are called.
pub const NAME: &str = "c++20";

fn find(host: &dyn Host) -> Vec<Finding> {
    let modules = host.modules().into_iter().filter(|module| has_sign(*module));
    let found: Vec<(Arc<str>, Vec<CoroutineFunction>)> =
        modules.map(|module| (module.name().into(), of_module(module))).collect();
    let found: Vec<_> = found.into_iter().filter(|(_, functions)| !functions.is_empty()).collect();
    match found.is_empty() {
        true => Vec::new(),
        false => vec![Finding::Found(Box::new(Coroutines::new(host, found)))],
    }
}

/// Whether names of a module have in them what those of coroutines have. Where the file itself lost them, its debug file
/// may have them.
fn has_sign(module: &dyn HostModule) -> bool {
    let Some(image) = module.image() else { return false };
    let strings = image.symbol_strings(SymbolTableKind::Full);
    if strings.is_empty() {
        return has_sign_elsewhere(module);
    }
    SIGNS.iter().any(|sign| memchr::memmem::find(&strings, sign).is_some())
}

fn has_sign_elsewhere(module: &dyn HostModule) -> bool {
    let ends = |name: &[u8]| SIGNS.iter().any(|sign| name.ends_with(sign));
    module.symbols().table().iter().any(|symbol| ends(symbol.name()))
}
