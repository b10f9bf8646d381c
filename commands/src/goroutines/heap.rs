//! `::goheap`: Go's heap by the size of its slots, and its collector.

use kcore::go::{Collector, CollectorPhase, SizeClass};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

use super::subject;
use crate::heap::not_copied::note_not_copied;

/// Shows how full the heap is, and what the collector was doing.
pub struct Goheap;

const HELP: &str = "\
First come the collector's phase and pace, as far as the program's symbols name its variables. A stripped program \
tells only how many collections there were, and what is in use.\n\n\
Then each size of slot has a line, and large objects have the last ones. OBJECTS and BYTES count slots in use: those \
that the last collection reached, and those allocated since. A slot that the collector will free but has not swept yet \
counts as FREE.\n\n\
::classes counts the same objects by type, ::refs finds what refers to one, and ::path says why it is kept. \
::whatis says what lies at an address. Types come from interfaces, from the headers of large objects, and from the \
fields of types found so. An object of unknown type is counted by its size.";

impl Dcmd for Goheap {
    fn spec(&self) -> Spec {
        Spec::new("goheap", Group::Runtimes, "show Go's heap and its garbage collector")
            .help(HELP)
            .examples(&[Example {
                line: "::goheap",
                shows: "the collector's pace, and the slots of each size",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        note_not_copied(cx)?;
        for go in subject::schedulers(core)? {
            let failed = |why: &str| DcmdError::failed(why.to_owned());
            let collector = go.collector(core.as_ref()).map_err(failed)?;
            let classes = go.size_classes(core.as_ref()).map_err(failed)?;
            let damaged = collector.damaged;
            cx.emit(&CollectorRecord(collector))?;
            classes.into_iter().try_for_each(|class| cx.emit(&SizeRecord(class)))?;
            if damaged > 0 {
                cx.note(&format!("{damaged} spans of the heap are damaged or were not dumped"))?;
            }
        }
        Ok(())
    }
}

struct CollectorRecord(Collector);

impl CollectorRecord {
    /// What it does, in words.
    fn phase(&self) -> &'static str {
        match self.0.phase {
            Some(CollectorPhase::Off) if self.0.unswept > 0 => "sweeps",
            Some(CollectorPhase::Off) => "is idle",
            Some(CollectorPhase::Mark) => "marks",
            Some(CollectorPhase::MarkTermination) => "ends marking, the world is stopped",
            None => "is in a phase that is not known without symbols",
        }
    }
}

impl Record for CollectorRecord {
    fn kind(&self) -> &'static str {
        "go_collector"
    }

    fn view(&self) -> View {
        View::Line(
            "collector: {phase_text}; {cycles} collections{forced?, {forced} of them forced}\
             {unswept_text?; {unswept_text} spans to sweep}\
             \nin use:    {objects} objects, {bytes} bytes of {span_bytes}{manual_bytes?; stacks and the runtime's own: {manual_bytes}}\
             {live?\npace:      {live} bytes live{marked?, {marked} marked by the last collection}{goal?, the next one ends at {goal}}\
             {percent?; GOGC={percent}}{off_text?; GOGC={off_text}}{limit?; GOMEMLIMIT={limit}}}",
        )
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let it = &self.0;
        out.opt_text("phase", it.phase.map(CollectorPhase::as_str))
            .num("cycles", it.cycles)
            .num("forced", it.forced)
            .num("last_end", it.last_end)
            .num("objects", it.objects)
            .num("bytes", it.bytes)
            .num("span_bytes", it.span_bytes)
            .num("manual_bytes", it.manual_bytes)
            .num("unswept_spans", it.unswept)
            .num("damaged_spans", it.damaged)
            .num("live", it.live)
            .num("marked", it.marked)
            .num("goal", it.goal)
            .num("gogc", it.percent)
            .flag("gogc_off", it.is_off)
            .num("memory_limit", it.limit)
            .display("phase_text", Cell::text(self.phase()))
            .display("off_text", Cell::or_null(it.is_off.then_some("off"), Cell::text))
            .display("percent", Cell::or_null(it.percent, Cell::Num))
            .display("limit", Cell::or_null(it.limit, Cell::Num))
            .display(
                "unswept_text",
                Cell::or_null((it.unswept > 0).then_some(it.unswept), Cell::Num),
            );
    }
}

const COLUMNS: &[Column] = &[
    Column::right("size_text", "SLOT", 8),
    Column::left("pointers_text", "POINTERS", 8),
    Column::right("spans", "SPANS", 8),
    Column::right("objects", "OBJECTS", 10),
    Column::right("bytes", "BYTES", 12),
    Column::right("free", "FREE", 12),
];

struct SizeRecord(SizeClass);

impl Record for SizeRecord {
    fn kind(&self) -> &'static str {
        "go_size_class"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let it = &self.0;
        let size = it.size.map_or_else(|| "large".to_owned(), |size| size.to_string());
        out.num("size", it.size)
            .flag("pointers", !it.is_plain)
            .num("spans", it.spans)
            .num("objects", it.objects)
            .num("bytes", it.bytes)
            .num("free", it.free)
            .display("size_text", Cell::text(size))
            .display("pointers_text", Cell::text(if it.is_plain { "no" } else { "yes" }));
    }
}
