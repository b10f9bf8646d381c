//! `::head` — the first values of a pipe.

use kcore_dcmd::{Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use crate::{element::Element, operand};

/// How many values pass by default.
const DEFAULT: usize = 10;

const OPTIONS: &[Opt] =
    &[Opt { flag: 'n', value: Some("count"), help: "the number of values, in decimal" }];

const EXAMPLES: &[Example] = &[
    Example { line: "::walk mapping | ::head -2", shows: "the first two mappings" },
    Example { line: "::walk mapping | ::head -n 2 | ::whatis", shows: "what lies at their start" },
];

/// Lets the first values of a pipe pass.
pub struct Head;

impl Dcmd for Head {
    fn spec(&self) -> Spec {
        Spec::new("head", Group::Language, "pass the first values of a pipe")
            .options(OPTIONS)
            .operands("[-count]", 0, 1)
            .takes_list()
            .help("The count is decimal, and 10 by default. You can use ::head only after a pipe.")
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let count = count(args)?;
        cx.piped()?.iter().take(count).try_for_each(|value| cx.emit(&Element(value.clone())))
    }
}

fn count(args: &Args) -> Result<usize> {
    match (args.value('n'), args.first()) {
        (Some(word), None) => operand::decimal(word),
        (None, Some(word)) => {
            let text = word.to_text();
            let digits = text.strip_prefix('-').ok_or_else(|| {
                DcmdError::usage(format!("expected a count such as -5 instead of '{text}'"))
            })?;
            operand::decimal(&Arg::Text(digits.to_owned()))
        }
        (None, None) => Ok(DEFAULT),
        (Some(_), Some(_)) => Err(DcmdError::usage("one count is enough")),
    }
}
