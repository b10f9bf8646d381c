//! `::jshandles` — what a Node.js process waits for.

use std::ops::ControlFlow;

use kcore::Addr;
use kcore::v8::census::Stopped;
use kcore::v8::handles::{Awaited, Named, NodeHandle};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use super::subject::instances;

/// Lists handles, requests and timers.
pub struct Jshandles;

const HELP: &str = "\
What libuv's loops and Node.js wait for: handles (servers, sockets, pipes, children, watchers), requests \
under way, timers and immediates still to come. OWNER is the JavaScript object that a handle works for. \
Without -a only what keeps the process alive is listed; what was unref'ed is marked `-`. Timers are \
searched in the whole heap. In a pipe the owners' addresses are handed on.";

impl Dcmd for Jshandles {
    fn spec(&self) -> Spec {
        Spec::new("jshandles", Group::Runtimes, "list handles, requests and timers of Node.js")
            .help(HELP)
            .options(&[Opt { flag: 'a', value: None, help: "also what was unref'ed" }])
            .examples(&[Example { line: "::jshandles", shows: "what keeps the process alive" }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
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
            let all = args.has('a');
            for handle in found.into_iter().filter(|it| all || it.referenced != Some(false)) {
                cx.emit(&Row(handle))?;
            }
        }
        Ok(())
    }
}

struct Row(NodeHandle);

const COLUMNS: &[Column] = &[
    Column::left("mark", "", 1),
    Column::left("what", "WHAT", 9),
    Column::left("kind", "KIND", 8),
    Column::right("shown_at", "ADDR", 12),
    Column::left("class", "CLASS", 16),
    Column::right("owner", "OWNER", 12),
    Column::left("shown", "", 0),
];

impl Row {
    fn what(&self) -> &'static str {
        match self.0.what {
            Awaited::Handle(_) => "handle",
            Awaited::Request => "request",
            Awaited::Timer { .. } => "timer",
            Awaited::Immediate => "immediate",
        }
    }

    const fn kind(&self) -> Option<&'static str> {
        match self.0.what {
            Awaited::Handle(kind) => kind,
            _ => None,
        }
    }

    const fn timer(&self) -> Option<(Option<f64>, bool)> {
        match self.0.what {
            Awaited::Timer { delay, repeats } => Some((delay, repeats)),
            _ => None,
        }
    }

    /// The owner's class, and of a timer what it calls and when.
    fn shown(&self) -> String {
        let callback = self.0.callback.as_deref().unwrap_or("<anonymous>");
        match self.0.what {
            Awaited::Timer { delay, repeats } => {
                let every = if repeats { "every" } else { "after" };
                let delay = delay.map_or_else(|| "?".to_owned(), |delay| delay.to_string());
                format!("{callback} {every} {delay} ms")
            }
            Awaited::Immediate => callback.to_owned(),
            _ => self.0.owner.as_ref().map(|owner| owner.class.to_string()).unwrap_or_default(),
        }
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
        let handle = &self.0;
        let class = |named: &'a Option<Named>| named.as_ref().map(|named| &*named.class);
        let (object, owner) = (tagged(&handle.object), tagged(&handle.owner));
        let mark = if handle.referenced == Some(false) { "-" } else { "" };
        out.text("what", self.what())
            .opt_text("kind", Row::kind(self))
            .addr("address", handle.at)
            .addr("object", object)
            .opt_text("class", class(&handle.object))
            .addr("owner", owner)
            .opt_text("owner_class", class(&handle.owner))
            .put("referenced", Cell::or_null(handle.referenced, Cell::Bool))
            .opt_text("callback", handle.callback.as_deref())
            .num("delay_ms", self.timer().and_then(|(delay, _)| milliseconds(delay?)))
            .put("repeats", Cell::or_null(self.timer().map(|(_, repeats)| repeats), Cell::Bool))
            .display("mark", Cell::text(mark))
            .display("shown_at", Cell::or_null(handle.at.or(object), Cell::Addr))
            .display("shown", Cell::text(self.shown()));
    }

    fn dot(&self) -> Option<Dot> {
        tagged(&self.0.owner).map(Dot::Addr)
    }
}

fn milliseconds(delay: f64) -> Option<u64> {
    // What is negative or too large becomes the nearest number that there is.
    delay.is_finite().then_some(delay as u64)
}

/// The address as dcmds of JavaScript show it: with its tag.
fn tagged(named: &Option<Named>) -> Option<Addr> {
    named.as_ref().map(|named| Addr::new(named.at.get() | 1))
}
