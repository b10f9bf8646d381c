//! `::siginfo`: the signal of which the process died, or that a thread was taking.

use kcore::{SignalDetail, SignalInfo, Tid, signal};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use crate::stack_start::known_thread;

/// Shows the `siginfo_t` of a thread.
pub struct Siginfo;

impl Dcmd for Siginfo {
    fn spec(&self) -> Spec {
        Spec::new("siginfo", Group::Process, "show why a signal was sent")
            .addr(AddrUse::Optional)
            .help(
                "The siginfo_t of the current thread, or of the thread before it. A kernel's core \
                   holds the one of the thread that died, and no others.",
            )
            .examples(&[Example {
                line: "::siginfo",
                shows: "the signal of which the process died",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        let tid = match cx.addr() {
            Some(Dot::Thread(tid) | Dot::Frame { tid, .. }) => tid,
            Some(dot) => Tid::new(u32::try_from(dot.number()).unwrap_or(u32::MAX)),
            None => cx.current_thread()?,
        };
        known_thread(core, tid)?;
        let info = core.thread(tid).and_then(|thread| thread.siginfo);
        let info = info.ok_or_else(|| {
            DcmdError::failed(format!("the core holds no siginfo of thread {tid}"))
        })?;
        cx.emit(&SiginfoRecord { tid, info })
    }
}

struct SiginfoRecord {
    tid: Tid,
    info: SignalInfo,
}

impl Record for SiginfoRecord {
    fn kind(&self) -> &'static str {
        "siginfo"
    }

    fn view(&self) -> View {
        View::Line(
            "thread {tid}: {signal} ({number}), code {code}{code_name? {code_name}}{meaning?: {meaning}}\
             {address?\naddress: {address:#}}{sender_pid?\nsender: pid {sender_pid} uid {sender_uid}}\
             {syscall?\nsystem call: {syscall}}{errno?\nerrno: {errno}}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let (mut address, mut sender, mut syscall) = (None, None, None);
        match self.info.detail {
            SignalDetail::Fault { address: at } => address = Some(at),
            SignalDetail::Sender { pid, uid } => sender = Some((pid, uid)),
            SignalDetail::SystemCall { address: at, number } => {
                (address, syscall) = (Some(at), Some(u64::from(number)));
            }
            SignalDetail::None => {}
        }
        let number = u16::try_from(self.info.number).unwrap_or_default();
        out.num("tid", u64::from(self.tid.get()))
            .put("number", Cell::Int(i64::from(self.info.number)))
            .text("signal", signal::name(number))
            .put("code", Cell::Int(i64::from(self.info.code)))
            .opt_text("code_name", signal::code_name(&self.info))
            .opt_text("meaning", signal::code_text(&self.info))
            .put("errno", errno(self.info.errno))
            .addr("address", address)
            .num("sender_pid", sender.map(|(pid, _)| u64::from(pid)))
            .num("sender_uid", sender.map(|(_, uid)| u64::from(uid)))
            .num("syscall", syscall);
    }
}

/// A signal without an error number has none.
fn errno(value: i32) -> Cell<'static> {
    if value == 0 { Cell::Null } else { Cell::Int(i64::from(value)) }
}
