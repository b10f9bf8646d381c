//! `::dcmds` — lists the dcmds.

use std::sync::Arc;

use kcore_dcmd::{Args, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View, spec_of};

use crate::listing::{Filter, OPTIONS};

const EXAMPLES: &[Example] = &[
    Example { line: "::dcmds", shows: "every dcmd, sorted by name" },
    Example { line: "::dcmds stack", shows: "the dcmds for stacks" },
    Example { line: "::dcmds -n '^.$'", shows: "the format dcmds" },
];

/// Lists the dcmds under each of their names.
pub struct Dcmds;

impl Dcmd for Dcmds {
    fn spec(&self) -> Spec {
        Spec::new("dcmds", Group::Language, "list the dcmds")
            .options(OPTIONS)
            .operands("[expression]", 0, 1)
            .help(
                "Lists the dcmds whose name or description matches the regular expression. \
                 ::help NAME explains one dcmd.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let filter = Filter::new(args)?;
        let printers = Arc::clone(cx.shell().printers());
        let specs = cx.shell().dcmds().iter().map(|dcmd| dcmd.spec());
        let specs = specs.chain(printers.dcmds().map(|(_, dcmd)| spec_of(dcmd)));
        let mut entries: Vec<_> = specs
            .flat_map(|spec| {
                let names = std::iter::once(spec.name).chain(spec.aliases.iter().copied());
                names.map(move |name| DcmdRecord { name, spec })
            })
            .filter(|entry| filter.wants(entry.name, entry.spec.summary))
            .collect();
        entries.sort_by_key(|entry| entry.name);
        entries.dedup_by_key(|entry| entry.name);
        entries.iter().try_for_each(|entry| cx.emit(entry))
    }
}

struct DcmdRecord {
    name: &'static str,
    spec: Spec,
}

impl Record for DcmdRecord {
    fn kind(&self) -> &'static str {
        "dcmd"
    }

    fn view(&self) -> View {
        View::Line("{name:24} - {summary}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let alias_of = (self.name != self.spec.name).then_some(self.spec.name);
        out.text("name", self.name)
            .opt_text("alias_of", alias_of)
            .text("group", self.spec.group.title())
            .text("summary", self.spec.summary)
            .text("usage", self.spec.usage());
    }
}
