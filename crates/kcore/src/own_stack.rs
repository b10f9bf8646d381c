//! How far the stack of one thread may reach over those of others.
//!
//! Stacks of threads that live at the same time do not overlap. Those in a file may: any number of threads
//! may stand on one long stack, a few bytes apart, or be led into it, and all of its frames would be each thread's.

use kcore_mem::Addr;
use kcore_unwind::{End, Frame};

use crate::{
    Core, TaskId, Tid,
    stack_owners::{LongStack, Owner, StackOwners},
};

/// Frames of a stack before anybody looks where other threads stand: most have fewer.
const SHORT: usize = 64;
/// Frames of a stack on which other threads may stand. One may lie across many stacks, where code
/// switched from one stack to another; in a snapshot of threads that run, one stack may stand for two
/// threads.
const MAX_SHARED: usize = 64;
/// Frames between two looks at the clock.
const EVERY: usize = 1024;

/// The stack of a thread or of a task while it is walked.
pub struct OwnStack<'a> {
    core: &'a Core,
    owners: &'a StackOwners,
    owner: Owner,
    /// Where the thread stands.
    place: Option<(Addr, Tid)>,
    /// Frames on which other threads stand.
    shared: usize,
    /// What lies beyond its first frames.
    long: Option<LongStack<'a>>,
}

impl<'a> OwnStack<'a> {
    /// The stack of a thread that stands at `sp`.
    pub fn of_thread(core: &'a Core, owners: &'a StackOwners, tid: Tid, sp: Option<Addr>) -> Self {
        let (owner, place) = (Owner::Thread(tid), sp.map(|sp| (sp, tid)));
        Self { core, owners, owner, place, shared: 0, long: None }
    }

    /// The stack of a task that does not run.
    pub const fn of_task(core: &'a Core, owners: &'a StackOwners, task: TaskId) -> Self {
        let owner = Owner::Task(task);
        Self { core, owners, owner, place: None, shared: 0, long: None }
    }

    /// Why the walk is not to go on behind the last of `frames`; `None` if it is. To be asked after
    /// each frame.
    pub fn end_at(&mut self, frames: &[Frame]) -> Option<End> {
        let last = frames.last()?;
        if frames.len().is_multiple_of(EVERY) && self.core.budget().halt().is_some() {
            return Some(End::Halted(last.pc.addr()));
        }
        let new = match frames.len() {
            ..SHORT => return None,
            SHORT => {
                self.shared = self.before_in_place();
                frames
            }
            _ => std::slice::from_ref(last),
        };
        for frame in new {
            self.shared = self.shared.saturating_add(usize::from(self.is_shared(frame)));
        }
        let cfa = last.cfa?;
        (self.shared > MAX_SHARED || !self.may_go_on(cfa)).then_some(End::Overlap(cfa))
    }

    /// Leaves to the stacks after it where this one lies.
    pub fn end(self, end: End) {
        if let Some(long) = self.long {
            long.end(matches!(end, End::Overlap(_)));
        }
    }

    /// Whether others have not had too much of what lies behind a frame.
    fn may_go_on(&mut self, cfa: Addr) -> bool {
        let (owners, owner, command) = (self.owners, self.owner, self.core.budget().command());
        self.long.get_or_insert_with(|| owners.begin(owner, command)).may_go_on(cfa)
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
