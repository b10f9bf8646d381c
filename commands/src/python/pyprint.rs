//! `::pyprint` — values of Python.

use kcore::Addr;
use kcore::python::{
    script_tree,
    value::{Limits, Step, Value},
};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    ScriptStyle, Spec, View,
};

use super::subject::{self, Subject};
use crate::script_values::ScriptValues;
use crate::v8::member_path;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show the address before each value" },
    Opt {
        flag: 'd',
        value: Some("depth"),
        help: "show nested objects down to this depth (default 3)",
    },
    Opt {
        flag: 'N',
        value: Some("length"),
        help: "show at most this much of each str and bytes (default 1024)",
    },
    Opt {
        flag: 'l',
        value: Some("limit"),
        help: "show at most this many items and attributes (default 100)",
    },
];

const HELP: &str = "\
The address is that of an object. A member is a path: a.b, list[3], [\"a key\"], or .key for a \
value of a dict. Indices are decimal. Several members share one line.

Members of builtin types have the names that Python gives them:

- of an exception: args, __cause__, __context__, __traceback__, errno, filename, value, \
exceptions and others
- of a function: __code__, __globals__, __defaults__
- of a method: __func__ and __self__
- of other objects: cell_contents, tb_frame, tb_lineno, f_lineno, the variables of a frame, the \
items of a named tuple, and the names of a module or a class

A generator or coroutine shows its function, its state, its place in the code, and its variables.

Values look as repr() prints them. An instance shows its class with its attributes, those in \
slots first, and ignores its own __repr__. An exception shows its arguments before its \
attributes. After them follows __cause__, from which it was raised, or else __context__, which \
was being handled, unless it was raised from None. An object of a type derived from a builtin \
one, a function, and a method show their attributes after their value: Number(3, unit='m').

kcore knows the containers, numbers and times of the standard library that C code implements. \
Among them are deque, OrderedDict in its own order, array, views of dicts, SimpleNamespace, \
partial, Decimal and datetime. Any other such object is <module.type object at its address>, as \
object.__repr__ prints it, with the attributes that are known. `...` stands for objects below the \
depth of -d, and <circular> for an object inside of itself. Dots after its quotes mark a str that \
is cut.

In a pipe, each value passes its address.";

const EXAMPLES: &[Example] = &[
    Example {
        line: "::pystack -p numbers | ::pyprint",
        shows: "a variable, in the frames that have it",
    },
    Example {
        line: "::pystack -p data | ::pyprint -a",
        shows: "the same with the addresses of all values",
    },
];

/// Prints values of Python.
pub struct Pyprint;

impl Dcmd for Pyprint {
    fn spec(&self) -> Spec {
        Spec::new("pyprint", Group::Runtimes, "print a Python object, or some members of it")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .operands("[member...]", 0, usize::MAX)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let limits = subject::limits(args, 3)?;
        let members: Vec<String> = args.operands().iter().map(Arg::to_text).collect();
        let values = match members.as_slice() {
            [] => vec![subject.value(limits)],
            members => members
                .iter()
                .map(|member| follow(subject, member, limits))
                .collect::<Result<Vec<Value>>>()?,
        };
        if cx.input().pipe_out {
            let known = values.iter().filter_map(|value| value.at);
            return known.map(Piece).try_for_each(|piece| cx.emit(&piece));
        }
        cx.emit(&Printed {
            base: subject.at,
            values: ScriptValues {
                values: values.iter().map(script_tree::node).collect(),
                members,
                style: ScriptStyle { addresses: args.has('a'), ..subject::STYLE },
            },
        })
    }
}

/// What a path leads to.
fn follow(subject: Subject<'_>, path: &str, limits: Limits) -> Result<Value> {
    use kcore::v8::value::Step as Parsed;
    let mut at = subject.at;
    let mut steps = member_path::parse(path)?.into_iter().peekable();
    while let Some(step) = steps.next() {
        let step = match step {
            Parsed::Name(name) => Step::Name(name),
            Parsed::Index(index) => Step::Index(index),
            Parsed::Symbol(name) => {
                return Err(DcmdError::usage(format!("'Symbol({name})' is not a Python member")));
            }
        };
        let next = subject.python.member(subject.core, at, &step);
        let fact = match &step {
            Step::Name(name) if next.is_none() && steps.peek().is_none() => {
                subject.python.fact(subject.core, at, name)
            }
            _ => None,
        };
        if let Some(value) = fact {
            return Ok(value);
        }
        at = next.ok_or_else(|| {
            DcmdError::at(at, format!("{at:x} has no member {path}, or it cannot be read"))
        })?;
    }
    Ok(Subject { at, ..subject }.value(limits))
}

/// A value, or the members of one that were asked for.
struct Printed {
    base: Addr,
    values: ScriptValues,
}

impl Record for Printed {
    fn kind(&self) -> &'static str {
        "py_value"
    }

    fn view(&self) -> View {
        View::Line("{first}{others* {.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.base);
        self.values.fields(out);
    }
}

/// What a pipe gets of a value.
pub struct Piece(pub Addr);

impl Record for Piece {
    fn kind(&self) -> &'static str {
        "py_address"
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
