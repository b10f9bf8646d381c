//! `::eval` — runs text of the language.

use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, Example, Group, Result, Spec};

const EXAMPLES: &[Example] = &[
    Example { line: "::eval '1+1=D; 2=X'", shows: "two statements" },
    Example {
        line: "::walk thread | ::eval '.::thread; .$c'",
        shows: "both commands, for every thread",
    },
];

/// Runs text, once for each value of a pipe.
pub struct Eval;

impl Dcmd for Eval {
    fn spec(&self) -> Spec {
        Spec::new("eval", Group::Language, "run text of the language")
            .for_users()
            .addr(AddrUse::Optional)
            .operands("command...", 1, usize::MAX)
            .help(
                "Dot is the address, or the value from the pipe, and it stays where the text \
                 leaves it. An expression alone only sets dot. What the text finds feeds the \
                 next dcmd of a pipe. An error in the text ends the pipeline. Quote the text if \
                 it contains a semicolon or a pipe.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let words: Vec<_> = args.operands().iter().map(Arg::to_text).collect();
        let dot = cx.dot();
        cx.eval(&words.join(" "), dot)
    }
}
