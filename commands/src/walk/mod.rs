//! `::walk`, and a file for each walker.

pub mod auxv;
pub mod frame;
pub mod initial;
pub mod link_map;
pub mod mapping;
pub mod object;
pub mod symbol;
pub mod thread;
pub mod ucontext;
pub mod ulwp;

use std::sync::Arc;

use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Result, Spec, Walker,
};

use crate::bound_element::Binder;
use crate::declared;

const EXAMPLES: &[Example] = &[
    Example { line: "::walk thread", shows: "the id of every thread, the crashed one first" },
    Example { line: "::walk thread | ::stack", shows: "the stack of every thread" },
    Example { line: "main::walk symbol | ::head -3", shows: "symbols of the executable" },
    Example {
        line: "::walk thread t | ::walk frame | ::eval '<t=D'",
        shows: "for each frame, the id of its thread",
    },
];

/// Runs a walker.
pub struct Walk;

impl Dcmd for Walk {
    fn spec(&self) -> Spec {
        Spec::new("walk", Group::Language, "walk the elements of something")
            .addr(AddrUse::Optional)
            .operands("name [variable]", 1, 2)
            .help(
                "Each element is printed on a line, or feeds the next dcmd of a pipe. Elements \
                 keep their type in a pipe. A thread stays a thread and prints as 0t4711, which \
                 you can type back. ::walkers lists the walkers; some need an address to start \
                 from. Files of your own declare more: see ::help printers.\n\n\
                 The variable holds the value of the element while the later stages of the pipe \
                 handle that element.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let name = args.first().map_or_else(String::new, Arg::to_text);
        let binder = |cx: &mut Cx<'_>| Binder::new(cx, args.operands().get(1).map(Arg::to_text));
        let printers = Arc::clone(cx.shell().printers());
        if let Some(walker) = printers.walker(&name) {
            let (from, binder) = (cx.addr(), binder(cx)?);
            return declared::walk::each(cx, walker, from, &mut |cx, element| {
                cx.emit(&binder.element(declared::walk::dot_of(element)))
            });
        }
        let walker = find(cx, &name)?;
        let from = starting_address(walker, cx.addr())?;
        let binder = binder(cx)?;
        walker.walk(cx, from, &mut |cx, dot| cx.emit(&binder.element(dot)))
    }
}

fn find(cx: &Cx<'_>, name: &str) -> Result<&'static dyn Walker> {
    let walkers = cx.shell().walkers();
    let found = walkers.iter().find(|walker| walker.spec().name == name);
    found.copied().ok_or_else(|| refused(format!("unknown walk name '{name}'")))
}

/// The address from which a walker starts.
///
/// # Errors
/// When it needs one and has none, or takes none.
pub fn starting_address(walker: &dyn Walker, from: Option<Dot>) -> Result<Option<Dot>> {
    match (walker.spec().addr, from) {
        (AddrUse::Required, None) => Err(refused("walker requires starting address")),
        (AddrUse::None, Some(_)) => Err(refused("walker does not accept starting address")),
        (_, from) => Ok(from),
    }
}

fn refused(reason: impl AsRef<str>) -> DcmdError {
    DcmdError::failed(format!("failed to perform walk: {}", reason.as_ref()))
}
