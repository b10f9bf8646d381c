//! `::sort` — the values of a pipe in order.

use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use crate::element::Element;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'n', value: None, help: "sort as signed numbers" },
    Opt { flag: 'r', value: None, help: "sort the greatest first" },
];

const EXAMPLES: &[Example] = &[Example {
    line: "::walk object | ::sort -r | ::head -2",
    shows: "the two objects with the highest addresses",
}];

/// Sorts the values of a pipe.
pub struct Sort;

impl Dcmd for Sort {
    fn spec(&self) -> Spec {
        Spec::new("sort", Group::Language, "sort the values of a pipe")
            .options(OPTIONS)
            .takes_list()
            .help(
                "Sorts by value, unsigned. Equal values keep their order. You can use ::sort \
                 only after a pipe.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let mut values = cx.piped()?.to_vec();
        if args.has('n') {
            values.sort_by_key(|value| value.dot.number().cast_signed());
        } else {
            values.sort_by_key(|value| value.dot.number());
        }
        if args.has('r') {
            values.reverse();
        }
        values.into_iter().try_for_each(|value| cx.emit(&Element(value)))
    }
}
