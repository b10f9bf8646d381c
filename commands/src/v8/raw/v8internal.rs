//! `::v8internal` — what the embedder keeps in an object.

use kcore::Addr;
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec, View,
};

use crate::operand;
use crate::v8::subject::Subject;

/// Lists the internal fields of an object.
pub struct V8internal;

impl Dcmd for V8internal {
    fn spec(&self) -> Spec {
        let summary = "list the fields that the embedder keeps in an object";
        Spec::new("v8internal", Group::Runtimes, summary)
            .addr(AddrUse::Required)
            .operands("[index]", 0, 1)
            .help(
                "Objects that an embedder made have fields of its own, mostly pointers to its \
                 C++ objects. In Node.js these are sockets, timers and handles. With an index, \
                 in decimal, only that field is shown. In a pipe, ::v8internal passes the \
                 fields.",
            )
            .examples(&[Example {
                line: "::jsstack -f waitFor -p this | ::v8internal",
                shows: "nothing: the embedder did not make this object",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let fields = subject.v8.internal_fields(subject.core, subject.word);
        let fields = fields.ok_or_else(|| subject.not_an("object"))?;
        let wanted = args.first().map(operand::decimal).transpose()?;
        if let Some(wanted) = wanted.filter(|wanted| *wanted >= fields.len()) {
            let (word, count) = (subject.word, fields.len());
            let message = format!("{word:x} has no internal field {wanted}: it has {count}");
            return Err(DcmdError::at(Addr::new(word), message));
        }
        let fields = fields.into_iter().enumerate();
        let mut wanted = fields.filter(|(index, _)| wanted.is_none_or(|it| it == *index));
        wanted.try_for_each(|(index, (at, word))| {
            cx.emit(&Field { index: index as u64, at, word: Addr::new(word) })
        })
    }
}

struct Field {
    index: u64,
    at: Addr,
    word: Addr,
}

impl Record for Field {
    fn kind(&self) -> &'static str {
        "v8_internal_field"
    }

    fn view(&self) -> View {
        View::Line("{value}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("index", self.index).addr("address", self.at).addr("value", self.word);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.word))
    }
}
