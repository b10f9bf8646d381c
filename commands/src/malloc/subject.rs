//! Which heaps a dcmd is about.

use std::ops::ControlFlow;
use std::sync::Arc;

use kcore::{
    Core, DoubtKind, Endian,
    native_heap::{Block, BlockFilter, HeapNumber},
    objects::Stopped,
};
use kcore_dcmd::{Args, Cx, DcmdError, Opt, Result};

use crate::{heap::not_copied::note_not_copied, watched::watched};

/// The option that names an allocator.
pub const ALLOCATOR: Opt = Opt {
    flag: 'A',
    value: Some("allocator"),
    help: "only the heaps of this allocator, such as glibc",
};

/// The numbers of the heaps that are wanted; notes what cannot be read.
///
/// # Errors
/// When there is none.
pub fn wanted(cx: &mut Cx<'_>, args: &Args) -> Result<Vec<HeapNumber>> {
    let name = args.value('A').map(|name| name.to_text());
    let core = cx.core().clone();
    note_not_copied(cx)?;
    let heaps = core.heaps().found();
    for refused in
        heaps.refused().iter().filter(|it| name.as_ref().is_none_or(|name| name == it.allocator))
    {
        let version =
            refused.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        cx.note(&format!(
            "{}{version} in {}: {}",
            refused.allocator, refused.instance, refused.why
        ))?;
    }
    let is_wanted = |allocator: &str| name.as_ref().is_none_or(|name| name == allocator);
    let all = heaps.all().filter(|(_, heap)| is_wanted(heap.identity().allocator));
    let all: Vec<HeapNumber> = all.map(|(number, _)| number).collect();
    if all.is_empty() && heaps.refused().is_empty() {
        let of = name.map(|name| format!(" of {name}")).unwrap_or_default();
        let why = why_none(&core);
        return Err(DcmdError::failed(format!("no heap{of} was found{why}")));
    }
    Ok(all)
}

/// Why there may be a heap that was not found, to end a sentence.
fn why_none(core: &Core) -> &'static str {
    let target = core.target();
    let is_cut = core.doubts().iter().any(|doubt| doubt.kind == DoubtKind::Damage);
    let is_musl = core.modules().in_scope_order().any(|module| is_musl(module.name()));
    match (target.word == 8 && target.endian == Endian::Little, is_musl) {
        (false, _) => {
            ": layouts of glibc's malloc are known for little-endian machines of 64 bits only"
        }
        (true, true) => {
            ": musl is there, and its malloc was never used, is not in the core, or is older than 1.2.1"
        }
        (true, false) if core.snapshot().facts().is_none() && is_cut => {
            ": the core is truncated, and may lack it"
        }
        (true, false) => "",
    }
}

/// Whether a module is musl, which is library and dynamic linker in one.
fn is_musl(name: &str) -> bool {
    name.starts_with("ld-musl-") || name.starts_with("libc.musl-")
}

/// Tells of the blocks of a heap, and notes what could not be walked. `tell` may end the walk with an error.
///
/// # Errors
/// When the user stopped it, and what `tell` ended with.
pub fn each_block(
    cx: &mut Cx<'_>,
    core: &Arc<Core>,
    heap: HeapNumber,
    filter: BlockFilter,
    tell: &mut dyn FnMut(&mut Cx<'_>, &Block) -> Result<()>,
) -> Result<()> {
    // Whoever shows blocks may wait for the terminal: they are gathered first, some thousand at a time.
    let mut from = filter.within.start;
    let mut notes: Vec<String> = Vec::new();
    loop {
        let mut blocks: Vec<Block> = Vec::new();
        let part = BlockFilter { within: kcore::AddrRange::new(from, filter.within.end), ..filter };
        let told = watched(cx, |watch| {
            let gathered = core.heaps().each_block(heap, part, watch, &mut |batch| {
                blocks.extend(
                    batch
                        .iter()
                        .filter(|block| block.whole.start >= from || from == filter.within.start),
                );
                if blocks.len() >= GATHERED {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            gathered.ok_or(Stopped)
        })?;
        notes.extend(told);
        for block in &blocks {
            tell(cx, block)?;
        }
        match blocks.last() {
            Some(last) if blocks.len() >= GATHERED => from = last.whole.end,
            _ => break,
        }
    }
    notes.sort();
    notes.dedup();
    notes.iter().try_for_each(|note| cx.note(note))
}

/// Blocks that are gathered before they are shown.
const GATHERED: usize = 1 << 14;
