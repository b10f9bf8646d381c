//! `kcore diff BEFORE AFTER`: what moved between two cores of one program.

use std::cmp::Reverse;

use kcore_dcmd::{DcmdError, Fields, Record, Sink, View};
use kcore_shell::Status;

use super::Cores;
use super::frames::show_stack;
use super::growth::{self, ClassSizes};
use super::stacks::{ComparedStack, Comparison};

/// The numbers of the two cores.
const BEFORE: usize = 1;
const AFTER: usize = 2;

/// How the number of threads and tasks with a stack changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Nothing had it before.
    New,
    /// Nothing has it any more.
    Gone,
    /// More or fewer threads and tasks have it.
    Moved,
}

impl Change {
    fn of(stack: &ComparedStack) -> Option<Self> {
        match (stack.count_of(BEFORE), stack.count_of(AFTER)) {
            (before, after) if before == after => None,
            (0, _) => Some(Self::New),
            (_, 0) => Some(Self::Gone),
            _ => Some(Self::Moved),
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Moved => "moved",
        }
    }
}

/// A stack that has not the same number of threads and tasks in both cores.
struct ChangedStack<'a> {
    change: Change,
    stack: &'a ComparedStack,
}

impl ChangedStack<'_> {
    fn before(&self) -> usize {
        self.stack.count_of(BEFORE)
    }

    fn after(&self) -> usize {
        self.stack.count_of(AFTER)
    }

    /// By kind, of these the largest change first.
    fn order(&self) -> (Change, Reverse<usize>) {
        (self.change, Reverse(self.before().abs_diff(self.after())))
    }
}

impl Record for ChangedStack<'_> {
    fn kind(&self) -> &'static str {
        "changed_stack"
    }

    fn view(&self) -> View {
        View::Line("\n{change:<6} {before} -> {after}{waits_in?, in {waits_in}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("change", self.change.as_str())
            .num("before", self.before() as u64)
            .num("after", self.after() as u64)
            .opt_text("waits_in", self.stack.waits_in.as_deref());
    }
}

/// How many stacks are new, gone, or have another number of threads or tasks, and how many are as before.
struct Summary {
    new: usize,
    gone: usize,
    moved: usize,
    same: usize,
}

impl Summary {
    fn of(changed: &[ChangedStack<'_>], all: usize) -> Self {
        let count = |change| changed.iter().filter(|stack| stack.change == change).count();
        let same = all.saturating_sub(changed.len());
        let [new, gone, moved] = [Change::New, Change::Gone, Change::Moved].map(count);
        Self { new, gone, moved, same }
    }
}

impl Record for Summary {
    fn kind(&self) -> &'static str {
        "diff"
    }

    fn view(&self) -> View {
        View::Line(
            "\nstacks: {new} new, {gone} gone, {moved} with another number of threads or tasks, {same} as before",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("new", self.new as u64)
            .num("gone", self.gone as u64)
            .num("moved", self.moved as u64)
            .num("same", self.same as u64);
    }
}

/// Shows the cores, how many stacks changed, each of them, and the classes of languages' heaps that grew.
pub(super) fn show(cores: &Cores<'_>, sink: &mut dyn Sink) -> Result<Status, DcmdError> {
    let mut all = Comparison::default();
    let mut sizes = Vec::new();
    let status = cores.each("diff", sink, |file, core| {
        all.add(file, core);
        sizes.push(ClassSizes::of(core));
    })?;
    // Without one of them there is nothing to say of the other.
    let [before, after] = sizes.as_slice() else { return Ok(status) };
    all.cores.iter().try_for_each(|core| sink.put(core))?;
    show_stacks(&all, cores.shows_source(), sink)?;
    growth::show(before, after, sink)?;
    Ok(status)
}

fn show_stacks(all: &Comparison, shows_source: bool, sink: &mut dyn Sink) -> Result<(), DcmdError> {
    let changed = all.stacks.iter();
    let mut changed: Vec<ChangedStack<'_>> = changed
        .filter_map(|stack| Some(ChangedStack { change: Change::of(stack)?, stack }))
        .collect();
    changed.sort_by_key(ChangedStack::order);
    sink.put(&Summary::of(&changed, all.stacks.len()))?;
    changed.iter().try_for_each(|it| show_stack(it, &it.stack.like, shows_source, sink))
}
