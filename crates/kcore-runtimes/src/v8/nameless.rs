//! V8 in a program that keeps no name of it: Deno, Electron, whoever embeds it and exports nothing.
//!
//! Nothing tells its version then, and so no layout: it is only said to be there.

use super::probe::NAME;
use crate::{Damage, Finding, Host, HostModule};

/// V8 alone has so much code, at least.
const MIN_CODE: u64 = 16 << 20;
/// Where constants lie that a program prints.
const SECTION: &str = ".rodata";
/// What every V8 can say: a message of `src/builtins/base.tq` and `src/execution/messages.cc`, in all
/// versions from 9.4 to 15.0.
const MESSAGE: &[u8] = b"Fatal JavaScript invalid size error";

/// A module that holds V8, if the process makes code at run time and one has its messages.
pub fn find(host: &dyn Host) -> Option<Finding> {
    let ranges = host.ranges();
    let makes_code = ranges.iter().any(|range| range.executable && !range.is_file);
    let modules = host.modules().into_iter().filter(|module| module.code_size() >= MIN_CODE);
    let module = modules.filter(|_| makes_code).find(|module| says_so(*module))?;
    let name = module.name();
    Some(Finding::Damaged(Damage {
        name: NAME,
        version: None,
        why: format!(
            "{name} exports nothing that tells its version and layouts: JavaScript frames are addresses"
        )
        .into(),
        stand_in: None,
    }))
}

fn says_so(module: &dyn HostModule) -> bool {
    let constants = module.image().and_then(|image| image.section_data(SECTION));
    constants.is_some_and(|constants| memchr::memmem::find(&constants, MESSAGE).is_some())
}
