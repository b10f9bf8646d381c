//! What was caught, as it is shown.

use kcore::{Addr, Caught, Core, Happening, Tid, errno, signal, system_call};
use kcore_dcmd::{Cell, Fields, Record, View};

use super::event::OWN;

/// An event that was caught.
pub(crate) struct CaughtEvent {
    tid: Tid,
    name: Option<String>,
    what: What,
    late: bool,
    text: String,
}

/// What is said of a thread that has gone on since.
const LATE: &str =
    ", and has gone on since: it had blocked SIGTRAP, by which the kernel tells of it";

/// The facts of an event, by its kind.
struct What {
    kind: &'static str,
    signal: Option<String>,
    call: Option<String>,
    error: Option<String>,
    function: Option<String>,
    address: Option<Addr>,
    status: Option<i32>,
}

impl CaughtEvent {
    /// What happened to a process, of which a snapshot may have the names of threads and functions.
    pub(crate) fn of(caught: &Caught, core: Option<&Core>) -> Self {
        let tid = Tid::new(u32::try_from(caught.tid).unwrap_or_default());
        let thread = core.and_then(|core| core.thread(tid));
        let name = thread.and_then(|thread| Some(thread.live.as_ref()?.name.clone()));
        let what = What::of(&caught.what, core);
        let who = name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let late = if caught.late { LATE } else { "" };
        let text = format!("thread {tid}{who} {}{late}", what.words(&caught.what));
        Self { tid, name, what, late: caught.late, text }
    }

    /// In words: `thread 4711 (worker) called close(0x63, ...), which failed with EBADF`.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl What {
    const fn of_kind(kind: &'static str) -> Self {
        Self {
            kind,
            signal: None,
            call: None,
            error: None,
            function: None,
            address: None,
            status: None,
        }
    }

    fn of(what: &Happening, core: Option<&Core>) -> Self {
        match what {
            Happening::Signal(number) => {
                Self { signal: Some(signal_name(*number)), ..Self::of_kind("signal") }
            }
            Happening::Call { number, error, .. } => Self {
                call: Some(call_name(*number)),
                error: error.map(error_name),
                ..Self::of_kind("call")
            },
            Happening::Function(at) => {
                let symbol = core.and_then(|core| core.symbols().at(*at));
                let function = symbol.map(|symbol| symbol.name.to_string());
                Self { function, address: Some(*at), ..Self::of_kind("function") }
            }
            Happening::End { status, signal } => Self {
                status: (*signal == 0).then_some(*status),
                signal: (*signal != 0).then(|| signal_name(*signal)),
                ..Self::of_kind("exit")
            },
            _ => Self::of_kind("other"),
        }
    }

    fn words(&self, what: &Happening) -> String {
        let text = |fact: &Option<String>| fact.clone().unwrap_or_default();
        match what {
            Happening::Signal(_) => format!("is about to take {}", text(&self.signal)),
            Happening::Call { arguments, .. } => {
                let first =
                    arguments.first().map(|word| format!("{word:#x}, ")).unwrap_or_default();
                format!(
                    "called {}({first}...), which failed with {}",
                    text(&self.call),
                    text(&self.error)
                )
            }
            Happening::Function(at) => match &self.function {
                Some(function) => format!("entered {function}"),
                None => format!("entered the function at {at}"),
            },
            Happening::End { status, signal: 0 } => {
                format!("ends the process with status {status}")
            }
            Happening::End { .. } => {
                format!("ends with its process, which was ended by {}", text(&self.signal))
            }
            _ => "was caught".to_owned(),
        }
    }
}

fn signal_name(number: i32) -> String {
    u16::try_from(number).map_or_else(|_| format!("signal {number}"), signal::name)
}

fn call_name(number: u64) -> String {
    let name = system_call::name(OWN, number);
    name.map_or_else(|| format!("system call {number}"), str::to_owned)
}

fn error_name(error: i32) -> String {
    errno::name(error).map_or_else(|| format!("error {error}"), str::to_owned)
}

impl Record for CaughtEvent {
    fn kind(&self) -> &'static str {
        "caught_event"
    }

    fn view(&self) -> View {
        View::Line("{text}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let What { kind, signal, call, error, function, address, status } = &self.what;
        out.num("thread", u64::from(self.tid.get()))
            .opt_text("name", self.name.as_deref())
            .text("event", *kind)
            .opt_text("signal", signal.as_deref())
            .opt_text("call", call.as_deref())
            .opt_text("error", error.as_deref())
            .opt_text("function", function.as_deref())
            .addr("address", *address)
            .put("status", Cell::or_null(*status, |status| Cell::Int(i64::from(status))))
            .flag("late", self.late)
            .display("text", Cell::text(self.text.as_str()));
    }
}
