//! `::javaprint` — objects of Java.

use kcore::Addr;
use kcore::java::value::{Limits, Step};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dialect, Dot, Example, Fields, Group, Opt, Record,
    Result, ScriptStyle, Spec, View,
};

use super::subject;
use crate::script_values::{self, ScriptValues};
use crate::v8::member_path;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show the address before each value" },
    Opt {
        flag: 'd',
        value: Some("depth"),
        help: "show nested objects down to this depth (default 2)",
    },
    Opt {
        flag: 'N',
        value: Some("length"),
        help: "show at most this much of each string (default 1024)",
    },
    Opt {
        flag: 'l',
        value: Some("limit"),
        help: "show at most this many elements and fields (default 100)",
    },
];

const HELP: &str = "\
The address is that of an object. A member is a path: a.b, array[3], map[\"a key\"]. Indices are \
decimal. Several members share one line. A java.lang.Class has the static fields of its class as \
members.

Fields of a class stand before those of the class that it extends. Strings, numbers in boxes and \
constants of an enum stand as what they say. So do BigInteger, BigDecimal, StringBuilder, UUID, \
atomic numbers, paths, addresses of the network, and dates and times of java.time. The backtrace of an exception is the stack that it \
carries. Collections of java.util show what they hold. These are the lists, sets, maps and queues \
that are common, and the views of Collections and of List.of. A member of a map is found by a key that is a string; .field always names a field first.

`[...]` stands for objects below the depth of -d, and <circular> for an object inside of itself.

In a pipe, each value passes its address.";

const EXAMPLES: &[Example] = &[
    Example {
        line: "::findjavaobjects java.lang.Thread | ::javaprint name",
        shows: "the names of all threads",
    },
    Example {
        line: "::findjavaobjects java.util.Properties | ::javaprint -l 5",
        shows: "the first properties of each set",
    },
];

/// Prints values of Java.
pub struct Javaprint;

impl Dcmd for Javaprint {
    fn spec(&self) -> Spec {
        Spec::new("javaprint", Group::Runtimes, "print a Java object, or some members of it")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .operands("[member...]", 0, usize::MAX)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let at = cx.addr().ok_or_else(|| DcmdError::usage("an address is needed"))?.addr();
        let java = subject::machine_of(core, at)?;
        let limits = Limits {
            depth: script_values::depth(args, 2)?,
            entries: script_values::number(args, 'l', 100)?,
            characters: script_values::number(args, 'N', 1024)?,
        };
        let members: Vec<String> = args.operands().iter().map(Arg::to_text).collect();
        let paths = match members.as_slice() {
            [] => vec![Vec::new()],
            members => members.iter().map(|path| steps(path)).collect::<Result<_>>()?,
        };
        let mut values = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            let value = java.part(core.as_ref(), at, path, limits).ok_or_else(|| {
                let path = members.get(index).map_or("", String::as_str);
                DcmdError::at(at, format!("{at:x} has no member {path}, or it cannot be read"))
            })?;
            values.push(value);
        }
        if cx.input().pipe_out {
            let known = values.iter().filter_map(|value| value.at);
            return known.map(Piece).try_for_each(|piece| cx.emit(&piece));
        }
        let style = ScriptStyle { dialect: Dialect::Java, addresses: args.has('a'), indent: 0 };
        cx.emit(&Printed { base: at, values: ScriptValues { members, values, style } })
    }
}

/// The steps of a path.
fn steps(path: &str) -> Result<Vec<Step>> {
    use kcore::v8::value::Step as Parsed;
    let step = |step| match step {
        Parsed::Name(name) => Ok(Step::Name(name)),
        Parsed::Index(index) => Ok(Step::Index(index)),
        Parsed::Symbol(name) => {
            Err(DcmdError::usage(format!("'Symbol({name})' is not a Java member")))
        }
    };
    member_path::parse(path)?.into_iter().map(step).collect()
}

/// A value, or the members of one that were asked for.
struct Printed {
    base: Addr,
    values: ScriptValues,
}

impl Record for Printed {
    fn kind(&self) -> &'static str {
        "java_value"
    }

    fn view(&self) -> View {
        View::Line("{first}{others* {.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.base);
        self.values.fields(out);
    }
}

/// The address of an object.
pub struct Piece(pub Addr);

impl Record for Piece {
    fn kind(&self) -> &'static str {
        "java_address"
    }

    fn view(&self) -> View {
        View::Line("{address:x}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.0);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0))
    }
}
