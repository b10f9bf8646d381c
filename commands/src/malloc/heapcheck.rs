//! `::heapcheck` — what is torn in native heaps.

use std::ops::ControlFlow;

use kcore::native_heap::{Block, HeapNumber, Torn, WrittenText};
use kcore::objects::Stopped;
use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::{block_record::BlockRecord, subject};
use crate::watched::watched;

/// Torn places of one heap that are shown, unless all are asked for.
const SHOWN: usize = 20;
/// Torn places that are kept, at most.
const MAX_KEPT: usize = 1 << 16;

const OPTIONS: &[Opt] = &[
    subject::ALLOCATOR,
    Opt { flag: 'a', value: None, help: "show every place, and not the first 20 of each heap" },
];

const HELP: &str = "\
Looks for what is torn in native heaps: impossible sizes, copies of sizes that \
differ, lists that lead astray or into themselves, blocks that are free twice. Marks and lists that \
contradict each other are found too.\n\n\
For each place it shows the word and what it holds. If text lies over the word, the text is shown: it may say who wrote \
it. The block before a torn one is shown too, because programs mostly write beyond the end of a block.\n\n\
A thread that was inside malloc may have left lists half changed. A place in an arena that was locked is marked.";

const EXAMPLES: &[Example] = &[
    Example { line: "::heapcheck", shows: "what is torn, if anything" },
    Example { line: "::heapcheck | ::dump", shows: "the memory around each torn word" },
];

/// Looks for what is torn.
pub struct Heapcheck;

impl Dcmd for Heapcheck {
    fn spec(&self) -> Spec {
        Spec::new("heapcheck", Group::Memory, "look for what is torn in native heaps")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        for heap in subject::wanted(cx, args)? {
            let most = if args.has('a') { MAX_KEPT } else { SHOWN };
            check(cx, heap, most)?;
        }
        Ok(())
    }
}

fn check(cx: &mut Cx<'_>, heap: HeapNumber, most: usize) -> Result<()> {
    let core = cx.core().clone();
    let (mut torn, mut count) = (Vec::new(), 0_usize);
    watched(cx, |watch| {
        let checked = core.heaps().check(heap, watch, &mut |it| {
            count = count.saturating_add(1);
            if torn.len() < most {
                torn.push(it);
            }
            if count < MAX_KEPT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        checked.ok_or(Stopped)
    })?;
    let Some(found) = core.heaps().found().get(heap) else { return Ok(()) };
    let identity = found.identity();
    let name = format!("{} in {}", identity.allocator, identity.instance);
    if torn.is_empty() {
        return cx.note(&format!("{name}: nothing is torn"));
    }
    for it in torn {
        let block =
            |block: Option<Block>| block.and_then(|block| BlockRecord::new(&core, heap, block));
        let text = core.heaps().text_over(it.at);
        let (own, before) = (block(it.block), block(it.before));
        cx.emit(&TornRecord { allocator: identity.allocator, torn: it, text, block: own, before })?;
    }
    let rest = count.saturating_sub(most);
    if rest > 0 { cx.note(&format!("{name}: {rest} more (-a shows them)")) } else { Ok(()) }
}

const TORN_VIEW: &str = "\
    {address}: {why}{may_be_in_motion? (its arena was locked: it may be half changed, and not torn)}\
    {holds?\n    it holds {holds}}{text?\n    text lies over it: {text}}\
    {block_text?\n    in {block_text} at {block_at}}\
    {before_text?\n    before it lies {before_text} at {before_at}}";

struct TornRecord {
    allocator: &'static str,
    torn: Torn,
    text: Option<WrittenText>,
    block: Option<BlockRecord>,
    before: Option<BlockRecord>,
}

impl Record for TornRecord {
    fn kind(&self) -> &'static str {
        "heap_torn"
    }

    fn view(&self) -> View {
        View::Line(TORN_VIEW)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let it = &self.torn;
        let (block, before) = (self.block.as_ref(), self.before.as_ref());
        let at =
            |record: Option<&BlockRecord>| Cell::or_null(record, |it| Cell::Addr(it.block().at));
        let words =
            |record: Option<&BlockRecord>| Cell::or_null(record, |it| Cell::text(it.words()));
        out.text("allocator", self.allocator)
            .text("kind", it.kind.as_str())
            .addr("address", it.at)
            .hex("holds", it.holds)
            .text("why", it.why.as_str())
            .opt_text("text", self.text.as_ref().map(|text| text.text.as_str()))
            .addr("text_at", self.text.as_ref().map(|text| text.at))
            .put("block", Cell::or_null(block, BlockRecord::cell))
            .put("before", Cell::or_null(before, BlockRecord::cell))
            .flag("may_be_in_motion", it.may_be_in_motion)
            .display("block_at", at(block))
            .display("block_text", words(block))
            .display("before_at", at(before))
            .display("before_text", words(before));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.torn.at))
    }
}
