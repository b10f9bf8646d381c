//! `::jsawaiting` — functions that wait for promises and are on no stack.

use std::collections::HashMap;
use std::ops::ControlFlow;

use kcore::objects::Stopped;
use kcore::v8::Waiting;
use kcore::{Addr, LanguageFrame};
use kcore_dcmd::stack::original_cell;
use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::subject::instances;

/// Lists the functions that wait for promises.
pub struct Jsawaiting;

const HELP: &str = "\
Lists async functions that wait at an `await`, and functions that `then` registered, for promises \
that are not settled. Each line shows how many wait alike, one of them, where it goes on, and the \
promise. For `then`, the place is that of its function. Below it, `at async` shows what waits for \
it in turn, as in a stack trace of V8. Functions that wait alike, in the same places, share one \
line; -a lists each one.

The address is that of the object that V8 keeps for a waiting function. ::jsprint shows that \
object, and ::jspath shows what keeps it. kcore looks at all objects of the heap, so the list may \
hold some that nothing refers to any more, until the next garbage collection. In a pipe, \
::jsawaiting passes the addresses of those that wait.";

impl Dcmd for Jsawaiting {
    fn spec(&self) -> Spec {
        let summary = "list async functions that wait, and what waits for them";
        Spec::new("jsawaiting", Group::Runtimes, summary)
            .help(HELP)
            .options(&[Opt { flag: 'a', value: None, help: "list each one separately" }])
            .examples(&[
                Example { line: "::jsawaiting", shows: "what waits, the most common first" },
                Example { line: "::jsawaiting | ::jsprint", shows: "the objects of what waits" },
            ])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let mut is_empty = true;
        for v8 in instances(core)? {
            let mut watch = |done, total| {
                cx.progress(done, total);
                match cx.check_interrupt() {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            };
            let found = v8.waiting(core.as_ref(), &mut watch);
            let found = found.map_err(|Stopped| DcmdError::Interrupted)?;
            is_empty &= found.is_empty();
            let rows = if args.has('a') { each(found) } else { alike(found) };
            rows.iter().try_for_each(|row| cx.emit(row))?;
        }
        if is_empty { cx.note("nothing waits for a promise") } else { Ok(()) }
    }
}

fn each(found: Vec<Waiting>) -> Vec<Row> {
    found.into_iter().map(|waiting| Row { count: 1, waiting }).collect()
}

/// Those that wait in the same places together, the most common first.
fn alike(found: Vec<Waiting>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut by_places: HashMap<Vec<String>, usize> = HashMap::new();
    for waiting in found {
        let places = waiting.frames.iter().map(shown).collect();
        let at = *by_places.entry(places).or_insert(rows.len());
        match rows.get_mut(at) {
            Some(row) => row.count = row.count.saturating_add(1),
            None => rows.push(Row { count: 1, waiting }),
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

/// As V8's traces have it.
fn shown(frame: &LanguageFrame) -> String {
    let name = frame.function.as_deref().unwrap_or("<anonymous>");
    let Some(file) = frame.file.as_deref() else { return name.to_owned() };
    let place = [frame.line, frame.column].into_iter().flatten();
    let place = place.fold(file.to_owned(), |place, number| format!("{place}:{number}"));
    format!("{name} ({place})")
}

struct Row {
    count: u64,
    waiting: Waiting,
}

impl Row {
    fn cell(frame: &LanguageFrame) -> Cell<'_> {
        let in_script = frame.place_in_script();
        Cell::Object(vec![
            ("function", Cell::or_null(in_script.function, Cell::text)),
            ("file", Cell::or_null(in_script.file, Cell::text)),
            ("line", Cell::or_null(in_script.line.map(u64::from), Cell::Num)),
            ("column", Cell::or_null(in_script.column.map(u64::from), Cell::Num)),
            ("original", original_cell(frame.original_place())),
            ("object", Cell::or_null(frame.object.map(tagged), Cell::Addr)),
        ])
    }
}

fn tagged(at: Addr) -> Addr {
    Addr::new(at.get() | 1)
}

impl Record for Row {
    fn kind(&self) -> &'static str {
        "js_awaiting"
    }

    fn view(&self) -> View {
        View::Line(
            "{shown_count} {waiter} {kind_word} {first}, for the promise {promise}{others*\n                 at async {.}}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let waiting = &self.waiting;
        let mut lines = waiting.frames.iter().map(|frame| Cell::text(shown(frame)));
        let first = lines.next().unwrap_or(Cell::Null);
        out.num("count", self.count)
            .addr("waiter", tagged(waiting.waiter))
            .addr("promise", tagged(waiting.promise))
            .flag("then", waiting.is_then)
            .put("frames", Cell::List(waiting.frames.iter().map(Self::cell).collect()))
            .display("shown_count", Cell::text(format!("{:>6}x", self.count)))
            .display("kind_word", Cell::text(if waiting.is_then { "then " } else { "await" }))
            .display("first", first)
            .display("others", Cell::List(lines.collect()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(tagged(self.waiting.waiter)))
    }
}
