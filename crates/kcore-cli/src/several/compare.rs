//! `kcore stacks CORE CORE...`: which stacks several cores have in common.

use std::collections::HashMap;

use kcore::{Core, StackGroup};
use kcore_dcmd::{
    Cell, Column, DcmdError, Fields, Record, Sink, SymbolCell, View, stack::MAX_GROUP_FRAMES,
};
use kcore_shell::Status;

use super::Cores;
use super::alike::{Comparable, FrameKey, Likeness};

const CORE_COLUMNS: &[Column] = &[
    Column::right("core", "CORE", 4),
    Column::right("threads", "THREADS", 8),
    Column::right("stacks", "STACKS", 7),
    Column::left("file", "FILE", 0),
];

/// A core that was looked at.
struct ComparedCore {
    /// By which its stacks refer to it, from 1.
    number: usize,
    file: String,
    threads: usize,
    stacks: usize,
}

impl Record for ComparedCore {
    fn kind(&self) -> &'static str {
        "compared_core"
    }

    fn view(&self) -> View {
        View::Table(CORE_COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("core", self.number as u64)
            .text("file", self.file.as_str())
            .num("threads", self.threads as u64)
            .num("stacks", self.stacks as u64);
    }
}

/// A stack that threads of one core or more have.
struct ComparedStack {
    like: Comparable,
    waits_in: Option<String>,
    /// How many threads of each core have it, by the number of the core.
    counts: Vec<(usize, usize)>,
}

impl ComparedStack {
    fn total(&self) -> usize {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    fn add(&mut self, core: usize, count: usize) {
        match self.counts.last_mut() {
            Some((last, sum)) if *last == core => *sum = sum.saturating_add(count),
            _ => self.counts.push((core, count)),
        }
    }
}

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

/// A frame of such a stack.
struct ComparedFrame<'a> {
    index: usize,
    frame: &'a FrameKey,
    shows_source: bool,
}

impl ComparedFrame<'_> {
    fn symbol(&self) -> SymbolCell<'_> {
        SymbolCell {
            addr: kcore::Addr::new(0),
            module: self.frame.module().map(Into::into),
            name: Some(self.frame.name().to_string().into()),
            offset: 0,
            nearest: self.frame.location.nearest,
        }
    }

    fn place(&self) -> Option<String> {
        let location = &*self.frame.location;
        let is_shown = self.shows_source || !location.kind.is_machine_code();
        let file = location.file.as_deref().filter(|_| is_shown)?;
        Some(location.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
    }
}

impl Record for ComparedFrame<'_> {
    fn kind(&self) -> &'static str {
        "compared_frame"
    }

    fn view(&self) -> View {
        View::Line(
            "                 {symbol}{place? at {place}}{inline? [inlined]}{guess? [guessed]}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let location = &*self.frame.location;
        out.num("index", self.index as u64)
            .text("kind", location.kind.as_str())
            .opt_text("function", location.function.as_deref())
            .opt_text("module", location.module.as_deref())
            .opt_text("file", location.file.as_deref())
            .num("line", location.line.map(u64::from))
            .flag("inline", location.inline)
            .flag("guess", self.frame.is_guess)
            .display("symbol", Cell::Symbol(self.symbol()))
            .display("place", Cell::or_null(self.place(), Cell::text));
    }
}

/// What such a stack ends with.
struct ComparedEnd<'a>(&'a Option<String>);

impl Record for ComparedEnd<'_> {
    fn kind(&self) -> &'static str {
        "compared_end"
    }

    fn view(&self) -> View {
        if self.0.is_some() { View::Line("                 -- {end}") } else { View::Hidden }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.opt_text("end", self.0.as_deref());
    }
}

/// The stacks of all cores, each once.
#[derive(Default)]
struct Comparison {
    cores: Vec<ComparedCore>,
    stacks: Vec<ComparedStack>,
    known: HashMap<Likeness, usize>,
}

impl Comparison {
    /// Adds the stacks of one core. Tasks that no thread runs have no part in it.
    fn add(&mut self, file: &str, core: &Core) {
        let number = self.cores.len().saturating_add(1);
        let tids = core.tids();
        let groups = core.stack_groups(&tids, &[], MAX_GROUP_FRAMES);
        let mut seen = std::collections::HashSet::new();
        for group in &groups {
            seen.insert(self.add_group(number, core, group));
        }
        let file = file.to_owned();
        self.cores.push(ComparedCore { number, file, threads: tids.len(), stacks: seen.len() });
    }

    /// Adds the threads of one group, and returns the index of their stack.
    fn add_group(&mut self, number: usize, core: &Core, group: &StackGroup) -> usize {
        let waits_in = group.waits_in.as_deref().map(str::to_owned);
        let like = Comparable::new(core, &group.stack, waits_in.clone());
        let next = self.stacks.len();
        let index = *self.known.entry(like.likeness.clone()).or_insert(next);
        if index == next {
            self.stacks.push(ComparedStack { like, waits_in, counts: Vec::new() });
        }
        if let Some(stack) = self.stacks.get_mut(index) {
            stack.add(number, group.count());
        }
        index
    }
}

/// Shows the cores, then their stacks: first those that most cores have, of these the most common ones.
pub(super) fn show(cores: &Cores<'_>, sink: &mut dyn Sink) -> Result<Status, DcmdError> {
    let mut all = Comparison::default();
    let status = cores.each("stacks", sink, |file, core| all.add(file, core))?;
    all.cores.iter().try_for_each(|core| sink.put(core))?;
    all.stacks.sort_by_key(|stack| std::cmp::Reverse((stack.counts.len(), stack.total())));
    all.stacks.iter().try_for_each(|stack| show_stack(stack, cores.shows_source(), sink))?;
    Ok(status)
}

fn show_stack(
    stack: &ComparedStack,
    shows_source: bool,
    sink: &mut dyn Sink,
) -> Result<(), DcmdError> {
    sink.begin(stack, "frames")?;
    for (index, frame) in stack.like.frames.iter().enumerate() {
        sink.put(&ComparedFrame { index, frame, shows_source })?;
    }
    sink.end(&ComparedEnd(&stack.like.end))
}
