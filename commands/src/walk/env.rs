//! Walker `env`: the address of each variable of the environment.

use kcore_dcmd::{AddrUse, Cx, DcmdError, Dot, Result, Visit, Walker, WalkerSpec};

/// Steps over the strings of each variable of the environment, as the kernel put them on the initial stack.
pub struct Env;

impl Walker for Env {
    fn spec(&self) -> WalkerSpec {
        let summary = "the address of each variable of the environment";
        WalkerSpec { name: "env", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let stack = cx.core().initial_stack().ok_or_else(|| {
            DcmdError::failed("failed to initialize walk: no initial stack was found")
        })?;
        stack.env.iter().try_for_each(|string| visit(cx, Dot::Addr(string.at)))
    }
}
