//! How far the stack of one thread may reach over those of others.
//!
//! Stacks of threads that live at the same time do not overlap. Those in a file may: any number of threads
//! may stand on one long stack, a few bytes apart, and all of its frames would be each thread's.

use kcore_mem::Addr;
use kcore_unwind::{End, Frame};

use crate::{Core, Tid};

/// Frames of a stack before anybody looks where other threads stand: most have fewer.
const SHORT: usize = 64;
/// Frames of a stack on which other threads may stand. One may lie across many stacks, where code
/// switched from one stack to another; in a snapshot of threads that run, one stack may stand for two
/// threads.
const MAX_SHARED: usize = 64;

/// The stack of a thread while it is walked.
pub struct OwnStack<'a> {
    core: &'a Core,
    /// Where the thread stands.
    place: Option<(Addr, Tid)>,
    shared: usize,
}

impl<'a> OwnStack<'a> {
    /// The stack of a thread that stands at `sp`.
    pub fn new(core: &'a Core, tid: Tid, sp: Option<Addr>) -> Self {
        Self { core, place: sp.map(|sp| (sp, tid)), shared: 0 }
    }

    /// Why the walk is not to go on behind the last of `frames`; `None` if it is. To be asked after
    /// each frame.
    pub fn end_at(&mut self, frames: &[Frame]) -> Option<End> {
        let last = match frames.len() {
            ..SHORT => return None,
            SHORT => {
                self.shared = self.before_in_place();
                frames
            }
            _ => frames.last_chunk::<1>()?,
        };
        for frame in last {
            self.shared = self.shared.saturating_add(usize::from(self.is_shared(frame)));
        }
        let cfa = frames.last()?.cfa?;
        (self.shared > MAX_SHARED).then_some(End::Overlap(cfa))
    }

    /// Threads with lower numbers that stand at the very place.
    fn before_in_place(&self) -> usize {
        let Some(place) = self.place else { return 0 };
        let pointers = self.core.stack_pointers();
        let first = pointers.partition_point(|(sp, _)| *sp < place.0);
        pointers.partition_point(|pointer| *pointer < place).saturating_sub(first)
    }

    /// Whether another thread stands between the two ends of a frame.
    fn is_shared(&self, frame: &Frame) -> bool {
        let (Some(sp), Some(cfa), Some((own, _))) = (frame.sp, frame.cfa, self.place) else {
            return false;
        };
        let pointers = self.core.stack_pointers();
        let from = pointers.partition_point(|(at, _)| *at < sp || (*at == sp && sp == own));
        pointers.get(from).is_some_and(|(other, _)| *other < cfa)
    }
}
