//! framehop's stacks, over the same files and the same memory.

use kcore::{Core, Image};

use super::{PeerFrame, Stacks};
use crate::framehop_of_core::{self, Sections};

/// More frames than the deepest stack has.
const MAX_FRAMES: usize = 1 << 20;

/// Walks all stacks of a core.
pub fn stacks(core: &Core) -> Stacks {
    let unwinder = framehop_of_core::unwinder(core, with_debug_frame);
    let stack = |tid| {
        let addresses = framehop_of_core::addresses(core, tid, &unwinder, MAX_FRAMES);
        addresses.into_iter().map(|pc| PeerFrame { pc, name: None }).collect()
    };
    core.threads().iter().map(|thread| (thread.tid.get(), stack(thread.tid))).collect()
}

fn with_debug_frame(image: &Image) -> Sections {
    Sections {
        debug_frame: image.section_data(".debug_frame"),
        ..framehop_of_core::sections(image)
    }
}
