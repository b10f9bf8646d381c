//! `::siginfo`: the signal of which the process died, or that a thread was taking.

use kcore::{Addr, Core, SignalDetail, SignalInfo, Tid, signal};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

use crate::{operand, thread_operand::thread_of};

/// Shows the `siginfo_t` of a thread.
pub struct Siginfo;

impl Dcmd for Siginfo {
    fn spec(&self) -> Spec {
        Spec::new("siginfo", Group::Process, "show why a signal was sent")
            .addr(AddrUse::Optional)
            .help(
                "Shows the siginfo_t of the current thread, or of the thread given as address. \
                 Another address is that of a siginfo_t, such as a signal handler receives. A \
                 core that the kernel wrote holds only the siginfo_t of the thread that died.",
            )
            .examples(&[Example {
                line: "::siginfo",
                shows: "the signal of which the process died",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        if let Some(at) = cx.addr().and_then(|dot| operand::memory(core, dot)) {
            return cx.emit(&SiginfoRecord { tid: None, info: read(core, at)? });
        }
        let tid = thread_of(cx)?;
        let info = core.thread(tid).and_then(|thread| thread.siginfo);
        let info = info.ok_or_else(|| {
            DcmdError::failed(format!("the core holds no siginfo of thread {tid}"))
        })?;
        cx.emit(&SiginfoRecord { tid: Some(tid), info })
    }
}

/// The `siginfo_t` at an address, such as a signal handler was given.
fn read(core: &Core, at: Addr) -> Result<SignalInfo> {
    /// Bytes of a `siginfo_t`.
    const SIZE: usize = 128;
    let mut bytes = [0; SIZE];
    core.space().read(at, &mut bytes)?;
    let info = SignalInfo::parse(&bytes, core.target()).filter(|info| info.number != 0);
    info.ok_or_else(|| DcmdError::at(at, format!("no siginfo_t at address {at:x}")))
}

struct SiginfoRecord {
    /// The thread to which it belongs; `None` for one in memory.
    tid: Option<Tid>,
    info: SignalInfo,
}

impl Record for SiginfoRecord {
    fn kind(&self) -> &'static str {
        "siginfo"
    }

    fn view(&self) -> View {
        View::Line(
            "{tid?thread {tid}: }{signal} ({number}){code?, code {code}}{code_name? {code_name}}{meaning?: {meaning}}\
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
        let code = Some(self.info.code).filter(|code| *code != SignalInfo::NO_CODE);
        let number = u16::try_from(self.info.number).unwrap_or_default();
        out.num("tid", self.tid.map(|tid| u64::from(tid.get())))
            .put("number", Cell::Int(i64::from(self.info.number)))
            .text("signal", signal::name(number))
            .put("code", Cell::or_null(code, |code| Cell::Int(i64::from(code))))
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
