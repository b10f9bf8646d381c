//! `::walkers` — lists the walkers.

use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View, WalkerSpec,
};

use crate::listing::{Filter, OPTIONS};

const EXAMPLES: &[Example] =
    &[Example { line: "::walkers", shows: "every walker, sorted by name" }];

/// Lists the walkers.
pub struct Walkers;

impl Dcmd for Walkers {
    fn spec(&self) -> Spec {
        Spec::new("walkers", Group::Language, "list the walkers")
            .options(OPTIONS)
            .operands("[expression]", 0, 1)
            .help("Lists the walkers whose name or description matches the regular expression.")
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let filter = Filter::new(args)?;
        let specs = cx.shell().walkers().iter().map(|walker| walker.spec());
        let mut wanted: Vec<_> =
            specs.filter(|spec| filter.wants(spec.name, spec.summary)).map(WalkerRecord).collect();
        wanted.sort_by_key(|walker| walker.0.name);
        wanted.iter().try_for_each(|walker| cx.emit(walker))
    }
}

struct WalkerRecord(WalkerSpec);

impl Record for WalkerRecord {
    fn kind(&self) -> &'static str {
        "walker"
    }

    fn view(&self) -> View {
        View::Line("{name:24} - {summary}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let address = match self.0.addr {
            AddrUse::None => "none",
            AddrUse::Optional => "optional",
            AddrUse::Required => "required",
        };
        out.text("name", self.0.name).text("address", address).text("summary", self.0.summary);
    }
}
