//! Walker `ulwp`: the address of the C library's structure of each thread.

use kcore::Tid;
use kcore_dcmd::{AddrUse, Cx, DcmdError, Dot, Result, Visit, Walker, WalkerSpec};

use crate::thread_operand::thread_of_dot;

/// Steps over the structures `struct pthread` of glibc or musl.
pub struct Ulwp;

impl Walker for Ulwp {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the C library's structures of all threads, or of one";
        WalkerSpec { name: "ulwp", summary, addr: AddrUse::Optional }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core();
        let tids: Vec<Tid> = match from {
            Some(dot) => vec![thread_of_dot(cx, dot)?],
            None => core.tids(),
        };
        for tid in tids {
            match core.tls().structure(tid) {
                Some(at) => visit(cx, Dot::Addr(at))?,
                None => cx.report(&DcmdError::failed(format!(
                    "the thread pointer of thread {tid} is not known"
                )))?,
            }
        }
        Ok(())
    }
}
