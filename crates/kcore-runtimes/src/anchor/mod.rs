//! Ways out of code that runtimes made, for runtimes of which nothing is decoded: where an anchor knows a frame, the
//! native frames beyond it are found without a guess.
//!
//! An anchor reads memory and the names that modules export, and says nothing where what it reads does not hold
//! together. It is one module here and one line in [`ANCHORS`].

mod beam;
mod go;
mod greenlet;
mod hotspot;
#[cfg(test)]
pub(crate) mod made_host;

use kcore_unwind::{Phase, Regs, RuleFrame, RuleStep};

use crate::Host;

/// Knows the way out of code of one runtime.
pub trait Anchor: Send + Sync {
    /// The step out of a frame; `None` when the frame is not of its code, or what it reads does not hold together.
    /// Asked for every frame, in each phase: a quick look at the pc comes first. `caller` becomes the registers of the
    /// caller, as far as they are known.
    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep>;
}

/// Looks for a runtime, and must find out that it is absent by a few words of each module.
pub type FindAnchor = fn(&dyn Host) -> Option<Box<dyn Anchor>>;

/// The anchors that kcore knows.
pub const ANCHORS: &[FindAnchor] = &[hotspot::find, go::find, beam::find, greenlet::find];

/// The anchors of one process.
#[derive(Default)]
pub struct Anchors(Vec<Box<dyn Anchor>>);

impl Anchors {
    /// Looks for all of them.
    pub fn find(anchors: &[FindAnchor], host: &dyn Host) -> Self {
        Self(anchors.iter().filter_map(|find| find(host)).collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The step out of a frame, from the first that knows it.
    pub fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        self.0.iter().find_map(|anchor| anchor.step(host, phase, frame, caller))
    }
}
