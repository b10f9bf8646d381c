//! Walker `auxv`: the address of each entry of the auxiliary vector.

use kcore_dcmd::{AddrUse, Cx, DcmdError, Dot, Result, Visit, Walker, WalkerSpec};

/// Steps over the entries of the auxiliary vector on the initial stack.
pub struct Auxv;

impl Walker for Auxv {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the entries of the auxiliary vector";
        WalkerSpec { name: "auxv", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core();
        let first = core.process().auxv_address().ok_or_else(|| {
            DcmdError::failed(
                "failed to initialize walk: no auxiliary vector was found on the stack",
            )
        })?;
        let entry = u64::from(core.target().word).saturating_mul(2);
        let entries =
            (0..core.process().auxv().len() as u64).map(|index| index.saturating_mul(entry));
        entries
            .into_iter()
            .try_for_each(|offset| visit(cx, Dot::Addr(first.saturating_add(offset))))
    }
}
