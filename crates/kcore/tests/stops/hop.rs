//! framehop's callers. It reads code as well, where a file has no unwind information.

use kcore::{Core, Image, Tid};

use crate::claim::Claim;
use crate::framehop_of_core::{self, Sections};

/// The callers of the innermost frames of all threads. It tells pcs alone.
pub fn claims(core: &Core) -> Vec<Claim> {
    let unwinder = framehop_of_core::unwinder(core, with_code);
    let caller = |tid: Tid| {
        let addresses = framehop_of_core::addresses(core, tid, &unwinder, 2);
        let pc = addresses.get(1).copied()?;
        Some(Claim { tid: tid.get().into(), pc, sp: None })
    };
    core.tids().into_iter().filter_map(caller).collect()
}

fn with_code(image: &Image) -> Sections {
    Sections { text: image.section_data(".text"), ..framehop_of_core::sections(image) }
}
