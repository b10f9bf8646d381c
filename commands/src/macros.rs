//! `$<`, `$<<` — run macro files.

use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Example, Group, MacroCall, Result, Spec,
};

const HELP: &str = "A macro file holds commands. A name is that of a file in one of the folders of the \
    macro path (::set -I, and kcore/macros of the configuration folder), or, with a slash, a path. Within a macro $< ends what is left of it and runs the other file \
    in its place, and $<< returns to it; elsewhere both are the same. Dot is the address. The \
    variable 9 has the count before the dcmd. $< without a name ends the macro in which it stands, \
    unless the count before it is 0. What a macro finds cannot feed a pipe.";

/// `$<`: runs a file in place of the macro that runs.
pub struct Replace;

/// `$<<`: runs a file, then goes on.
pub struct Call;

/// What both have in common.
const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, Group::Language, summary)
        .addr(AddrUse::Optional)
        .operands("[name]", 0, 1)
        .takes_count()
        .help(HELP)
}

impl Dcmd for Replace {
    fn spec(&self) -> Spec {
        spec("$<", "run a macro file in place of the one that runs").examples(&[Example {
            line: "$<",
            shows: "nothing: outside of a macro there is none to end",
        }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        run(cx, args, MacroCall::Replace)
    }
}

impl Dcmd for Call {
    fn spec(&self) -> Spec {
        spec("$<<", "run a macro file and return").examples(&[Example {
            line: "$<</dev/null",
            shows: "nothing; another file shows what its commands show",
        }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        if args.first().is_none() {
            return Err(DcmdError::usage("too few arguments"));
        }
        run(cx, args, MacroCall::Return)
    }
}

fn run(cx: &mut Cx<'_>, args: &Args, call: MacroCall) -> Result<()> {
    if cx.input().pipe_out {
        return Err(DcmdError::failed("macro files cannot be used as input to a pipeline"));
    }
    // What follows in the pipe would be lost with the rest of the macro.
    let call = if cx.input().looped { MacroCall::Return } else { call };
    let name = args.first().map(Arg::to_text);
    cx.run_macro(name.as_deref(), call)
}
