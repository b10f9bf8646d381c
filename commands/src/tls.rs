//! `::tls` — where a thread-local variable lies for a thread.

use kcore::{Addr, LookupError, Tid, TlsError};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use crate::thread_operand::thread_of;

/// Shows the address of a thread-local variable.
pub struct Tls;

const HELP: &str = "\
Prints the address of the variable for the current thread, or for the thread given as address, \
and sets dot to it. Without a symbol, prints where the thread-local variables of the executable \
begin. In an expression, the name of a thread-local variable stands for its address in the \
current thread. The variables of a library are allocated when a thread first uses one.";

const EXAMPLES: &[Example] = &[
    Example { line: "::tls errno", shows: "the address of errno for the current thread" },
    Example { line: "::walk thread | ::tls errno", shows: "the address of errno for every thread" },
];

impl Dcmd for Tls {
    fn spec(&self) -> Spec {
        Spec::new("tls", Group::Stacks, "find a thread-local variable of a thread")
            .addr(AddrUse::Optional)
            .operands("[symbol]", 0, 1)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let tid = thread_of(cx)?;
        let symbol = args.first().map(Arg::to_text);
        let address = match &symbol {
            Some(symbol) => variable(cx, tid, symbol)?,
            None => block(cx, tid)?,
        };
        cx.shell_mut().set_dot(Dot::Addr(address), 0);
        cx.emit(&TlsRecord { tid, symbol, address })
    }
}

fn variable(cx: &Cx<'_>, tid: Tid, text: &str) -> Result<Addr> {
    let (object, name) = match text.rsplit_once('`') {
        Some((object, name)) => (Some(object), name),
        None => (None, text),
    };
    cx.core().tls().variable(tid, object, name).map_err(|error| match error {
        LookupError::ThreadLocal(TlsError::NotThreadLocal) => {
            DcmdError::failed(format!("{text} does not refer to thread local storage"))
        }
        error => DcmdError::failed(format!("failed to lookup {text}: {error}")),
    })
}

/// The block of the executable's variables.
fn block(cx: &Cx<'_>, tid: Tid) -> Result<Addr> {
    let exe = cx.core().modules().exe();
    let exe = exe.ok_or_else(|| DcmdError::failed("no executable file is open"))?;
    cx.core()
        .tls()
        .block(tid, exe)
        .map_err(|error| DcmdError::failed(format!("failed to lookup {}: {error}", exe.name())))
}

struct TlsRecord {
    tid: Tid,
    symbol: Option<String>,
    address: Addr,
}

impl Record for TlsRecord {
    fn kind(&self) -> &'static str {
        "tls"
    }

    fn view(&self) -> View {
        View::Line("{address}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("tid", u64::from(self.tid.get()))
            .opt_text("symbol", self.symbol.as_deref())
            .addr("address", self.address);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.address))
    }
}
