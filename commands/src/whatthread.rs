//! `::whatthread` — the threads on whose stacks a word stands.

use kcore::search::{UnitSize, ValuePattern};
use kcore::{Addr, Tid};
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use crate::element::Element;

/// Lists the threads whose stacks hold a word.
pub struct Whatthread;

impl Dcmd for Whatthread {
    fn spec(&self) -> Spec {
        Spec::new("whatthread", Group::Stacks, "list the threads on whose stacks an address stands")
            .addr(AddrUse::Required)
            .options(&[Opt {
                flag: 'v',
                value: None,
                help: "also show each place where it stands",
            }])
            .help(
                "Searches the part of each stack that is in use, from the stack pointer to the \
                 end, at aligned words. A word may be left over from a call that has returned.",
            )
            .examples(&[Example {
                line: "main::whatthread",
                shows: "the threads whose stacks hold the address of main, if any",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let wanted = cx.dot().number();
        cx.core().tids().into_iter().try_for_each(|tid| look(cx, tid, wanted, args.has('v')))
    }
}

/// Emits the places in the used part of a stack at which a word stands, or the thread if there is one.
fn look(cx: &mut Cx<'_>, tid: Tid, wanted: u64, places: bool) -> Result<()> {
    let core = cx.core();
    cx.check_interrupt()?;
    let unit = UnitSize::from_bytes(core.target().word.into());
    let Some((range, unit)) = core.stacks().range_of_thread(tid).zip(unit) else { return Ok(()) };
    for batch in core.memory().search(ValuePattern::exactly(wanted), unit, range) {
        cx.check_interrupt()?;
        if !places && !batch.matches.is_empty() {
            return cx.emit(&Element::from(Dot::Thread(tid)));
        }
        batch.matches.iter().try_for_each(|found| cx.emit(&StackWord { tid, at: found.addr }))?;
    }
    Ok(())
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
