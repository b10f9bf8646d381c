//! `$?` — the process, the signal it died of, and the registers.

use kcore::SignalStatus;
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View,
};

use crate::{regs::emit_registers, thread_operand::thread_of};

/// Shows what state the process is in.
pub struct ProcessState;

impl Dcmd for ProcessState {
    fn spec(&self) -> Spec {
        Spec::new("$?", Group::Process, "print process id, signal and registers")
            .addr(AddrUse::Optional)
            .help(
                "Shows the current thread, or the thread given as address. $ alone is the same \
                 dcmd. ::status tells more about the process.",
            )
            .examples(&[Example { line: "$?", shows: "the signal, and the registers" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        let Some(pid) = core.process().pid() else {
            return cx.emit(&State { pid: None, signal: None });
        };
        let tid = thread_of(cx)?;
        let signal = core.status().signal;
        cx.emit(&State { pid: Some(pid), signal })?;
        emit_registers(cx, tid, 0)
    }
}

struct State {
    pid: Option<u32>,
    signal: Option<SignalStatus>,
}

impl Record for State {
    fn kind(&self) -> &'static str {
        "process_state"
    }

    fn view(&self) -> View {
        View::Line(
            "{pid?process id = {pid}{signal?\n{signal}{signal_text?: {signal_text}}}}{pid^no process}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let signal = self.signal.as_ref();
        out.num("pid", self.pid.map(u64::from))
            .put("signal", Cell::or_null(signal, |it| Cell::text(it.name.as_str())))
            .opt_text("signal_text", signal.and_then(|it| it.text));
    }
}
