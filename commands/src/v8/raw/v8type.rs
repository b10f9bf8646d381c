//! `::v8type` — the kind of a V8 value.

use kcore::Addr;
use kcore::v8::TypeOf;
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use crate::v8::subject::Subject;
use crate::v8::type_line;

/// Names the kind of a value.
pub struct V8type;

impl Dcmd for V8type {
    fn spec(&self) -> Spec {
        Spec::new("v8type", Group::Runtimes, "name the kind of a V8 value")
            .addr(AddrUse::Required)
            .help(
                "Prints the kind of the value, as V8 names it. A detail follows: the \
                 constructor of an object, the name of a function or oddball, or the value of a \
                 Smi.",
            )
            .examples(&[Example {
                line: "::jsstack -f waitFor -p arg1 | ::v8type",
                shows: "the kind of an argument",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let found = subject.v8.type_of(subject.core, subject.word);
        let found = found.map_err(|why| {
            DcmdError::failed(format!("{:x} is not a V8 value: {why}", subject.word))
        })?;
        let shown = type_line::of(subject.core, subject.v8, subject.word);
        cx.emit(&Kind { word: Addr::new(subject.word), found, shown })
    }
}

struct Kind {
    word: Addr,
    found: TypeOf,
    shown: String,
}

impl Record for Kind {
    fn kind(&self) -> &'static str {
        "v8_type"
    }

    fn view(&self) -> View {
        View::Line("{address}: {shown}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.word)
            .text("name", self.found.name.as_str())
            .num("number", self.found.number)
            .opt_text("detail", self.found.detail.as_deref())
            .addr("map", self.found.map.map(|at| Addr::new(at.get() | 1)))
            .display("shown", Cell::text(self.shown.as_str()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.word))
    }
}
