//! `::walkers` — lists the walkers.

use std::sync::Arc;

use kcore::{DeclaredWalker, PrinterFile};
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
        let printers = Arc::clone(cx.shell().printers());
        let specs = cx.shell().walkers().iter().map(|walker| WalkerRecord::from(walker.spec()));
        let own = printers.walkers().map(WalkerRecord::from);
        let mut wanted: Vec<_> =
            specs.chain(own).filter(|it| filter.wants(it.name, it.summary)).collect();
        // Of two of one name, the first counts: kcore's own, or that of the file that was loaded last.
        wanted.sort_by_key(|walker| walker.name);
        wanted.dedup_by_key(|walker| walker.name);
        wanted.iter().try_for_each(|walker| cx.emit(walker))
    }
}

struct WalkerRecord<'w> {
    name: &'w str,
    summary: &'w str,
    addr: AddrUse,
    /// The file that declares it.
    file: Option<&'w str>,
}

impl From<WalkerSpec> for WalkerRecord<'_> {
    fn from(WalkerSpec { name, summary, addr }: WalkerSpec) -> Self {
        Self { name, summary, addr, file: None }
    }
}

impl<'w> From<(&'w PrinterFile, &'w DeclaredWalker)> for WalkerRecord<'w> {
    fn from((file, walker): (&'w PrinterFile, &'w DeclaredWalker)) -> Self {
        let addr = if walker.start.is_some() { AddrUse::Optional } else { AddrUse::Required };
        Self { name: &walker.name, summary: &walker.summary, addr, file: Some(&file.name) }
    }
}

impl Record for WalkerRecord<'_> {
    fn kind(&self) -> &'static str {
        "walker"
    }

    fn view(&self) -> View {
        View::Line("{name:24} - {summary}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let address = match self.addr {
            AddrUse::None => "none",
            AddrUse::Optional => "optional",
            AddrUse::Required => "required",
        };
        out.text("name", self.name)
            .text("address", address)
            .text("summary", self.summary)
            .opt_text("file", self.file);
    }
}
