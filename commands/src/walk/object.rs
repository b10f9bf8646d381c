//! Walker `object`: the base address of each module.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

/// Steps over the modules, lowest address first.
pub struct Objects;

impl Walker for Objects {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the base addresses of the objects, lowest first";
        WalkerSpec { name: "object", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let mut modules = cx.core().modules().all().iter();
        modules.try_for_each(|module| visit(cx, Dot::Addr(module.base())))
    }
}
