//! `::jsprint` — values of JavaScript.

use kcore::Addr;
use kcore::v8::script_tree::Tree;
use kcore::v8::value::{Limits, Slot, Value};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cell, Cx, Dcmd, Dialect, Dot, Example, Fields, Group, Opt, Record, Result,
    ScriptStyle, Spec, View,
};

use super::{member_path, subject::Subject, type_line};
use crate::script_values::{self, ScriptValues};

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show each value behind its address" },
    Opt { flag: 'b', value: None, help: "show the object itself before its members" },
    Opt { flag: 'v', value: None, help: "say what kind of object of V8's it is" },
    Opt { flag: 'd', value: Some("depth"), help: "so many objects inside of each other, else 2" },
    Opt { flag: 'N', value: Some("length"), help: "so much of each string, else 1024" },
    Opt { flag: 'l', value: Some("limit"), help: "so many elements and properties, else 1000" },
];

const HELP: &str = "\
The address is that of an object, with its tag or without, or a Smi as it lies in memory. A member is a \
path: a.b, list[3], [\"a key\"], map[\"key\"] for the value of a Map, this.#secret, [Symbol(name)]; \
`length` and `size` are counted. Indices are decimal. Members are looked for in the object and its \
prototypes; one that is not there is undefined. Several stand on one line.

Objects have a line for each property; a class stands before the brace, what V8 knows of an object, and is \
no property (the state of a promise, the stack of an error), in angle brackets. What is deeper than -d is \
[...], an object inside of itself <circular>, a slot that was never written a hole, a string that is cut \
ends with dots behind its quotes. A value that is computed by a function is <getter>.

In a pipe each value hands on what ::jsprint takes.";

const EXAMPLES: &[Example] = &[
    Example { line: "::jsstack -p arg1 | ::jsprint", shows: "the first arguments of all frames" },
    Example {
        line: "::jsstack -p this | ::jsprint -ad 1",
        shows: "receivers, one level of them, with addresses",
    },
];

/// Prints values of JavaScript.
pub struct Jsprint;

impl Dcmd for Jsprint {
    fn spec(&self) -> Spec {
        Spec::new("jsprint", Group::Runtimes, "print a JavaScript value, or some members of it")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .operands("[member...]", 0, usize::MAX)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let limits = limits(args)?;
        let tree = Tree { host: subject.core, v8: subject.v8 };
        let members: Vec<String> = args.operands().iter().map(Arg::to_text).collect();
        let mut values = Vec::new();
        for member in &members {
            let steps = member_path::parse(member)?;
            values.push(member_path::follow(subject, &steps, limits));
        }
        if members.is_empty() {
            values.push(Slot::Value(subject.value(limits)));
        }
        let printed = Printed {
            base: Addr::new(subject.word),
            is_based: args.has('b'),
            kind: args.has('v').then(|| type_line::of(subject.core, subject.v8, subject.word)),
            values: ScriptValues {
                values: values.iter().map(|slot| tree.slot(slot)).collect(),
                members,
                style: ScriptStyle {
                    dialect: Dialect::JavaScript,
                    addresses: args.has('a'),
                    indent: 0,
                },
            },
        };
        if !cx.input().pipe_out {
            return cx.emit(&printed);
        }
        let words = values.iter().filter_map(word);
        words.map(Piece).try_for_each(|piece| cx.emit(&piece))
    }
}

/// How much is told, by options in decimal.
fn limits(args: &Args) -> Result<Limits> {
    Ok(Limits {
        depth: script_values::depth(args, 2)?,
        entries: script_values::number(args, 'l', 1000)?,
        units: script_values::number(args, 'N', 1024)?,
    })
}

fn word(slot: &Slot) -> Option<Addr> {
    match slot {
        Slot::Value(Value { word, .. }) => word.map(Addr::new),
        Slot::Accessor { .. } => None,
    }
}

/// A value, or the members of one that were asked for.
struct Printed {
    base: Addr,
    is_based: bool,
    kind: Option<String>,
    values: ScriptValues,
}

impl Record for Printed {
    fn kind(&self) -> &'static str {
        "js_value"
    }

    fn view(&self) -> View {
        View::Line("{based?{based}: }{said?{said}\n}{first}{others* {.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.base)
            .display("based", Cell::or_null(self.is_based.then_some(self.base), Cell::Addr))
            .display("said", Cell::or_null(self.kind.as_deref(), Cell::text));
        self.values.fields(out);
    }
}

/// What a pipe gets of a value.
struct Piece(Addr);

impl Record for Piece {
    fn kind(&self) -> &'static str {
        "js_address"
    }

    fn view(&self) -> View {
        View::Line("{address}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.0);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0))
    }
}
