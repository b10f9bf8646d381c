//! `::walk`, and a file for each walker.

pub mod frame;
pub mod mapping;
pub mod object;
pub mod symbol;
pub mod thread;

use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Result, Spec, Walker,
};

use crate::element::Element;

const EXAMPLES: &[Example] = &[
    Example { line: "::walk thread", shows: "the id of every thread, the crashed one first" },
    Example { line: "::walk thread | ::stack", shows: "the stack of every thread" },
    Example { line: "main::walk symbol | ::head -3", shows: "symbols of the executable" },
];

/// Runs a walker.
pub struct Walk;

impl Dcmd for Walk {
    fn spec(&self) -> Spec {
        Spec::new("walk", Group::Language, "step over the elements of something by a walker")
            .addr(AddrUse::Optional)
            .operands("name", 1, 1)
            .help(
                "Each element is printed on a line, or feeds the next dcmd of a pipe. Elements keep \
                 their type in a pipe: threads stay threads, and print as 0t4711, which can be \
                 typed back. ::walkers lists the walkers; some start from an address.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let name = args.first().map_or_else(String::new, Arg::to_text);
        let walker = find(cx, &name)?;
        let from = starting_address(walker, cx.addr())?;
        let mut elements = Vec::new();
        let walked = walker.walk(cx, from, &mut |dot| {
            elements.push(dot);
            Ok(())
        });
        elements.into_iter().try_for_each(|dot| cx.emit(&Element(dot)))?;
        walked
    }
}

fn find(cx: &Cx<'_>, name: &str) -> Result<&'static dyn Walker> {
    let walkers = cx.shell().walkers();
    let found = walkers.iter().find(|walker| walker.spec().name == name);
    found.copied().ok_or_else(|| refused(format!("unknown walk name '{name}'")))
}

fn starting_address(walker: &dyn Walker, from: Option<Dot>) -> Result<Option<Dot>> {
    match (walker.spec().addr, from) {
        (AddrUse::Required, None) => Err(refused("walker requires starting address")),
        (AddrUse::None, Some(_)) => Err(refused("walker does not accept starting address")),
        (_, from) => Ok(from),
    }
}

fn refused(reason: impl AsRef<str>) -> DcmdError {
    DcmdError::failed(format!("failed to perform walk: {}", reason.as_ref()))
}
