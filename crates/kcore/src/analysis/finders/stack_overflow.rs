//! A stack that is full: of calls that go round in a circle, or of few large frames.

use kcore_mem::Addr;
use kcore_unwind::Frame;

use crate::analysis::{
    Confidence, Crash, EvidenceSource, Finder, FinderScope, Finding, crash::FrameBeyondStack,
};

/// Frames that are looked at.
const FRAMES: usize = 4096;
/// Bytes from which on a frame is large.
const LARGE: u64 = 4096;
/// The longest circle of calls that is recognized.
const LONGEST_CIRCLE: usize = 16;
/// Rounds after which a circle is one.
const ROUNDS: usize = 8;
/// Innermost frames that may lie above the circle.
const LEAF_FRAMES: usize = 8;
/// A fault that is further below the stack need not be the stack's.
const REACH: u64 = 64 << 10;

pub const FINDER: Finder = Finder {
    name: "stack-overflow",
    needs: "the stack pointer, the address of a memory fault, and all mappings",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let Some(fault) = crash.stack_overflow() else { return Ok(beyond_stack(crash)) };
    let sp = crash.sp().ok_or("the stack pointer is not known")?;
    if crash.core().has_lost_mappings() {
        return Err("the core's end is missing, and with it the list of mappings");
    }
    let frames = crash.core().stacks().of_thread(crash.tid(), FRAMES).frames;
    // Above the frame that stood there lies what a handler called.
    let stood = frames.iter().position(|frame| Some(frame.pc.addr()) == crash.pc()).unwrap_or(0);
    let circle = Circle::of(frames.get(stood..).unwrap_or_default());
    let large = bytes_below(crash, sp);
    let is_plain = circle.is_none() && large.is_none();
    if let Some(finding) = large_frame(crash).filter(|_| is_plain) {
        return Ok(Some(finding));
    }
    let sentence = match (&circle, large) {
        (Some(circle), _) => {
            format!("the stack is full of calls that repeat: {}", circle.names(crash))
        }
        (None, Some(_)) => format!("a frame is larger than its stack{}", crash.in_function()),
        (None, None) => format!("the stack is full{}", crash.in_function()),
    };
    let confidence = match is_below_own_stack(crash, (sp, fault), &frames) {
        true => Confidence::Certain,
        false => Confidence::Likely,
    };
    let finding = Finding::new(confidence, sentence);
    let text = format!("the fault at {fault} lies below the stack; the stack pointer is {sp}");
    let start = crash.core().stack_of(sp).map_or(sp, |stack| stack.start);
    let finding = finding.with(text, EvidenceSource::Mapping(start));
    let stack = EvidenceSource::Stack(crash.tid());
    Ok(Some(match (circle, large) {
        (Some(circle), _) => finding.with(circle.counted(), stack),
        (None, Some(bytes)) => {
            finding.with(format!("the stack pointer lies {bytes} bytes below the stack"), stack)
        }
        (None, None) => finding.then_ask("which frame is large", stack),
    }))
}

/// A frame that reaches beyond its stack, where what lies below the stack hides that.
fn beyond_stack(crash: &Crash<'_>) -> Option<Finding> {
    crash.frame_beyond_stack().map(|frame| told(crash, &frame))
}

/// The same of one that is so large that it alone explains the end.
fn large_frame(crash: &Crash<'_>) -> Option<Finding> {
    let frame = crash.frame_beyond_stack().filter(|frame| frame.size >= LARGE)?;
    Some(told(crash, &frame))
}

fn told(crash: &Crash<'_>, frame: &FrameBeyondStack) -> Finding {
    let FrameBeyondStack { fault, at, size, stack } = *frame;
    let function = crash.name_of(at).map_or_else(String::new, |name| format!(" of {name}"));
    let sentence =
        format!("the frame{function}, of {size} bytes, does not fit in what its stack has left");
    let text = format!(
        "the stack has {} bytes in all; the fault at {fault} lies in the frame, below the stack",
        stack.len()
    );
    let finding = Finding::certain(sentence).with(text, EvidenceSource::Mapping(stack.start));
    finding.with("the frame begins in the stack", EvidenceSource::Stack(crash.tid()))
}

/// How far the stack pointer lies below the memory of the stack, if that is further than frames are large.
fn bytes_below(crash: &Crash<'_>, sp: Addr) -> Option<u64> {
    let stack = crash.core().stack_of(sp)?;
    let below = stack.start.offset_from(sp)?;
    (below > REACH).then_some(below)
}

/// Whether stack pointer and fault lie just below the memory that the thread's frames are in.
fn is_below_own_stack(crash: &Crash<'_>, (sp, fault): (Addr, Addr), frames: &[Frame]) -> bool {
    let Some(stack) = crash.core().stack_of(sp) else { return false };
    let below = |at: Addr| stack.start.get().saturating_sub(at.get()) <= REACH;
    let certain = frames.iter().filter(|frame| !frame.guess);
    let mut cfas = certain.filter_map(|frame| frame.cfa);
    fault < stack.start && below(fault) && below(sp) && cfas.any(|cfa| stack.contains(cfa))
}

/// Calls that go round.
struct Circle<'a> {
    /// One round, innermost frame first, and the first frame of the next.
    round: &'a [Frame],
    /// How often it is on the stack, as far as frames were looked at.
    rounds: usize,
}

impl<'a> Circle<'a> {
    /// The innermost one.
    fn of(frames: &'a [Frame]) -> Option<Self> {
        (0..LEAF_FRAMES).find_map(|skip| {
            let rest = frames.get(skip..)?;
            (1..=LONGEST_CIRCLE).find_map(|length| {
                let rounds = rounds(rest, length);
                (rounds >= ROUNDS).then_some(Self { round: rest.get(..=length)?, rounds })
            })
        })
    }

    /// What was counted, in words.
    fn counted(&self) -> String {
        let bytes = self.bytes().map_or_else(String::new, |it| format!(" of {it} bytes each"));
        format!("the innermost frames repeat at least {} times{bytes}", self.rounds)
    }

    fn bytes(&self) -> Option<u64> {
        self.round.last()?.cfa?.offset_from(self.round.first()?.cfa?)
    }

    fn names(&self, crash: &Crash<'_>) -> String {
        let round = self.round.split_last().map_or(self.round, |(_, round)| round);
        let names = round.iter().map(|frame| match crash.core().symbols().at(frame.pc.lookup()) {
            Some(symbol) => symbol.name.to_string(),
            None => frame.pc.addr().to_string(),
        });
        names.collect::<Vec<_>>().join(", called by ")
    }
}

/// How often the first `length` frames stand one after the other.
fn rounds(frames: &[Frame], length: usize) -> usize {
    let rest = frames.get(length..).unwrap_or_default();
    let same = |(a, b): &(&Frame, &Frame)| a.pc == b.pc && !b.guess;
    let repeated = frames.iter().zip(rest).take_while(same).count();
    repeated.checked_div(length).unwrap_or_default().saturating_add(1)
}
