//! Which coroutines threads run: those whose part that goes on has a native frame.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Frame, Tid};
use rustc_hash::FxHashMap;

use super::{frame::CoroutineFrame, functions::CoroutineFunction};
use crate::Host;

/// Bytes of a native frame that are looked at.
const MAX_FRAME: u64 = 1 << 16;
/// Where a function saves registers of its caller.
const SAVED: u64 = 8 * 8;
/// Native frames of a thread that are looked at.
const MAX_FRAMES: usize = 512;

/// What threads run.
#[derive(Default)]
pub struct Running {
    /// The thread of each coroutine that is known to run.
    pub threads: FxHashMap<Addr, Tid>,
    /// Indices of functions that a thread runs, where nothing tells for which frame.
    pub unknown: Vec<usize>,
}

impl Running {
    /// Looks through the stacks of all threads. Functions are in the order of their addresses.
    pub fn of(host: &dyn Host, functions: &[CoroutineFunction], frames: &[CoroutineFrame]) -> Self {
        let mut running = Self::default();
        if frames.is_empty() {
            return running;
        }
        let code = Code::of(functions);
        for tid in host.threads() {
            let native = host.frames(tid);
            for (index, frame) in native.iter().take(MAX_FRAMES).enumerate() {
                let Some(function) = code.function_at(frame.pc.lookup()) else { continue };
                let callee = index.checked_sub(1).and_then(|callee| native.get(callee));
                match run_by(host, frame, callee, function, frames) {
                    Some(at) => {
                        running.threads.insert(at, tid);
                    }
                    None => running.unknown.push(function),
                }
            }
        }
        running
    }
}

/// The code of the parts that go on, in the order of addresses, with the indices of their functions.
struct Code(Vec<(AddrRange, usize)>);

impl Code {
    fn of(functions: &[CoroutineFunction]) -> Self {
        let parts = functions.iter().enumerate().flat_map(|(index, function)| {
            let parts = std::iter::once(function.resume).chain(function.cold);
            parts.map(move |part| (part, index))
        });
        let mut code: Vec<_> = parts.collect();
        code.sort_unstable_by_key(|(range, _)| range.start);
        Self(code)
    }

    fn function_at(&self, at: Addr) -> Option<usize> {
        let below = self.0.partition_point(|(range, _)| range.start <= at).checked_sub(1)?;
        self.0.get(below).filter(|(range, _)| range.contains(at)).map(|(_, index)| *index)
    }
}

/// The one frame of a coroutine whose address the native frame of its function has. Code that never returns may have lost it.
fn run_by(
    host: &dyn Host,
    frame: &Frame,
    callee: Option<&Frame>,
    function: usize,
    frames: &[CoroutineFrame],
) -> Option<Addr> {
    let own = frame.sp.zip(frame.cfa).filter(|(sp, cfa)| sp < cfa);
    let own = own.and_then(|(sp, cfa)| only(host, AddrRange::new(sp, cfa), function, frames));
    own.or_else(|| {
        let end = callee?.cfa?;
        let start = Addr::new(end.get().checked_sub(SAVED)?);
        only(host, AddrRange::new(start, end), function, frames)
    })
    .or_else(|| single(function, frames))
}

/// The frame of a function that has but one.
fn single(function: usize, frames: &[CoroutineFrame]) -> Option<Addr> {
    let mut all = frames.iter().filter(|it| it.function == function && !it.is_done);
    let first = all.next()?;
    all.next().is_none().then_some(first.at)
}

fn only(
    host: &dyn Host,
    part: AddrRange,
    function: usize,
    frames: &[CoroutineFrame],
) -> Option<Addr> {
    let bytes = host.space().read_held(part.start, part.len().min(MAX_FRAME));
    let words = bytes.as_chunks::<8>().0.iter().map(|word| Addr::new(u64::from_le_bytes(*word)));
    let is_one = |word: &Addr| {
        let found = frames.binary_search_by_key(word, |frame| frame.at).ok();
        found.and_then(|index| frames.get(index)).is_some_and(|it| it.function == function)
    };
    let mut found = words.filter(is_one);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}
