//! Walker `mapping`: the first address of each mapping.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

/// Steps over the mappings, lowest address first.
pub struct Mappings;

impl Walker for Mappings {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the first addresses of the mappings, lowest first";
        WalkerSpec { name: "mapping", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let mut mappings = cx.core().mappings().iter();
        mappings.try_for_each(|mapping| visit(cx, Dot::Addr(mapping.range.start)))
    }
}
