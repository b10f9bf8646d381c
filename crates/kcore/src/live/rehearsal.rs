//! What memory answers need besides stacks: it is asked for once beforehand, and what was read is
//! noted.

use kcore_parallel::prelude::*;

use crate::{Core, MAX_FRAMES, Tid};

/// Asks what concerns the process as a whole: modules, runtimes, arguments, last words.
pub fn ask_process(core: &Core) {
    core.runtimes();
    core.process().link_map();
    core.status();
    core.mappings();
}

/// Walks every stack, and names its frames where a runtime is needed for that.
pub fn walk_stacks(core: &Core) {
    let tids = core.tids();
    tids.par_iter().for_each_init(
        || core.stacks().walker(),
        |walker, tid| {
            if let Some(walker) = walker {
                let stack = core.stacks().of_thread_with(walker, *tid, MAX_FRAMES);
                core.decoded(&stack);
            }
            ask_thread(core, *tid);
        },
    );
}

fn ask_thread(core: &Core, tid: Tid) {
    core.waits_in(tid);
    core.thread_facts(tid);
}
