//! `::javaheap` — the objects of Java's heap by class.

use std::sync::Arc;

use kcore::java::ClassHistogram;
use kcore::{Addr, java::HistogramRow};
use kcore_dcmd::{
    Args, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::subject;
use crate::{heap::not_copied::note_not_copied, script_values, watched::watched};

const OPTIONS: &[Opt] = &[
    Opt { flag: 'l', value: None, help: "also count what is reachable from known roots" },
    Opt {
        flag: 'n',
        value: Some("count"),
        help: "how many classes to show, in decimal (default all)",
    },
];

const HELP: &str = "\
Counts the objects of the heap by class, as jcmd's GC.class_histogram -all does: with those that are \
dead and not collected yet. BYTES is the size of the objects alone. The last line counts all.

With -l, LIVE and LIVEBYTES count what known roots reach, among them each word of a stack that may be \
a reference. That may be a little more than the collector would keep.

::classes counts the heaps of all languages, and with -r shows what each class retains. In a pipe, \
::javaheap passes an object of each class.";

const EXAMPLES: &[Example] = &[
    Example { line: "::javaheap -n 10", shows: "the ten classes with the most bytes" },
    Example { line: "::javaheap -l -n 10", shows: "the same with what is still in use" },
];

/// Counts objects by class.
pub struct Javaheap;

impl Dcmd for Javaheap {
    fn spec(&self) -> Spec {
        Spec::new("javaheap", Group::Runtimes, "count the objects of Java's heap by class")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        note_not_copied(cx)?;
        subject::note_damage(cx)?;
        let most = script_values::number(args, 'n', u64::MAX)?;
        for java in subject::heaps(core)? {
            let found = match args.has('l') {
                true => watched(cx, |watch| java.live_histogram(core.as_ref(), watch))?,
                false => watched(cx, |watch| java.histogram(core.as_ref(), watch).map(Some))?,
            };
            let too_many = "the heap has too many objects to find out what is in use";
            let ClassHistogram { rows, total } =
                found.ok_or_else(|| DcmdError::failed(too_many))?;
            let shown = usize::try_from(most).unwrap_or(usize::MAX);
            rows.iter().take(shown).try_for_each(|row| cx.emit(&Row { row, is_total: false }))?;
            cx.emit(&Row { row: &total, is_total: true })?;
            subject::note_missing(cx, java)?;
        }
        Ok(())
    }
}

const COLUMNS: &[Column] = &[
    Column::right("count", "COUNT", 10),
    Column::right("bytes", "BYTES", 12),
    Column::right("live", "LIVE", 10),
    Column::right("live_bytes", "LIVEBYTES", 12),
    Column::left("shown", "CLASS", 0),
];

/// The objects of a class, or of all.
struct Row<'h> {
    row: &'h HistogramRow,
    is_total: bool,
}

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "java_class"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let HistogramRow { class, count, bytes, live, example } = self.row;
        let class: Option<&Arc<str>> = class.as_ref();
        let shown =
            if self.is_total { "(all)" } else { class.map_or("(unknown)", |class| &**class) };
        out.opt_text("class", class.map(|class| &**class))
            .flag("total", self.is_total)
            .num("count", *count)
            .num("bytes", *bytes)
            .num("live", live.map(|(count, _)| count))
            .num("live_bytes", live.map(|(_, bytes)| bytes))
            .addr("example", *example)
            .display("shown", kcore_dcmd::Cell::text(shown));
    }

    fn dot(&self) -> Option<Dot> {
        self.row.example.map(|at: Addr| Dot::Addr(at))
    }
}
