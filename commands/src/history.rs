//! `::history` — the lines that the user typed.

use kcore_dcmd::{Arg, Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result};
use kcore_dcmd::{Spec, View};

use crate::operand;

const HELP: &str = "\
Shows the oldest line first, including lines of earlier sessions, as far as the history keeps \
them. With a number, in decimal, shows only that many of the last lines. The arrow keys and \
control-R bring back a line. Lines of scripts are not kept.";

const EXAMPLES: &[Example] = &[Example { line: "::history 20", shows: "the last 20 lines" }];

/// Shows the lines that the user typed.
pub struct History;

impl Dcmd for History {
    fn spec(&self) -> Spec {
        Spec::new("history", Group::Language, "show the lines that were typed")
            .operands("[lines]", 0, 1)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let lines = cx.shell().typed_lines().to_vec();
        let count = args.first().map_or(Ok(lines.len()), count)?;
        let first = lines.len().saturating_sub(count);
        lines.into_iter().enumerate().skip(first).try_for_each(|(index, line)| {
            cx.emit(&TypedLine { number: index.saturating_add(1), line })
        })
    }
}

fn count(word: &Arg) -> Result<usize> {
    operand::as_decimal(word).ok_or_else(|| {
        DcmdError::usage(format!("invalid number of lines -- {} (in decimal)", word.to_text()))
    })
}

/// A line, and its number among all.
struct TypedLine {
    number: usize,
    line: String,
}

impl Record for TypedLine {
    fn kind(&self) -> &'static str {
        "typed_line"
    }

    fn view(&self) -> View {
        View::Line("{place}  {line}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.put("number", Cell::Num(self.number as u64))
            .text("line", &self.line)
            .display("place", Cell::text(format!("{:>5}", self.number)));
    }
}
