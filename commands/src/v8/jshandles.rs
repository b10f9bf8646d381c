//! `::jshandles` — what a Node.js process waits for.

use std::ops::ControlFlow;

use kcore::Addr;
use kcore::objects::Stopped;
use kcore::v8::handles::{Awaited, Handles, Named, NodeHandle, State, Timer};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use super::subject::instances;
use crate::heap::not_copied::note_not_copied;

/// Lists handles, requests and timers.
pub struct Jshandles;

const HELP: &str = "\
Lists what the loops of libuv and Node.js wait for, in all threads. These are handles (servers, \
sockets, pipes, children, watchers), requests under way, workers that did not end, and timers and \
immediates that are still to come. OWNER is the JavaScript object that a handle works for. Its \
class follows, with what is known about the handle: file descriptor (fd), process (pid), signal, \
and the path or address that it is bound to. A timer shows what it calls, when, and how long that \
still takes by the clock of its loop.

Without -a, only what keeps a loop running is listed: what is active and was not unref'ed. A note \
says how many others exist. -a lists everything with its state, and `-` marks what was unref'ed. \
THREAD is the thread of the loop. kcore searches all heaps for timers and workers. In a pipe, \
::jshandles passes the addresses of the owners.";

impl Dcmd for Jshandles {
    fn spec(&self) -> Spec {
        Spec::new("jshandles", Group::Runtimes, "list handles, requests and timers of Node.js")
            .help(HELP)
            .options(&[Opt {
                flag: 'a',
                value: None,
                help: "also list what is not active, or was unref'ed",
            }])
            .examples(&[Example { line: "::jshandles", shows: "what keeps the process alive" }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        note_not_copied(cx)?;
        for v8 in instances(core)? {
            let mut watch = |done, total| {
                cx.progress(done, total);
                match cx.check_interrupt() {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            };
            let found = v8.handles(core.as_ref(), &mut watch);
            let found = found.map_err(|Stopped| DcmdError::Interrupted)?;
            list(cx, found, args.has('a'))?;
        }
        Ok(())
    }
}

/// Lists what was found, and says what is not listed.
fn list(cx: &mut Cx<'_>, found: Handles, all: bool) -> Result<()> {
    let (shown, others): (Vec<_>, Vec<_>) =
        found.all.into_iter().partition(|handle| all || handle.keeps_alive());
    let is_empty = shown.is_empty();
    for handle in shown {
        cx.emit(&Row { handle, says_state: all })?;
    }
    if let Some(doubt) = found.doubt {
        cx.note(doubt)?;
    }
    match (is_empty, others.len()) {
        (true, 0) if found.doubt.is_none() => cx.note("there are no handles, requests or timers"),
        (_, 0) => Ok(()),
        (true, count) => cx.note(&format!(
            "nothing keeps a loop running; ::jshandles -a lists {count} that do not"
        )),
        (false, count) => cx
            .note(&format!("{count} that keep no loop running are not listed: see ::jshandles -a")),
    }
}

struct Row {
    handle: NodeHandle,
    says_state: bool,
}

const COLUMNS: &[Column] = &[
    Column::left("mark", "", 1),
    Column::left("what", "WHAT", 9),
    Column::left("kind", "KIND", 8),
    Column::right("shown_at", "ADDR", 12),
    Column::right("shown_thread", "THREAD", 7),
    Column::right("owner", "OWNER", 12),
    Column::left("shown", "", 0),
];

impl Row {
    fn what(&self) -> &'static str {
        match self.handle.what {
            Awaited::Handle(_) => "handle",
            Awaited::Request => "request",
            Awaited::Worker(_) => "worker",
            Awaited::Timer(_) => "timer",
            Awaited::Immediate => "immediate",
        }
    }

    const fn kind(&self) -> Option<&'static str> {
        match self.handle.what {
            Awaited::Handle(kind) => kind,
            _ => None,
        }
    }

    const fn timer(&self) -> Option<Timer> {
        match self.handle.what {
            Awaited::Timer(timer) => Some(timer),
            _ => None,
        }
    }

    const fn worker(&self) -> Option<i32> {
        match self.handle.what {
            Awaited::Worker(number) => number,
            _ => None,
        }
    }

    /// The owner's class, and what is known of the handle.
    fn shown(&self) -> String {
        let handle = &self.handle;
        let number = |word: &str, number: Option<u32>| number.map(|it| format!("{word} {it}"));
        let class = handle.owner.as_ref().map(|owner| owner.class.to_string());
        let state = handle.state.filter(|_| self.says_state).map(|state| state.as_str().to_owned());
        let facts = [
            class,
            self.worker().map(|number| number.to_string()),
            self.called(),
            number("fd", handle.fd),
            number("pid", handle.pid),
            number("signal", handle.signal),
            handle.bound.as_deref().map(str::to_owned),
            state,
        ];
        facts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// What a timer or an immediate calls, and when.
    fn called(&self) -> Option<String> {
        let callback = self.handle.callback.as_deref().unwrap_or("<anonymous>");
        let Some(timer) = self.timer() else {
            return (self.handle.what == Awaited::Immediate).then(|| callback.to_owned());
        };
        let every = if timer.repeats { "every" } else { "after" };
        let delay = timer.delay.map_or_else(|| "?".to_owned(), |delay| delay.to_string());
        let left = match (timer.left, self.handle.state) {
            (_, Some(State::Running)) => ", runs now".to_owned(),
            (Some(left), _) if left < 0.0 => format!(", {} ms late", -left),
            (Some(left), _) => format!(", in {left} ms"),
            (None, _) => String::new(),
        };
        Some(format!("{callback} {every} {delay} ms{left}"))
    }
}

impl Record for Row {
    fn kind(&self) -> &'static str {
        "js_handle"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let handle = &self.handle;
        let class = |named: &'a Option<Named>| named.as_ref().map(|named| &*named.class);
        let (object, owner) = (tagged(&handle.object), tagged(&handle.owner));
        let thread = handle.thread.map(|thread| thread.get().to_string());
        let left = self.timer().and_then(|timer| timer.left);
        let left = Cell::or_null(left.map(|left| left as i64), Cell::Int);
        let mark = if handle.referenced == Some(false) { "-" } else { "" };
        out.text("what", self.what())
            .opt_text("kind", Row::kind(self))
            .addr("address", handle.at)
            .addr("object", object)
            .opt_text("class", class(&handle.object))
            .addr("owner", owner)
            .opt_text("owner_class", class(&handle.owner))
            .num("thread", handle.thread.map(|thread| u64::from(thread.get())))
            .opt_text("state", handle.state.map(State::as_str))
            .put("referenced", Cell::or_null(handle.referenced, Cell::Bool))
            .opt_text("callback", handle.callback.as_deref())
            .num("delay_ms", self.timer().and_then(|timer| milliseconds(timer.delay?)))
            .put("left_ms", left)
            .put("repeats", Cell::or_null(self.timer().map(|timer| timer.repeats), Cell::Bool))
            .put("worker", Cell::or_null(self.worker().map(i64::from), Cell::Int))
            .num("fd", handle.fd.map(u64::from))
            .num("pid", handle.pid.map(u64::from))
            .num("signal", handle.signal.map(u64::from))
            .opt_text("bound", handle.bound.as_deref())
            .display("mark", Cell::text(mark))
            .display("shown_at", Cell::or_null(handle.at.or(object), Cell::Addr))
            .display("shown_thread", Cell::or_null(thread, Cell::text))
            .display("shown", Cell::text(self.shown()));
    }

    fn dot(&self) -> Option<Dot> {
        tagged(&self.handle.owner).map(Dot::Addr)
    }
}

fn milliseconds(delay: f64) -> Option<u64> {
    // A value that is negative or too large becomes the nearest possible number.
    delay.is_finite().then_some(delay as u64)
}

/// The address as dcmds of JavaScript show it: with its tag.
fn tagged(named: &Option<Named>) -> Option<Addr> {
    named.as_ref().map(|named| Addr::new(named.at.get() | 1))
}
