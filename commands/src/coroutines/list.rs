//! `::coroutines`: the coroutines of C++20 that were not destroyed.

use std::{cmp::Reverse, collections::HashMap};

use kcore::{
    Runtime,
    coroutine::{Coroutine, Coroutines},
};
use kcore_dcmd::{Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use super::{
    filter::CoroutineFilter,
    row::{CoroutineGroup, CoroutineRecord, likeness},
    subject,
};

/// Lists the coroutines of C++20.
pub struct ListCoroutines;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'u', value: None, help: "count those that are alike" },
    Opt { flag: 'l', value: None, help: "only those that await no other coroutine" },
    Opt {
        flag: 's',
        value: Some("state"),
        help: "only those in this state: `created`, `suspended`, `not_running`, `running` or `done`",
    },
    Opt { flag: 'c', value: Some("text"), help: "only those whose function has this text" },
];

const HELP: &str = "\
A coroutine of C++20 has no stack while it waits. Its frame lies in memory, and begins with the \
addresses of two functions. ::coroutines searches memory for frames by the symbols of those.

FRAME is the address that std::coroutine_handle has. AT is the line in which it waits, or its \
function if it did not begin. STATE is not_running if no thread runs it, and nothing tells whether \
it began. AWAITS is the type of what it waits for. AWAITED BY is the coroutine that \
goes on when this one is done. A type says that of a handle in its promise. With a `?`, it is a \
guess: a word leads there. THREAD is the thread that runs it. In brackets behind FUNCTION stands \
why a row may be wrong.

Lines and types take debug information. 5640::print shows the frame at that address with its \
locals, as far as they outlive a co_await. clang names some of them by their types. Blocks that the allocator has as free are left out. \
Without an allocator that kcore knows, a frame may be one that was destroyed.

-u counts those with the same function, line, state and AWAITS, most common first.

::coroutines | ::stack shows the chain of each, from that one to those that await it. With -l, it \
shows each chain once. A frame's address does the same: 5640::stack. Of one that runs, the stack is \
that of its thread. ::tasks and ::stacks have the chains too; ::tasks names a chain by the last one \
that is no guess.";

const EXAMPLES: &[Example] = &[
    Example { line: "::coroutines", shows: "every coroutine that was not destroyed" },
    Example { line: "::coroutines -u", shows: "how many wait in the same line" },
    Example { line: "::coroutines -l -s suspended | ::stack", shows: "who awaits whom" },
];

impl Dcmd for ListCoroutines {
    fn spec(&self) -> Spec {
        Spec::new("coroutines", Group::Runtimes, "list the coroutines of C++20")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let filter = CoroutineFilter::new(args)?;
        let core = cx.core().clone();
        let found = subject::found(&core)?;
        let all = found.known(core.as_ref());
        if all.is_empty() {
            return Err(DcmdError::failed(NONE));
        }
        let shown = all.iter().filter(|one| filter.admits(one));
        match args.has('u') {
            true => groups(shown).iter().try_for_each(|group| cx.emit(group))?,
            false => {
                for one in shown {
                    cx.check_interrupt()?;
                    cx.emit(&CoroutineRecord(one))?;
                }
            }
        }
        note(cx, found, args.has('u'))
    }
}

const NONE: &str = "no frames of C++20 coroutines in the memory that is at hand";

/// Coroutines that are alike, most common first.
fn groups<'c>(all: impl Iterator<Item = &'c Coroutine>) -> Vec<CoroutineGroup<'c>> {
    let mut groups: Vec<CoroutineGroup<'_>> = Vec::new();
    let mut places = HashMap::new();
    for one in all {
        let place = *places.entry(likeness(one)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.count = group.count.saturating_add(1),
            None => groups.push(CoroutineGroup { count: 1, first: one }),
        }
    }
    groups.sort_by_key(|group| Reverse(group.count));
    groups
}

/// Says what cannot be told of any of them, and what of them may be wrong, unless rows say it.
fn note(cx: &mut Cx<'_>, found: &Coroutines, is_grouped: bool) -> Result<()> {
    let undecoded = &found.identity().undecoded;
    undecoded.iter().try_for_each(|it| cx.note(&format!("unknown: {}", it.why)))?;
    let core = cx.core().clone();
    let all = found.known(core.as_ref()).iter();
    let all = all.filter(|one| is_grouped || one.doubt_of_state().is_none());
    let mut doubts: Vec<&str> = all.filter_map(|one| one.doubt).collect();
    doubts.sort_unstable();
    doubts.dedup();
    doubts.iter().try_for_each(|doubt| cx.note(&format!("of some coroutines: {doubt}")))?;
    match core.heaps().found().is_empty() {
        true => cx.note("no allocator is known here: some of these frames may have been freed"),
        false => Ok(()),
    }
}
