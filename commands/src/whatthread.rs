//! `::whatthread` — the threads on whose stacks a word stands.

use kcore::{Addr, Tid};
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use crate::element::Element;

/// Words that are read between two looks at whether the user wants to stop.
const BATCH: usize = 1 << 16;

/// Lists the threads whose stacks hold a word.
pub struct Whatthread;

impl Dcmd for Whatthread {
    fn spec(&self) -> Spec {
        Spec::new("whatthread", Group::Stacks, "list the threads on whose stacks an address stands")
            .addr(AddrUse::Required)
            .options(&[Opt { flag: 'v', value: None, help: "each place where it stands" }])
            .help(
                "Of each stack the part in use is looked at: from the stack pointer to its end, at \
                 aligned words. A word may be left from a call that has returned.",
            )
            .examples(&[Example { line: "main::whatthread", shows: "nothing, or what calls main" }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let wanted = cx.dot().number();
        for tid in cx.core().tids() {
            for at in places(cx, tid, wanted, !args.has('v'))? {
                match args.has('v') {
                    true => cx.emit(&StackWord { tid, at })?,
                    false => cx.emit(&Element::from(Dot::Thread(tid)))?,
                }
            }
        }
        Ok(())
    }
}

/// The addresses in the used part of a stack at which a word stands, or the first of them.
fn places(cx: &Cx<'_>, tid: Tid, wanted: u64, first: bool) -> Result<Vec<Addr>> {
    let core = cx.core();
    let Some(range) = core.stack_range(tid) else { return Ok(Vec::new()) };
    let word = u64::from(core.target().word);
    let mut found = Vec::new();
    let mut at = Addr::new(range.start.get() & !word.saturating_sub(1));
    let mut count: usize = 0;
    while at < range.end {
        // A stack of which nothing more is held has no more words.
        let Ok(held) = core.space().read_word(at) else { break };
        if held == wanted {
            found.push(at);
            if first {
                break;
            }
        }
        count = count.wrapping_add(1);
        if count.is_multiple_of(BATCH) {
            cx.check_interrupt()?;
        }
        at = at.saturating_add(word);
    }
    Ok(found)
}

/// A place on a stack.
struct StackWord {
    tid: Tid,
    at: Addr,
}

impl Record for StackWord {
    fn kind(&self) -> &'static str {
        "stack_word"
    }

    fn view(&self) -> View {
        View::Line("{address:#x} is in the stack of thread {tid}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("tid", u64::from(self.tid.get())).addr("address", self.at);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Thread(self.tid))
    }
}
