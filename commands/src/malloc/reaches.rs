//! `::reaches` — what a block of a native heap leads to.

use kcore::objects::Stopped;
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, Example, Group, Result, Spec};

use super::{pointer_record::PointerRecord, reachedby::in_use};
use crate::watched::watched;

const HELP: &str = "\
Shows the pointers that lie in the block that holds the address, and the blocks in use that they lead to. A note says \
how many blocks the block leads to in all, through those too, and how large they are together. Others may keep them as well.\n\n\
Where the type of the block is known, a pointer has the name of its member. Where it is not, its offset is shown. \
Any word counts that holds an address within a block, so a number may look like a pointer.";

const EXAMPLES: &[Example] = &[Example {
    line: "::walk malloc | ::head -n 1 | ::reaches",
    shows: "what the first block leads to",
}];

/// Pointers of one block that are shown.
const MAX_POINTERS: usize = 1 << 20;

/// Shows what a block leads to.
pub struct Reaches;

impl Dcmd for Reaches {
    fn spec(&self) -> Spec {
        Spec::new("reaches", Group::Memory, "show what a block of a native heap leads to")
            .addr(AddrUse::Required)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let at = cx.dot().addr();
        in_use(cx, at)?;
        let core = cx.core().clone();
        let reach =
            watched(cx, |watch| core.heaps().reaches(at, MAX_POINTERS, watch).ok_or(Stopped))?;
        let Some(reach) = reach else { return Ok(()) };
        for pointer in &reach.pointers {
            cx.emit(&PointerRecord::new(&core, pointer, None))?;
        }
        if reach.pointers.len() == MAX_POINTERS {
            cx.note(&format!("only the first {MAX_POINTERS} pointers are shown"))?;
        }
        cx.note(&format!("it leads to {} blocks in use of {} bytes", reach.count, reach.bytes))
    }
}
