//! `::grep` — the values of a pipe for which an expression holds.

use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, Example, Group, Result, Spec};

use crate::{element::Element, operand};

const EXAMPLES: &[Example] = &[Example {
    line: "::walk mapping | ::grep '(. & 1fff) == 0'",
    shows: "mappings that begin at an even page",
}];

/// Passes a value if an expression of it is not zero.
pub struct Grep;

impl Dcmd for Grep {
    fn spec(&self) -> Spec {
        Spec::new("grep", Group::Language, "pass values for which an expression is not zero")
            .addr(AddrUse::Required)
            .operands("expression", 1, 1)
            .help(
                "Evaluates the expression with dot at each value. Quote it if it contains \
                 blanks.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let dot = cx.dot();
        let expression = args.first().map_or_else(String::new, Arg::to_text);
        match operand::number(cx, &Arg::Text(expression))? {
            0 => Ok(()),
            _ => cx.emit(&Element::from(dot)),
        }
    }
}
