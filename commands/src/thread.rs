//! `::thread`: shows or chooses the current thread.

use kcore::Tid;
use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Result, Spec};

use crate::{names::Names, thread_operand::thread_of_dot, threads::ThreadRow};

/// Shows or chooses the thread that registers and stacks refer to.
pub struct Thread;

const HELP: &str = "\
The id is decimal, as ::threads prints it. Without an id and an address, shows the current \
thread. Registers such as <rip, $C, $r and ::frame refer to the current thread. After a pipe, \
::thread shows the threads and chooses none of them.";

impl Dcmd for Thread {
    fn spec(&self) -> Spec {
        Spec::new("thread", Group::Stacks, "show or choose the current thread")
            .addr(AddrUse::Optional)
            .operands("[id]", 0, 1)
            .help(HELP)
            .examples(&[Example { line: "::thread", shows: "the current thread" }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let wanted = wanted(cx, args)?;
        // Several threads are shown, and none is chosen.
        if let Some(tid) = wanted.filter(|_| !cx.input().looped) {
            cx.shell_mut().set_current_thread(tid);
        }
        let current = cx.current_thread()?;
        let tid = wanted.unwrap_or(current);
        let crashed = core.crashed_thread().map(|thread| thread.tid);
        match core.thread(tid) {
            Some(thread) => cx.emit(&ThreadRow::new(
                Names::new(cx),
                thread,
                tid == current || !cx.input().looped,
                Some(tid) == crashed,
            )),
            None => Err(DcmdError::failed(format!("no thread {tid}"))),
        }
    }
}

/// The thread that the operand, which is decimal, or the address names.
fn wanted(cx: &Cx<'_>, args: &Args) -> Result<Option<Tid>> {
    let id = match args.first() {
        Some(Arg::Text(text)) => parse_id(text)?,
        Some(Arg::Number(number)) => *number,
        None => return cx.addr().map(|dot| thread_of_dot(cx, dot)).transpose(),
    };
    let tid = u32::try_from(id).ok().map(Tid::new);
    let known = tid.filter(|tid| cx.core().thread(*tid).is_some());
    let unknown = || DcmdError::failed(format!("no thread {id}: invalid thread identifier"));
    known.map(Some).ok_or_else(unknown)
}

/// Decimal, with or without `0t`.
fn parse_id(text: &str) -> Result<u64> {
    let digits = text.strip_prefix("0t").unwrap_or(text);
    digits.parse().map_err(|_| {
        DcmdError::failed(format!("invalid thread identifier -- {text} (ids are decimal)"))
    })
}
