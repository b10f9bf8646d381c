//! A stack that is full: of calls that go round in a circle, or of few large frames.

use kcore_unwind::Frame;

use crate::{
    analysis::{Crash, Finder, Finding, Subject},
    stack_fault::StackTrouble,
};

/// Frames that are looked at.
const FRAMES: usize = 4096;
/// The longest circle of calls that is recognized.
const LONGEST_CIRCLE: usize = 16;
/// Rounds after which a circle is one.
const ROUNDS: usize = 8;
/// Innermost frames that may lie above the circle.
const LEAF_FRAMES: usize = 8;

pub const FINDER: Finder = Finder {
    name: "stack-overflow",
    needs: "the stack pointer and the address of a memory fault",
    find,
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let Some(fault) = crash.fault() else { return Ok(None) };
    let sp = crash.sp().ok_or("the stack pointer is not known")?;
    if crash.core().stack_trouble(Some(sp), fault) != Some(StackTrouble::Overflow) {
        return Ok(None);
    }
    let frames = crash.core().stack(crash.tid(), FRAMES).frames;
    let sentence = match circle(&frames) {
        Some(circle) => format!("the stack is full of calls that repeat: {}", names(crash, circle)),
        None => format!("the stack is full{}", crash.in_function()),
    };
    let tid = crash.tid();
    let finding = Finding::certain(sentence).with(
        format!("the fault at {fault} lies below the stack; sp is {sp}"),
        Subject::Mapping(sp),
    );
    Ok(Some(match bytes_of_round(circle(&frames)) {
        Some(bytes) => finding.with(format!("each round takes {bytes} bytes"), Subject::Stack(tid)),
        None => finding.then_ask("which frame is large", Subject::Stack(tid)),
    }))
}

/// The innermost frames that repeat, one round, and the first frame of the next.
fn circle(frames: &[Frame]) -> Option<&[Frame]> {
    (0..LEAF_FRAMES).find_map(|skip| {
        let rest = frames.get(skip..)?;
        let length = (1..=LONGEST_CIRCLE).find(|length| repeats(rest, *length))?;
        rest.get(..=length)
    })
}

fn repeats(frames: &[Frame], length: usize) -> bool {
    let wanted = length.saturating_mul(ROUNDS);
    let rest = frames.get(length..).unwrap_or_default();
    let pairs = frames.iter().zip(rest).take(wanted);
    pairs.clone().count() == wanted && pairs.into_iter().all(|(a, b)| a.pc == b.pc && !b.guess)
}

fn bytes_of_round(circle: Option<&[Frame]>) -> Option<u64> {
    let circle = circle?;
    circle.last()?.cfa?.offset_from(circle.first()?.cfa?)
}

fn names(crash: &Crash<'_>, circle: &[Frame]) -> String {
    let round = circle.split_last().map_or(circle, |(_, round)| round);
    let names = round.iter().map(|frame| match crash.core().symbol_at(frame.pc.lookup()) {
        Some(symbol) => symbol.name.to_string(),
        None => frame.pc.addr().to_string(),
    });
    names.collect::<Vec<_>>().join(", called by ")
}
