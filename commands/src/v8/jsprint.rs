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
    Opt { flag: 'a', value: None, help: "show the address before each value" },
    Opt { flag: 'b', value: None, help: "show the object itself before its members" },
    Opt { flag: 'v', value: None, help: "also show the kind of the V8 object" },
    Opt {
        flag: 'd',
        value: Some("depth"),
        help: "show nested objects down to this depth (default 2)",
    },
    Opt {
        flag: 'N',
        value: Some("length"),
        help: "show at most this many units of each string (default 1024)",
    },
    Opt {
        flag: 'l',
        value: Some("limit"),
        help: "show at most this many elements and properties (default 1000)",
    },
];

const HELP: &str = "\
The address is that of an object, with or without its tag, or a Smi as it lies in memory. A \
member is a path: a.b, list[3], [\"a key\"], map[\"key\"] for the value of a Map, this.#secret, \
[Symbol(name)]. kcore computes `length` and `size`. Indices are decimal. kcore looks for a member \
in the object and its prototypes; a missing member is undefined. Several members share one line.

An object has one line for each property, and its class stands before the brace. Angle brackets \
hold what V8 knows about an object without a property, such as the state of a promise or the \
stack of an error. [...] stands for objects below the depth of -d, <circular> for an object \
inside of itself, and <getter> for a value that a function computes. A slot that was never \
written is a hole. Dots after its quotes mark a string that is cut.

In a pipe, ::jsprint passes values that ::jsprint takes.";

const EXAMPLES: &[Example] = &[
    Example { line: "::jsstack -p arg1 | ::jsprint", shows: "the first arguments of all frames" },
    Example {
        line: "::jsstack -p this | ::jsprint -ad 1",
        shows: "receivers, down to one level, with addresses",
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

/// How much is shown, by options in decimal.
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
