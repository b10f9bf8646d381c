//! `::jssource` — the source text of a function.

use kcore::v8::value::Limits;
use kcore::v8::{Source, SourceLine};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Opt, Record, Result, Spec,
    View,
};

use super::frame_options::lines;
use super::frame_row::without_tabs;
use super::subject::Subject;

/// Shows the source text of a function.
pub struct Jssource;

const OPTIONS: &[Opt] = &[Opt {
    flag: 'n',
    value: Some("lines"),
    help: "show this many lines before and after the function (default 5)",
}];

impl Dcmd for Jssource {
    fn spec(&self) -> Spec {
        Spec::new("jssource", Group::Runtimes, "show the source text of a JavaScript function")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(
                "The text is the one that V8 keeps in the process; kcore reads no file. The \
                 lines of the function are bold, and those around it are not.",
            )
            .examples(&[Example {
                line: "::jsstack -f Array.map -p arg1 | ::jssource -n 1",
                shows: "the text of a callback",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let around = lines(args)?;
        let limits = Limits { depth: 0, entries: 0, units: u64::MAX };
        let function = kcore::Addr::new(subject.word);
        let source = subject.v8.source(subject.core, function, limits);
        let source = source.ok_or_else(|| no_source(subject))?;
        let (Some(first), Some(last)) = (source.line, source.last_line) else {
            let at = function;
            return Err(DcmdError::at(at, format!("{at:x}: its place in the script is not known")));
        };
        let lines = subject.v8.source_lines(subject.core, function, first..=last, around);
        cx.begin(&Begin(&source), "lines")?;
        lines.unwrap_or_default().iter().try_for_each(|line| cx.emit(&Line(line)))?;
        cx.end(&End)
    }
}

fn no_source(subject: Subject<'_>) -> DcmdError {
    let is_function =
        subject.v8.type_of(subject.core, subject.word).is_ok_and(|it| it.name == "JSFunction");
    if !is_function {
        return subject.not_an("function");
    }
    let at = kcore::Addr::new(subject.word);
    DcmdError::at(
        at,
        format!("{at:x} has no source text: it belongs to V8 itself, or its text is gone"),
    )
}

/// The function whose lines follow.
struct Begin<'s>(&'s Source);

impl Record for Begin<'_> {
    fn kind(&self) -> &'static str {
        "js_source"
    }

    fn view(&self) -> View {
        View::Line("file: {file}{file^<none>}\n")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.opt_text("file", self.0.file.as_deref())
            .num("line", self.0.line.map(u64::from))
            .num("last_line", self.0.last_line.map(u64::from))
            .text("text", &*self.0.text.text)
            .flag("cut", self.0.text.is_cut);
    }
}

struct Line<'s>(&'s SourceLine);

impl Record for Line<'_> {
    fn kind(&self) -> &'static str {
        "js_source_line"
    }

    fn view(&self) -> View {
        View::Line("{line:>5} {current?{shown:!}}{current^{shown}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("line", u64::from(self.0.number))
            .text("text", self.0.text.as_str())
            .flag("current", self.0.is_current)
            .display("shown", Cell::text(without_tabs(&self.0.text)));
    }
}

struct End;

impl Record for End {
    fn kind(&self) -> &'static str {
        "js_source_end"
    }

    fn view(&self) -> View {
        View::Hidden
    }

    fn fields<'a>(&'a self, _out: &mut Fields<'a>) {}
}
