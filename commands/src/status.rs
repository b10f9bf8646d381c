//! `::status`: which program died, and why.

use std::{borrow::Cow, time::Duration};

use kcore::{
    Doubt, Fate, HandledStatus, Instants, LastWords, LiveFacts, Panic, SignalStatus,
    Status as CoreStatus,
};
use kcore_dcmd::{Args, Cell, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View};

use crate::{advice, crash_site::Site};

/// Summarizes the core: the first thing that anyone runs.
pub struct Status;

const HELP: &str = "\
Names the program of the core and says in words why the process died. It also shows what the \
program left behind about its death:

- the message of glibc's abort
- the exception of C++, JavaScript or Python that nobody caught, or that was on its way to a \
handler
- the Python exception that the thread was handling when it died, with its stack
- the Rust panic, with its thread and its place
- why the runtime gave up, or GLib or glog ended the process

Last comes each thing that makes answers doubtful: a truncated core, files that were not found, \
files of another build.

A signal handler may end the process after a fault, by raising the signal again or by abort. Then \
the fault comes first, with its address and the place where it happened, and what ended the \
process follows.

`where:` names the innermost frame of the program's own code. Frames of the C library, and of a \
language's runtime or standard library, do not count. Below it stands its source line, if the \
file is at hand. kcore shows both on a terminal, or after `::set -o lines`.";

impl Dcmd for Status {
    fn spec(&self) -> Spec {
        Spec::new("status", Group::Process, "print what died, and why")
            .help(HELP)
            .examples(&[Example { line: "::status", shows: "what died, and why" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        let has_core = core.file().is_some();
        let is_wanted = !cx.is_for_people() || cx.shell().settings().source_lines;
        let site = is_wanted.then(|| Site::find(cx)).flatten();
        let overwritten = core.process().overwritten_args().is_some();
        cx.emit(&StatusRecord { status: core.status(), has_core, overwritten, site })
    }
}

struct StatusRecord {
    status: CoreStatus,
    has_core: bool,
    /// Whether the program wrote over its arguments.
    overwritten: bool,
    /// Where the process died in its own code, if that is wanted and known.
    site: Option<Site>,
}

const OF_CORE: &str = "\
debugging {live?snapshot}{live^core file} of {name?{name}}{name^an unknown program} ({bits}-bit {arch}) from unknown machine\
{kernel?, Linux {kernel}}
{program?file: {program}\n}{args?initial argv:{args* {.}}{overwritten? (overwritten: argv holds other words)}\n}\
{pid?pid: {pid}\n}threading model: native threads, {threads} in all\
{crashed_tid?, {crashed_tid} took the signal}
status: {signal_name?process terminated by {signal_name}{signal_text? ({signal_text})}\
{address?, addr={address:x}}{sender_pid?, pid={sender_pid} uid={sender_uid}}}\
{signal_name^{live?running, {live}}\
{live^{by_gcore?process core file generated with gcore}{by_gcore^no signal is recorded}}}\
{explanation?\nwhy: {explanation}}\
{site_symbol?\nwhere: {site_symbol}{site_place? at {site_place}}, frame {site_frame:d}}\
{site_source?\n       {site_source}}\
{abort_message?\nlibc panic message: {abort_message}}\
{exception_type?\n{exception_words}: {exception_type}{exception_what?: {exception_what}}{exception_object? (at {exception_object})}}\
{exception_signal?\n{exception_signal}}\
{exception_stack*\n    at {.}}\
{other_exception_lines*\nbeside it, {.}}\
{fatal_error?\nfatal error: {fatal_error}}{fatal_error_stack*\n    at {.}}\
{panic_lines*\n{.}}\
{error_file?\n{error_file} says:}{error_file_lines*\n    {.}}\
{doubts*\ndoubt: {.}}";

const OF_EXE: &str = "\
debugging executable file ({bits}-bit {arch})
executable file: {program}
status: idle{doubts*\ndoubt: {.}}";

impl StatusRecord {
    fn name(&self) -> Option<&str> {
        let program = self.status.program.as_deref()?;
        program.rsplit('/').next()
    }

    fn put_signal<'a>(&'a self, out: &mut Fields<'a>) {
        let signal = self.status.signal.as_ref();
        out.put("signal", Cell::or_null(signal, signal_cell));
        let display = |cell: Option<Cell<'a>>| cell.unwrap_or(Cell::Null);
        out.display("signal_name", display(signal.map(|it| Cell::text(it.name.as_str()))))
            .display("signal_text", display(signal.and_then(|it| it.text).map(Cell::text)))
            .display("address", display(signal.and_then(|it| it.address).map(Cell::Addr)))
            .display("sender_pid", display(signal.and_then(|it| it.sender_pid).map(num)))
            .display("sender_uid", display(signal.and_then(|it| it.sender_uid).map(num)));
    }

    fn put_last_words<'a>(&'a self, out: &mut Fields<'a>) {
        let (mut abort, mut fatal, mut file) = (None, None, None);
        let (mut exceptions, mut panics) = (Vec::new(), Vec::new());
        for words in &self.status.last_words {
            match words {
                LastWords::AbortMessage(text) => abort = Some(text.as_str()),
                LastWords::Exception { fate, type_name, what, signal, object, trace } => {
                    let (what, signal) = (what.as_deref(), signal.as_deref());
                    exceptions.push((*fate, type_name.as_str(), what, signal, *object, trace));
                }
                LastWords::Fatal { message, trace } => {
                    fatal = Some((Cow::Borrowed(message.as_str()), trace.as_slice()));
                }
                LastWords::Library { library, message } => {
                    let words = Cow::Owned(format!("{library}: {message}"));
                    fatal = fatal.or(Some((words, &[])));
                }
                LastWords::ErrorFile { path, lines } => file = Some((path.as_str(), lines)),
                LastWords::Panic(panic) => panics.push(panic),
            }
        }
        let (fatal_message, fatal_trace) = fatal.unzip();
        let fatal_trace = fatal_trace.unwrap_or_default();
        // Those that it came on top of go before it.
        let exception = exceptions.pop();
        let others = exceptions.iter().rev();
        let lines = others.clone().map(|(fate, ty, what, ..)| exception_line(*fate, ty, *what));
        out.display("other_exception_lines", Cell::List(lines.map(Cell::text).collect()));
        let others = others.map(|(fate, ty, what, ..)| exception_cell(*fate, ty, *what));
        let others = Cell::List(others.collect());
        let fate = exception.map(|(fate, ..)| fate);
        // The latest comes first, and those that led to it follow.
        let messages: Vec<&str> = panics.iter().map(|panic| panic_message(panic)).collect();
        let message = (!messages.is_empty()).then(|| messages.join("; after: "));
        let lines = panics.iter().enumerate().map(|(index, panic)| panic_line(index, panic));
        out.opt_text("abort_message", abort)
            .opt_text("exception_fate", fate.map(fate_key))
            .opt_text("exception_type", exception.map(|(_, name, ..)| name))
            .opt_text("exception_what", exception.and_then(|(_, _, what, ..)| what))
            .opt_text("exception_signal", exception.and_then(|(.., signal, _, _)| signal))
            .addr("exception_object", exception.and_then(|(.., object, _)| object))
            .put("exception_stack", texts(exception.map_or(&[], |(.., trace)| trace)))
            .put("other_exceptions", others)
            .opt_text("fatal_error", fatal_message)
            .put("fatal_error_stack", texts(fatal_trace))
            .opt_text("panic_message", message)
            .put("panics", Cell::List(panics.iter().map(|panic| panic_cell(panic)).collect()))
            .opt_text("error_file", file.map(|(path, _)| path))
            .put("error_file_lines", texts(file.map_or(&[], |(_, lines)| lines)))
            .display("panic_lines", Cell::List(lines.map(Cell::text).collect()))
            .display("exception_words", Cell::or_null(fate.map(fate_words), Cell::text));
    }
}

impl Record for StatusRecord {
    fn kind(&self) -> &'static str {
        "status"
    }

