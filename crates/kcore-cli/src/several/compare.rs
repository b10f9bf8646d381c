//! `kcore stacks CORE CORE...`: which stacks several cores have in common.

use std::cmp::Reverse;

use kcore_dcmd::{Cell, DcmdError, Fields, Record, Sink, View};
use kcore_shell::Status;

use super::Cores;
use super::frames::show_stack;
use super::stacks::{ComparedStack, Comparison};

impl Record for ComparedStack {
    fn kind(&self) -> &'static str {
        "compared_stack"
    }

    fn view(&self) -> View {
        View::Line("\n{count:>5}  {counts* core {.}}{waits_in?, in {waits_in}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let number = |number: usize| Cell::Num(number as u64);
        let cell = |(core, count): &(usize, usize)| {
            Cell::Object(vec![("core", number(*core)), ("count", number(*count))])
        };
        let words = self.counts.iter().map(|(core, count)| Cell::text(format!("{core}: {count}")));
        out.num("count", self.total() as u64)
            .put("cores", Cell::List(self.counts.iter().map(cell).collect()))
            .opt_text("waits_in", self.waits_in.as_deref())
            .display("counts", Cell::List(words.collect()));
    }
}

/// Shows the cores, then their stacks: first those that most cores have, of these the most common ones.
pub(super) fn show(cores: &Cores<'_>, sink: &mut dyn Sink) -> Result<Status, DcmdError> {
    let mut all = Comparison::default();
    let status = cores.each("stacks", sink, |file, core| all.add(file, core))?;
    all.cores.iter().try_for_each(|core| sink.put(core))?;
    all.stacks.sort_by_key(|stack| Reverse((stack.counts.len(), stack.total())));
    let shows_source = cores.shows_source();
    all.stacks.iter().try_for_each(|stack| show_stack(stack, &stack.like, shows_source, sink))?;
    Ok(status)
}
