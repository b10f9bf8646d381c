//! `::v8str` — a string, and how V8 stores it.

use kcore::Addr;
use kcore::v8::value::{Limits, Text, ValueKind};
use kcore::v8::{StringPart, script_tree};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Dialect, Example, Fields, Group, Opt, Record, Result,
    ScriptCell, ScriptNode, ScriptStyle, Spec, View,
};

use crate::operand;
use crate::v8::subject::Subject;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'r', value: None, help: "omit the quotes" },
    Opt { flag: 'v', value: None, help: "also show how the string is stored, and its parts" },
    Opt { flag: 'N', value: Some("size"), help: "show at most this many units (default 65536)" },
];

/// Parts of a string that are listed, at most.
const MAX_PARTS: usize = 100;

/// Prints a string.
pub struct V8str;

impl Dcmd for V8str {
    fn spec(&self) -> Spec {
        Spec::new("v8str", Group::Runtimes, "print a JavaScript string, and how V8 stores it")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(
                "A sequential string stores its characters in itself, and an external string \
                 elsewhere. A cons string is two strings in a row, a sliced string is a part of \
                 another, and a thin string refers to the string that replaced it. With -v, \
                 each string has a line with its address, its kind, the width of its \
                 characters, and their place. At most 100 lines are shown.",
            )
            .examples(&[Example {
                line: "::jsstack -f Module.load -p arg1 | ::v8str -v",
                shows: "the name of a file",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let units = args.value('N').map_or(Ok(1 << 16), operand::decimal)? as u64;
        let limits = Limits { depth: 0, entries: 0, units };
        let ValueKind::String(text) = subject.value(limits).kind else {
            return Err(subject.not_an("string"));
        };
        let parts = subject.v8.string_parts(subject.core, subject.word, MAX_PARTS);
        cx.emit(&Str {
            node: script_tree::string(&text),
            text,
            is_raw: args.has('r'),
            parts: parts.unwrap_or_default(),
            is_verbose: args.has('v'),
        })
    }
}

struct Str {
    node: ScriptNode,
    text: Text,
    is_raw: bool,
    is_verbose: bool,
    parts: Vec<StringPart>,
}

const STYLE: ScriptStyle =
    ScriptStyle { dialect: Dialect::JavaScript, addresses: false, indent: 0 };

impl Str {
    fn shown(&self) -> Cell<'_> {
        if self.is_raw {
            return Cell::text(&*self.text.text);
        }
        let node = std::borrow::Cow::Borrowed(&self.node);
        Cell::Script(Box::new(ScriptCell { node, style: STYLE }))
    }
}

impl Record for Str {
    fn kind(&self) -> &'static str {
        "v8_string"
    }

    fn view(&self) -> View {
        View::Line("{shown}{lines*\n{.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let lines = self.parts.iter().filter(|_| self.is_verbose);
        out.addr("address", Addr::new(self.text.at.get() | 1))
            .text("text", &*self.text.text)
            .num("length", self.text.length)
            .flag("cut", self.text.is_cut)
            .flag("unreadable", self.text.is_damaged)
            .put("parts", Cell::List(self.parts.iter().map(cell).collect()))
            .display("shown", self.shown())
            .display("lines", Cell::List(lines.map(line).collect()));
    }
}

const fn width(part: &StringPart) -> &'static str {
    if part.is_one_byte { "one-byte" } else { "two-byte" }
}

fn cell(part: &StringPart) -> Cell<'static> {
    Cell::Object(vec![
        ("address", Cell::Addr(Addr::new(part.at.get() | 1))),
        ("depth", Cell::Num(part.depth as u64)),
        ("representation", Cell::text(part.representation.as_str())),
        ("width", Cell::text(width(part))),
        ("internalized", Cell::Bool(part.is_internalized)),
        ("length", Cell::Num(part.length)),
        ("data", Cell::or_null(part.data, Cell::Addr)),
    ])
}

fn line(part: &StringPart) -> Cell<'static> {
    let indent = " ".repeat(part.depth.saturating_add(1).saturating_mul(4).min(64));
    let internalized = if part.is_internalized { ", internalized" } else { "" };
    let data = part.data.map(|at| format!(", at {:x}", at.get())).unwrap_or_default();
    Cell::text(format!(
        "{indent}{:x}: {} {}{internalized}, length {}{data}",
        part.at.get() | 1,
        part.representation.as_str(),
        width(part),
        part.length,
    ))
}