    fn view(&self) -> View {
        View::Line(if self.has_core { OF_CORE } else { OF_EXE })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let status = &self.status;
        out.num("pid", status.pid.map(u64::from))
            .opt_text("program", status.program.as_deref())
            .put("args", texts(&status.args))
            .display("overwritten", Cell::Bool(self.overwritten))
            .text("arch", status.arch.to_string())
            .num("bits", u64::from(status.bits))
            .opt_text("kernel", status.kernel.as_deref());
        self.put_signal(out);
        out.num("threads", status.threads as u64)
            .num("crashed_tid", status.crashed_tid.map(|tid| u64::from(tid.get())))
            .opt_text("explanation", status.explanation.as_deref())
            .put("handled_signals", Cell::List(status.handled.iter().map(handled_cell).collect()));
        out.put("where", Cell::or_null(self.site.as_ref(), Site::cell));
        self.put_last_words(out);
        let live = status.live.as_ref();
        let before = live.map(|live| live.before.iter().map(|time| Cell::Num(nanos(*time))));
        out.flag("by_gcore", status.by_gcore)
            .text("instant", status.instant)
            .num("stopped_ns", live.map(|live| nanos(live.stopped)))
            .put("stopped_before_ns", Cell::List(before.into_iter().flatten().collect()))
            .num("clock_ns", live.and_then(|live| live.clock).map(nanos))
            .num("missed_pages", live.map(|live| live.missed_pages))
            .display("live", Cell::or_null(live.map(stood_still), Cell::text))
            .put("doubts", doubts(&status.doubts))
            .display("name", Cell::or_null(self.name(), Cell::text));
        match &self.site {
            Some(site) => site.display(out),
            None => {
                out.display("site_symbol", Cell::Null).display("site_source", Cell::Null);
            }
        }
    }
}

