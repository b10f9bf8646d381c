//! `::uniq` — the values of a pipe, each once.

use std::collections::HashMap;

use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Piped, Record, Result, Spec, View,
};

use crate::element::Element;

const OPTIONS: &[Opt] =
    &[Opt { flag: 'c', value: None, help: "also show how often each value came" }];

const EXAMPLES: &[Example] = &[Example {
    line: "::walk thread | ::map 0 | ::uniq -c",
    shows: "one value, and how often it came",
}];

/// Passes each value of a pipe once.
pub struct Uniq;

impl Dcmd for Uniq {
    fn spec(&self) -> Spec {
        Spec::new("uniq", Group::Language, "pass each value of a pipe once")
            .options(OPTIONS)
            .takes_list()
            .help(
                "Passes the first of equal values, wherever the others are, so the pipe need \
                 not be sorted. You can use ::uniq only after a pipe.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let values = cx.piped()?;
        let mut counts: HashMap<u64, u64> = HashMap::new();
        for value in values {
            let count = counts.entry(value.dot.number()).or_default();
            *count = count.saturating_add(1);
        }
        for value in values {
            let Some(count) = counts.remove(&value.dot.number()) else { continue };
            match args.has('c') {
                true => cx.emit(&CountedValue { value: Element(value.clone()), count })?,
                false => cx.emit(&Element(value.clone()))?,
            }
        }
        Ok(())
    }
}

/// A value, and how often it came.
struct CountedValue {
    value: Element,
    count: u64,
}

impl Record for CountedValue {
    fn kind(&self) -> &'static str {
        "counted_element"
    }

    fn view(&self) -> View {
        match self.value.0.dot {
            Dot::Thread(_) => View::Line("{count:>7d} 0t{thread:d}"),
            _ => View::Line("{count:>7d} {value:#}"),
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.put("count", Cell::Num(self.count));
        self.value.fields(out);
    }

    fn piped(&self) -> Option<Piped> {
        self.value.piped()
    }
}
