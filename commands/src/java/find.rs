//! `::findjavaobjects` — the objects of a class of Java.

use kcore_dcmd::{Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use super::{print::Piece, subject};
use crate::{heap::not_copied::note_not_copied, watched::watched};

const OPTIONS: &[Opt] = &[Opt { flag: 'x', value: None, help: "only objects of the class itself" }];

const HELP: &str = "\
Finds the objects of a class, and of the classes that extend it. Name the class with its package and \
dots, an inner class with a dollar sign, an array as sources have it: java.lang.String[]. Objects \
that are dead and not collected yet are found too; ::path tells whether something keeps one.";

const EXAMPLES: &[Example] = &[
    Example {
        line: "::findjavaobjects java.lang.Thread",
        shows: "every thread and virtual thread",
    },
    Example {
        line: "::findjavaobjects -x java.util.HashMap | ::head -1 | ::javaprint",
        shows: "one of the maps",
    },
];

/// Finds objects by their class.
pub struct Findjavaobjects;

impl Dcmd for Findjavaobjects {
    fn spec(&self) -> Spec {
        Spec::new("findjavaobjects", Group::Runtimes, "find the objects of a class of Java")
            .options(OPTIONS)
            .operands("class", 1, 1)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let name = args.operands().first().map(Arg::to_text).unwrap_or_default();
        note_not_copied(cx)?;
        subject::note_damage(cx)?;
        let mut is_known = false;
        for java in subject::heaps(core)? {
            let wanted = java.wanted_class(core.as_ref(), &name, args.has('x'));
            is_known |= wanted.is_known();
            let found = watched(cx, |watch| java.instances(core.as_ref(), &wanted, watch))?;
            found.into_iter().try_for_each(|at| cx.emit(&Piece(at)))?;
            subject::note_missing(cx, java)?;
        }
        match is_known {
            true => Ok(()),
            false => Err(DcmdError::failed(format!("no class {name} is loaded"))),
        }
    }
}
