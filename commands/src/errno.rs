//! `::errno` — the error number of a thread's last failed call of the C library.

use kcore::{Addr, Tid, errno};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use crate::thread_operand::thread_of;

/// Shows the error number of a thread.
pub struct Errno;

const EXAMPLES: &[Example] = &[
    Example { line: "::errno", shows: "the error number of the current thread" },
    Example { line: "::walk thread | ::errno", shows: "the error number of every thread" },
];

impl Dcmd for Errno {
    fn spec(&self) -> Spec {
        Spec::new("errno", Group::Stacks, "print the value of errno of a thread")
            .addr(AddrUse::Optional)
            .help(
                "Prints the variable errno of the C library for the current thread, or for the \
                 thread given as address. The value is decimal, with its name. Calls that \
                 succeed do not change errno, so the value may be old.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let tid = thread_of(cx)?;
        let core = cx.core();
        let address = core
            .tls()
            .errno(tid)
            .map_err(|error| DcmdError::failed(format!("failed to lookup errno: {error}")))?;
        let value = core.space().read_uint(address, 4)? as u32;
        let whose = cx.input().looped;
        let value = value.cast_signed();
        let name = errno::name_on(core.arch(), value);
        cx.emit(&ErrnoRecord { tid, address, value, name, whose })
    }
}

struct ErrnoRecord {
    tid: Tid,
    address: Addr,
    value: i32,
    name: Option<&'static str>,
    /// Whether the line names the thread, because there are several.
    whose: bool,
}

impl Record for ErrnoRecord {
    fn kind(&self) -> &'static str {
        "errno"
    }

    fn view(&self) -> View {
        View::Line("{whose?thread {tid:d}: }{value}{name? ({name})}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("tid", u64::from(self.tid.get()))
            .put("value", Cell::Int(i64::from(self.value)))
            .opt_text("name", self.name)
            .addr("address", self.address)
            .display("whose", Cell::Bool(self.whose));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Number(i64::from(self.value).cast_unsigned()))
    }
}
