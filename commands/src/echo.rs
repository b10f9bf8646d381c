//! `::echo` — prints its words.

use kcore_dcmd::{Arg, Args, Cx, Dcmd, Example, Group, Result, Spec};

use crate::text_line::TextLine;

const EXAMPLES: &[Example] =
    &[Example { line: "::echo stack pointer $[<rsp]", shows: "the words, and the value of one" }];

/// Prints its words, each followed by a blank.
pub struct Echo;

impl Dcmd for Echo {
    fn spec(&self) -> Spec {
        Spec::new("echo", Group::Language, "print words")
            .operands("[word...]", 0, usize::MAX)
            .help(
                "Prints each word with a blank after it. The value of $[expression] is printed \
                 in the current radix. In a pipe, the line is an expression, and its value goes \
                 to the next dcmd.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let radix = cx.shell().radix();
        let words = args.operands().iter().map(|word| match word {
            Arg::Text(text) => format!("{text} "),
            Arg::Number(value) => format!("{} ", kcore_dcmd::digits(*value, radix)),
        });
        cx.emit(&TextLine(words.collect()))
    }
}
