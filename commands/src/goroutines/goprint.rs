//! `::goprint`: a value of Go, by its type in the tables that the compiler always makes.

use kcore::{
    Addr, Core,
    go::{Form, Go, GoValue, GoValueLimits, Typed},
};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use super::subject;
use crate::operand;

/// Prints a value of Go.
pub struct Goprint;

/// Limits unless others are asked for.
const DEPTH: usize = 1;
const ELEMENTS: usize = 16;
const TEXT: u64 = 256;
/// More pointers below each other are not followed.
const MAX_DEPTH: usize = 16;

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'i',
        value: None,
        help: "the address is that of an interface: print what it holds",
    },
    Opt {
        flag: 't',
        value: Some("type"),
        help: "the address at which the type is described, when the object does not tell",
    },
    Opt {
        flag: 'd',
        value: Some("depth"),
        help: "how many pointers to follow below each other, in decimal (default 1, at most 16)",
    },
    Opt {
        flag: 'n',
        value: Some("count"),
        help: "how many elements of each slice, array and map to show, in decimal (default 16)",
    },
];

const HELP: &str = "\
Prints the object of Go's heap that holds the address. The type comes from the program's own tables, so no debug \
information is needed. ::classes says how many objects have a type that is known.\n\n\
With -i the address is that of an interface, anywhere in memory. With -t any memory can be printed: the type's address \
is the first word of an interface that holds a value of it.\n\n\
Maps show their entries in the order in which they lie in memory. Text is cut after 256 bytes. What a limit leaves out \
is marked by three dots.";

impl Dcmd for Goprint {
    fn spec(&self) -> Spec {
        Spec::new("goprint", Group::Runtimes, "print a value of Go by its type")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(HELP)
            .examples(&[Example {
                line: "::classes -c errors.errorString | ::goprint",
                shows: "the errors of package errors",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let dot = cx.addr().ok_or_else(|| DcmdError::usage("::goprint needs an address"))?;
        let at = dot.addr();
        let number = |flag: char, default: usize| match args.value(flag) {
            Some(word) => operand::decimal(word),
            None => Ok(default),
        };
        let limits = GoValueLimits {
            depth: number('d', DEPTH)?.min(MAX_DEPTH),
            elements: number('n', ELEMENTS)? as u64,
            text: TEXT,
        };
        let ty =
            args.value('t').map(|word| operand::number(cx, word).map(Addr::new)).transpose()?;
        let core = cx.core();
        for go in subject::schedulers(core)? {
            let Some(typed) = typed(go, core, at, ty, args.has('i')) else { continue };
            let value = go.typed_value(core.as_ref(), typed, limits).map_err(DcmdError::failed)?;
            return cx.emit(&ValueRecord(value));
        }
        Err(DcmdError::at(at, why_none(at, args.has('i'))))
    }
}

/// Where the value lies, and its type.
fn typed(go: &Go, core: &Core, at: Addr, ty: Option<Addr>, is_interface: bool) -> Option<Typed> {
    match ty {
        Some(ty) => Some(Typed { at, ty, form: Form::One }),
        None if is_interface => go.held_by_interface(core, at),
        None => go.object_of_type(core, at),
    }
}

fn why_none(at: Addr, is_interface: bool) -> String {
    match is_interface {
        true => format!("no interface at {at:x}: its first word leads to no type"),
        false => format!("no object of Go's heap with a known type at {at:x} (-t gives the type)"),
    }
}

struct ValueRecord(GoValue);

impl Record for ValueRecord {
    fn kind(&self) -> &'static str {
        "go_value"
    }

    fn view(&self) -> View {
        View::Line("{address:x} {go_type}: {value}")
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let it = &self.0;
        out.addr("address", it.at)
            .text("go_type", &*it.ty)
            .num("size", it.size)
            .put("value", Cell::text(it.text.as_str()))
            .flag("cut", it.is_cut);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.at))
    }
}
