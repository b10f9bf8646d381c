//! What a collection tells, in the words and the form that stacks of any core have.

use std::{fmt::Write as _, fs, io, time::Duration};

use kcore::{Core, NamedFrame, StackGroup, Tid};
use kcore_dcmd::{
    Sink,
    stack::{MAX_GROUP_FRAMES, put_group, sort_groups},
};
use kcore_render::{JsonSink, Numbers, TextOptions, TextSink};

use crate::{
    Missing,
    collector::{Collection, Collector},
    error::AgentError,
    slots::FRAMES,
};

/// The unique stacks of a process, most common first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stacks {
    /// The threads that have the same stack, and that stack.
    pub groups: Vec<Group>,
    /// Threads that did not answer, and why.
    pub missing: Vec<(u32, Missing)>,
    /// What it cost.
    pub costs: Costs,
    /// All of it as text for people, as the signal writes it.
    pub text: String,
    /// The groups as JSON Lines: what `::stacks` gives of a core.
    pub json: String,
}

/// Threads that have the same stack and wait in the same system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Ids of the threads.
    pub tids: Vec<u32>,
    /// The system call that they wait in.
    pub waits_in: Option<String>,
    /// The frames of all languages, innermost first.
    pub frames: Vec<GroupFrame>,
    /// Why there are no more frames.
    pub end: String,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFrame {
    /// The address at which it runs, or to which it will return.
    pub pc: kcore::Addr,
    /// The function, demangled, if it is known.
    pub function: Option<String>,
    /// The module whose code it is.
    pub module: Option<String>,
    /// The source file, if it is known.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// Whether the call was inlined into the next frame.
    pub inline: bool,
    /// How it was found: the word of `::stack -v`.
    pub trust: &'static str,
}

/// What a collection cost the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// Threads that answered.
    pub threads: usize,
    /// Threads that had ended before they were to answer.
    pub ended: usize,
    /// What was spent on copies of unwind tables before the first thread was asked.
    pub prepared: Duration,
    /// From the first question to the last answer.
    pub collected: Duration,
    /// From question to answer, of a thread: the median and the longest.
    pub answer: (Duration, Duration),
    /// How long a thread ran its handler: the median and the longest.
    pub handler: (Duration, Duration),
    /// What naming took, while all threads ran.
    pub named: Duration,
}

impl Costs {
    fn of(collection: &Collection) -> Self {
        Self {
            threads: collection.threads.len(),
            ended: collection.ended,
            prepared: collection.prepared,
            collected: collection.took,
            answer: spread(collection.times.iter().map(|(answer, _)| *answer).collect()),
            handler: spread(collection.times.iter().map(|(_, handler)| *handler).collect()),
            named: Duration::ZERO,
        }
    }
}

/// The median and the longest.
fn spread(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    (middle, times.last().copied().unwrap_or_default())
}

/// Names and groups what came.
///
/// # Errors
/// When the system does not tell of the process.
pub fn of(collector: &Collector, mut collection: Collection) -> Result<Stacks, AgentError> {
    let begun = std::time::Instant::now();
    let mut costs = Costs::of(&collection);
    let missing = std::mem::take(&mut collection.missing);
    let core = collector.core(collection.threads)?;
    let tids: Vec<Tid> = core.tids();
    let groups = core.stacks().groups(&tids, &[], FRAMES);
    let groups: Vec<Group> = groups.iter().map(|group| group_of(&core, group)).collect();
    let (body, json) = rendered(&core);
    costs.named = begun.elapsed();
    let missing: Vec<(u32, Missing)> =
        missing.iter().map(|(tid, why)| (tid.unsigned_abs(), *why)).collect();
    let text = head(groups.len(), &costs, &missing) + &body;
    Ok(Stacks { groups, missing, costs, text, json })
}

fn group_of(core: &Core, group: &StackGroup) -> Group {
    Group {
        tids: group.tids.iter().map(|tid| tid.get()).collect(),
        waits_in: group.waits_in.clone(),
        frames: core
            .stacks()
            .named_frames(&group.stack)
            .filter_map(|frame| frame_of(&frame))
            .collect(),
        end: group.stack.end.to_string(),
    }
}

fn frame_of(frame: &NamedFrame) -> Option<GroupFrame> {
    let location = &frame.location;
    Some(GroupFrame {
        pc: frame.pc()?.addr(),
        function: location.function.as_deref().map(str::to_owned),
        module: location.module.as_deref().map(str::to_owned),
        file: location.file.as_deref().map(str::to_owned),
        line: location.line,
        inline: location.inline,
        trust: frame.trust().as_str(),
    })
}

/// What `::stacks -L` says of a core, as text and as JSON Lines.
fn rendered(core: &Core) -> (String, String) {
    core.budget().begin();
    let mut groups = core.stacks().groups(&core.tids(), &[], MAX_GROUP_FRAMES);
    sort_groups(core, &mut groups);
    let numbers = Numbers { radix: 16, word_size: core.target().word_size() };
    let options = TextOptions { styled: false, live: false, numbers };
    let (mut text, mut json) = (Vec::new(), Vec::new());
    put(&mut TextSink::new(&mut text, io::sink(), options), core, &groups);
    put(&mut JsonSink::new(&mut json, io::sink(), false), core, &groups);
    let owned = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (owned(text), owned(json))
}

/// Puts groups into a sink that writes to memory, which takes all of them.
fn put(sink: &mut dyn Sink, core: &Core, groups: &[StackGroup]) {
    for group in groups {
        let _ = put_group(sink, core, group);
    }
    for cut in core.budget().take_cuts() {
        let _ = sink.note(&cut.to_string());
    }
    let _ = sink.finish();
}

/// What stands before the stacks: how many there are, what they cost, and who is missing.
fn head(groups: usize, costs: &Costs, missing: &[(u32, Missing)]) -> String {
    let mut text = format!(
        "kcore-agent: process {}: {} of {}\n",
        std::process::id(),
        counted(groups, "unique stack"),
        counted(costs.threads, "thread"),
    );
    let _ = writeln!(
        text,
        "kcore-agent: prepared in {:.1?}, collected in {:.1?}, named in {:.1?}; of a thread, from signal to \
         answer {:.1?} (longest {:.1?}), in its handler {:.1?} (longest {:.1?})",
        costs.prepared,
        costs.collected,
        costs.named,
        costs.answer.0,
        costs.answer.1,
        costs.handler.0,
        costs.handler.1,
    );
    if costs.ended > 0 {
        let _ = writeln!(text, "kcore-agent: {} ended meanwhile", counted(costs.ended, "thread"));
    }
    for (tid, why) in missing {
        let _ = writeln!(text, "kcore-agent: thread {} {why}", with_name(*tid));
    }
    text
}

/// How many of something there are, in words.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The name of a thread, which need not be text; empty when it has ended.
pub fn name_of(tid: u32) -> String {
    let name = fs::read(format!("/proc/self/task/{tid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).into_owned()
}

/// A thread by its id, and its name if it has one.
pub fn with_name(tid: u32) -> String {
    let name = name_of(tid);
    match name.trim_end() {
        "" => tid.to_string(),
        name => format!("{tid} ({})", name.escape_debug()),
    }
}
