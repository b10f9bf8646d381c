//! Walker `linkmap`: the address of each `struct link_map`.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

/// Steps over the dynamic linker's list, all namespaces, the program's own first.
pub struct LinkMap;

impl Walker for LinkMap {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the link-map entries of the dynamic linker";
        WalkerSpec { name: "linkmap", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let entries = cx.core().process().link_map();
        entries.iter().try_for_each(|entry| visit(cx, Dot::Addr(entry.at)))
    }
}
