//! `::reachedby` — the way from a root to a block of a native heap.

use kcore::{Addr, Core, DoubtKind, native_heap::BlockState, objects::Stopped};
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, DcmdError, Example, Group, Result, Spec};

use super::{
    pointer_record::{PointerRecord, RootRecord},
    subject,
};
use crate::watched::watched;

const HELP: &str = "\
Shows a shortest chain of pointers from a root to the block that holds the address: first the root, then each block and \
the pointer that leads to it. Roots are data of modules. Only if none of it leads there, ::reachedby tries registers, \
stacks and other memory that is in no heap, where a pointer may be left over.\n\n\
Where types are known, a pointer has the name that the program has for it, such as list.head->next. Where they are not, \
the offset in the block before is shown. A block is taken for an array only where a pointer to pointers leads to it. Any word counts that holds an address within a block, so a number may look \
like a pointer.";

const EXAMPLES: &[Example] = &[Example {
    line: "::walk malloc | ::head -n 1 | ::reachedby",
    shows: "what keeps the first block",
}];

/// Shows what keeps a block.
pub struct Reachedby;

impl Dcmd for Reachedby {
    fn spec(&self) -> Spec {
        Spec::new("reachedby", Group::Memory, "show what keeps a block of a native heap")
            .addr(AddrUse::Required)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let at = cx.dot().addr();
        in_use(cx, at)?;
        let core = cx.core().clone();
        let path = watched(cx, |watch| core.heaps().path_to(at, watch).ok_or(Stopped))?;
        let path = path.ok_or_else(|| unreached(&core, at))?;
        cx.emit(&RootRecord::new(&core, path.root))?;
        let half = if path.left_out > 0 { path.steps.len() / 2 } else { path.steps.len() };
        let (before, behind) = path.steps.split_at(half);
        for (depth, step) in (0..).zip(before) {
            cx.emit(&PointerRecord::new(&core, step, Some(depth)))?;
        }
        if path.left_out > 0 {
            cx.note(&format!("{} pointers of the way are left out here", path.left_out))?;
        }
        let first = half.saturating_add(path.left_out) as u64;
        (first..)
            .zip(behind)
            .try_for_each(|(depth, step)| cx.emit(&PointerRecord::new(&core, step, Some(depth))))
    }
}

fn unreached(core: &Core, at: Addr) -> DcmdError {
    let reason = match core.doubts().iter().any(|doubt| doubt.kind == DoubtKind::Damage) {
        true => "; the core is damaged, and pointers may be missing",
        false => "",
    };
    DcmdError::at(at, format!("no pointer that kcore knows leads to the block of {at:x}{reason}"))
}

/// Checks that an address lies in a block that is in use.
///
/// # Errors
/// When it is not.
pub fn in_use(cx: &mut Cx<'_>, at: Addr) -> Result<()> {
    if subject::wanted(cx, &Args::default())?.is_empty() {
        return Err(DcmdError::failed("no heap can be read".to_owned()));
    }
    let state = cx.core().heaps().block_at(at).map(|owned| owned.block.state);
    match state {
        Some(BlockState::Used) => Ok(()),
        Some(state) => {
            Err(DcmdError::at(at, format!("the block of {at:x} is {}, not in use", state.as_str())))
        }
        None => Err(DcmdError::at(at, format!("{at:x} is in no block"))),
    }
}
