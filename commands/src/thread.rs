//! `::thread`: shows or chooses the current thread.

use kcore::Tid;
use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Result, Spec};

use crate::{names::Names, stack_start::known_thread, threads::ThreadRow};

/// Shows or chooses the thread that registers and stacks refer to.
pub struct Thread;

const HELP: &str = "\
The id is decimal, as ::threads prints it. Without one, and without an address, the current thread \
is shown. Registers (<rip), $C, $r and ::frame refer to the current thread.";

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
        if let Some(tid) = wanted(cx, args)? {
            let tid = known_thread(core, tid)?;
            cx.shell_mut().set_current_thread(tid);
        }
        let tid = cx.current_thread()?;
        let crashed = core.crashed_thread().map(|thread| thread.tid);
        match core.thread(tid) {
            Some(thread) => {
                cx.emit(&ThreadRow::new(Names::new(cx), thread, true, Some(tid) == crashed))
            }
            None => Err(DcmdError::failed(format!("no thread {tid}"))),
        }
    }
}

/// The thread that the operand or the address names.
fn wanted(cx: &Cx<'_>, args: &Args) -> Result<Option<Tid>> {
    match (args.first(), cx.addr()) {
        (Some(Arg::Text(text)), _) => parse_id(text).map(Some),
        (Some(Arg::Number(number)), _) => narrow(*number).map(Some),
        (None, Some(Dot::Thread(tid) | Dot::Frame { tid, .. })) => Ok(Some(tid)),
        (None, Some(dot)) => narrow(dot.number()).map(Some),
        (None, None) => Ok(None),
    }
}

/// Decimal, with or without `0t`.
fn parse_id(text: &str) -> Result<Tid> {
    let digits = text.strip_prefix("0t").unwrap_or(text);
    let id = digits.parse().map_err(|_| {
        DcmdError::failed(format!("invalid thread identifier -- {text} (ids are decimal)"))
    })?;
    Ok(Tid::new(id))
}

fn narrow(number: u64) -> Result<Tid> {
    let id = u32::try_from(number)
        .map_err(|_| DcmdError::failed(format!("no thread {number}: invalid thread identifier")))?;
    Ok(Tid::new(id))
}
