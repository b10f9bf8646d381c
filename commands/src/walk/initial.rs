//! Walkers `arg` and `env`: the address of each string that the kernel put on the initial stack.

use kcore::{InitialStack, InitialString};
use kcore_dcmd::{AddrUse, Cx, DcmdError, Dot, Result, Visit, Walker, WalkerSpec};

/// Steps over the strings of one of the two vectors of the initial stack.
pub struct Initial {
    spec: WalkerSpec,
    strings: fn(&InitialStack) -> &[InitialString],
}

/// The arguments.
pub const ARG: Initial = Initial {
    spec: WalkerSpec {
        name: "arg",
        summary: "walk the addresses of the arguments",
        addr: AddrUse::None,
    },
    strings: |stack| &stack.args,
};

/// The environment.
pub const ENV: Initial = Initial {
    spec: WalkerSpec {
        name: "env",
        summary: "walk the addresses of the environment variables",
        addr: AddrUse::None,
    },
    strings: |stack| &stack.env,
};

impl Walker for Initial {
    fn spec(&self) -> WalkerSpec {
        self.spec
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let stack = cx.core().process().initial_stack().ok_or_else(|| {
            DcmdError::failed("failed to initialize walk: no initial stack was found")
        })?;
        (self.strings)(&stack).iter().try_for_each(|string| visit(cx, Dot::Addr(string.at)))
    }
}
