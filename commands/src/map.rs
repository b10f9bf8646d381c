//! `::map` — the values of a pipe, each replaced by an expression of it.

use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, Dot, Example, Group, Result, Spec};

use crate::{element::Element, operand};

const EXAMPLES: &[Example] =
    &[Example { line: "::walk mapping | ::map '.+8'", shows: "the second word of each mapping" }];

/// Passes the value of an expression for each value.
pub struct Map;

impl Dcmd for Map {
    fn spec(&self) -> Spec {
        Spec::new("map", Group::Language, "replace each value by an expression of it")
            .addr(AddrUse::Required)
            .operands("expression", 1, 1)
            .help(
                "Evaluates the expression with dot at each value. Quote it if it contains \
                 blanks.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let expression = args.first().map_or_else(String::new, Arg::to_text);
        let value = operand::number(cx, &Arg::Text(expression))?;
        cx.emit(&Element::from(Dot::Number(value)))
    }
}