const fn fate_key(fate: Fate) -> &'static str {
    match fate {
        Fate::Uncaught => "uncaught",
        Fate::InFlight => "in_flight",
        Fate::Handled => "handled",
        Fate::Nested => "nested",
    }
}

const fn fate_words(fate: Fate) -> &'static str {
    match fate {
        Fate::Uncaught => "uncaught exception",
        Fate::InFlight => "exception in flight, not caught yet",
        Fate::Handled => "exception being handled, or on its way through a finally",
        Fate::Nested => "exception of which the other came",
    }
}

/// An exception that another one came on top of.
fn exception_line(fate: Fate, type_name: &str, what: Option<&str>) -> String {
    let what = what.map(|what| format!(": {what}")).unwrap_or_default();
    format!("{}: {type_name}{what}", fate_words(fate))
}

fn exception_cell<'a>(fate: Fate, type_name: &'a str, what: Option<&'a str>) -> Cell<'a> {
    Cell::Object(vec![
        ("fate", Cell::text(fate_key(fate))),
        ("type", Cell::text(type_name)),
        ("what", Cell::or_null(what, Cell::text)),
    ])
}

/// The message of a panic, as Rust's own hook prints it.
fn panic_message(panic: &Panic) -> &str {
    panic.message.as_deref().unwrap_or("its message is not in memory")
}

/// A panic with its thread and its place. Each one but the latest led to the one before it.
fn panic_line(index: usize, panic: &Panic) -> String {
    let title = if index == 0 { "panic" } else { "after the panic" };
    let ty = panic.payload_type.as_ref().map(|ty| format!("a {ty}"));
    let thread = panic.thread.as_ref().map(|name| format!("thread '{name}'"));
    let place = panic.place.as_ref().map(|it| format!("{}:{}:{}", it.file, it.line, it.column));
    let known: Vec<String> = [ty, thread, place].into_iter().flatten().collect();
    let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    format!("{title}: {}{known}", panic_message(panic))
}

fn panic_cell(panic: &Panic) -> Cell<'_> {
    let place = panic.place.as_ref();
    let number = |number: u32| Cell::Num(u64::from(number));
    Cell::Object(vec![
        ("message", Cell::or_null(panic.message.as_deref(), Cell::text)),
        ("payload_type", Cell::or_null(panic.payload_type.as_deref(), Cell::text)),
        ("thread", Cell::or_null(panic.thread.as_deref(), Cell::text)),
        ("file", Cell::or_null(place.map(|place| place.file.as_str()), Cell::text)),
        ("line", Cell::or_null(place.map(|place| place.line), number)),
        ("column", Cell::or_null(place.map(|place| place.column), number)),
    ])
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Which threads stood still, and for how long.
fn stood_still(live: &LiveFacts) -> String {
    let micros = live.stopped.as_micros();
    let time = format!("{}.{:03} ms", micros / 1000, micros % 1000);
    match live.instants {
        Instants::One => format!("stood still for {time}"),
        Instants::OneOfChosen => format!("chosen threads stood still for {time}, the others ran"),
        Instants::Each => format!("each thread stood still by itself, for {time} at most"),
    }
}

fn num(value: u32) -> Cell<'static> {
    Cell::Num(u64::from(value))
}

fn handled_cell(handled: &HandledStatus) -> Cell<'_> {
    let mut keys = vec![
        ("tid", Cell::Num(u64::from(handled.tid.get()))),
        ("pc", Cell::or_null(handled.pc, Cell::Addr)),
    ];
    keys.extend(signal_keys(&handled.signal));
    Cell::Object(keys)
}

fn signal_cell(signal: &SignalStatus) -> Cell<'_> {
    Cell::Object(signal_keys(signal).into())
}

fn signal_keys(signal: &SignalStatus) -> [(&'static str, Cell<'_>); 6] {
    [
        ("number", Cell::Num(u64::from(signal.number))),
        ("name", Cell::text(signal.name.as_str())),
        ("code", Cell::or_null(signal.code, Cell::text)),
        ("address", Cell::or_null(signal.address, Cell::Addr)),
        ("sender_pid", Cell::or_null(signal.sender_pid, num)),
        ("sender_uid", Cell::or_null(signal.sender_uid, num)),
    ]
}

fn texts(texts: &[String]) -> Cell<'_> {
    Cell::List(texts.iter().map(|text| Cell::text(text.as_str())).collect())
}

fn doubts(doubts: &[Doubt]) -> Cell<'_> {
    Cell::List(doubts.iter().map(|doubt| Cell::text(advice::about_doubt(doubt))).collect())
}
