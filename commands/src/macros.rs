//! `$<`, `$<<` — run macro files.

use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Example, Group, MacroCall, Result, Spec,
};

const HELP: &str = "\
A macro file holds commands. The name is a file in one of the folders of the macro path, or a \
path if it contains a slash. ::set -I sets the macro path; by default it is the folder \
kcore/macros in the configuration folder.

In a macro, $< drops the rest of the macro and runs the other file instead, and $<< comes back to \
it. Elsewhere both are the same. Dot is the address, and the variable 9 has the count. $< without \
a name ends the macro that it is in, unless its count is 0. The values that a macro finds cannot \
feed a pipe.";

/// `$<`: runs a file in place of the macro that runs.
pub struct Replace;

/// `$<<`: runs a file, then goes on.
pub struct Call;

/// What both have in common.
const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, Group::Language, summary)
        .for_users()
        .addr(AddrUse::Optional)
        .operands("[name]", 0, 1)
        .takes_count()
        .help(HELP)
}

impl Dcmd for Replace {
    fn spec(&self) -> Spec {
        spec("$<", "run a macro file in place of the one that runs").examples(&[Example {
            line: "$<",
            shows: "nothing: no macro is running that it could end",
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
            shows: "nothing; for another file, the output of its commands",
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
