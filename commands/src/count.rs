//! `::count` — the number of values in a pipe.

use kcore_dcmd::{Args, Cx, Dcmd, Dot, Example, Fields, Group, Record, Result, Spec, View};

const EXAMPLES: &[Example] =
    &[Example { line: "::walk thread | ::count", shows: "the number of threads" }];

/// Counts the values of a pipe.
pub struct Count;

impl Dcmd for Count {
    fn spec(&self) -> Spec {
        Spec::new("count", Group::Language, "count the values of a pipe")
            .aliases(&["wc"])
            .takes_list()
            .help(
                "The number is decimal. A pipe without values runs no dcmd, so it prints no \
                 count. You can use ::count only after a pipe.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let count = cx.piped()?.len() as u64;
        cx.emit(&CountRecord(count))
    }
}

struct CountRecord(u64);

impl Record for CountRecord {
    fn kind(&self) -> &'static str {
        "count"
    }

    fn view(&self) -> View {
        View::Line("{count:d}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("count", self.0);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Number(self.0))
    }
}
