//! `::v8print` — the fields of a V8 object.

use kcore::Addr;
use kcore::v8::RawField;
use kcore_dcmd::{
    AddrUse, Arg, Args, Cell, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View,
};

use super::shown::Word;
use crate::v8::subject::Subject;
use crate::v8::type_line;

/// Prints the fields of an object.
pub struct V8print;

impl Dcmd for V8print {
    fn spec(&self) -> Spec {
        Spec::new("v8print", Group::Runtimes, "print the fields of an object as V8 lays it out")
            .addr(AddrUse::Required)
            .operands("[class]", 0, 1)
            .help(
                "Prints the object word by word, if V8 exports its size, or else the fields \
                 that V8 exports. Each line has the offset, the name and the value of a field; \
                 `-` stands for a name that V8 does not export. With a class, prints the fields \
                 of that class, whatever the object is. ::v8classes lists the classes.",
            )
            .examples(&[Example {
                line: "::jsstack -f waitFor -p this | ::v8print",
                shows: "an object with its map and fields",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let class = args.first().map(Arg::to_text);
        let fields = subject.v8.raw_fields(subject.core, subject.word, class.as_deref());
        let fields = fields.ok_or_else(|| subject.not_an("object of the heap"))?;
        let what = |field: &RawField| {
            let bits = field.bits.filter(|_| field.is_tagged)?;
            Some(Word::new(subject, bits))
        };
        let shown = fields.iter().map(|field| (field, what(field))).collect();
        let kind = type_line::of(subject.core, subject.v8, subject.word);
        cx.emit(&Printed { at: Addr::new(subject.word), kind, fields: shown })
    }
}

struct Printed<'f> {
    at: Addr,
    kind: String,
    fields: Vec<(&'f RawField, Option<Word>)>,
}

impl Record for Printed<'_> {
    fn kind(&self) -> &'static str {
        "v8_object"
    }

    fn view(&self) -> View {
        View::Line("{address} {js_type} {{{lines*\n    {.}}\n}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let cells = self.fields.iter().map(|(field, what)| cell(field, what.as_ref()));
        let lines = self.fields.iter().map(|(field, what)| Cell::text(line(field, what.as_ref())));
        out.addr("address", self.at)
            .text("js_type", self.kind.as_str())
            .put("fields", Cell::List(cells.collect()))
            .display("lines", Cell::List(lines.collect()));
    }
}

fn cell<'a>(field: &'a RawField, what: Option<&'a Word>) -> Cell<'a> {
    Cell::Object(vec![
        ("offset", Cell::Hex(field.offset)),
        ("size", Cell::Num(field.size)),
        ("name", Cell::or_null(field.name.as_deref(), Cell::text)),
        ("class", Cell::or_null(field.class.as_deref(), Cell::text)),
        ("bits", Cell::or_null(field.bits, Cell::Hex)),
        ("js_type", Cell::or_null(what.map(|what| what.type_line.as_str()), Cell::text)),
    ])
}

fn line(field: &RawField, what: Option<&Word>) -> String {
    let name = field.name.as_deref().unwrap_or("-");
    let bits = field.bits.map_or_else(|| "<unreadable>".to_owned(), |bits| format!("{bits:x}"));
    let what = what.map(|what| format!(" ({})", what.type_line)).unwrap_or_default();
    format!("+{:<5} {name} = {bits}{what}", format!("0x{:x}", field.offset))
}
