//! What of a core's memory stacks need: commands that show them run once, and what they read is noted.

use std::io;

use kcore::{AddrRange, Core};
use kcore_render::{Format, JsonForm, JsonSink, Numbers, RedirectSink, TextOptions, TextSink};
use kcore_shell::Session;

use crate::run::{each, session};

/// What is asked of every core.
const THREADS: &str = "::status; ::threads; ::objects; ::runtimes; ::walk thread | ::stack";
/// What is asked of tasks of runtimes: to find them may take all of the memory.
const TASKS: &str = "::stacks; ::tasks; ::tasks | ::stack";
/// Bytes that tasks may need.
const MOST_FOR_TASKS: u64 = 1 << 30;

/// What stacks need.
pub(super) struct StackMemory {
    /// The addresses, in any order.
    pub(super) ranges: Vec<AddrRange>,
    /// Whether tasks of runtimes would need too much more.
    pub(super) lacks_tasks: bool,
}

impl StackMemory {
    /// Finds what the stacks of a core need, and what these commands read; `None` where there is no core file.
    pub(super) fn of(core: &Core, commands: &[String]) -> Option<Self> {
        let (noting, reads) = core.bundle().noting_reads()?;
        let stacks = noting.bundle().memory_of_stacks();
        let mut session = session(noting, Format::Json(JsonForm::Full));
        run(&mut session, &[THREADS.to_owned()]);
        run_told(&mut session, commands);
        let threads = reads.ranges();
        run(&mut session, &[TASKS.to_owned()]);
        let all = reads.ranges();
        let lacks_tasks = bytes(&all).saturating_sub(bytes(&threads)) > MOST_FOR_TASKS;
        let ranges = if lacks_tasks { threads } else { all };
        Some(Self { ranges: [stacks, ranges].concat(), lacks_tasks })
    }
}

fn bytes(ranges: &[AddrRange]) -> u64 {
    ranges.iter().map(AddrRange::len).fold(0, u64::saturating_add)
}

/// Runs commands for what they read.
fn run(session: &mut Session, commands: &[String]) {
    let _ = each(session, commands, &mut nowhere());
}

/// Runs commands that the user gave: their failures are shown, what else they print is not.
fn run_told(session: &mut Session, commands: &[String]) {
    let numbers = Numbers { radix: 16, word_size: 8 };
    let options = TextOptions { styled: false, live: false, numbers };
    let mut failures = TextSink::new(io::sink(), io::stderr(), options);
    let mut sink = RedirectSink::new(Box::new(nowhere()), &mut failures);
    let _ = each(session, commands, &mut sink);
}

/// JSON has more than text, such as the arguments of functions: more is read for it.
fn nowhere() -> JsonSink<io::Sink, io::Sink> {
    JsonSink::new(io::sink(), io::sink(), false)
}
