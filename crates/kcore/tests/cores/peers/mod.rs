//! What gdb, eu-stack and framehop say of the same stacks, pc by pc.
//!
//! Only physical frames are compared: gdb's inlined and tail-call frames are left out. framehop is
//! asked about plain code alone: up to the first frame that unwind information does not carry. All
//! are asked about programs of this machine's architecture alone: this gdb knows no other.
//! Each difference is explained in [`table`], with who is right and why.

mod compare;
mod eu_stack;
mod framehop;
mod gdb;
mod node;
mod table;

use std::collections::BTreeMap;

use gen_cores::Case;
use kcore::{MAX_FRAMES, Stack, Tid, Trust};

use crate::known::{Known, assert_none, check_each, native_cases};
use compare::difference;
use table::EXPLAINED;

/// A frame as a peer shows it.
struct PeerFrame {
    pc: u64,
    name: Option<String>,
}

/// A peer's stacks by thread id.
type Stacks = BTreeMap<u32, Vec<PeerFrame>>;

/// Who is asked for another opinion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Peer {
    Gdb,
    EuStack,
    Framehop,
}

impl Peer {
    fn stacks(self, known: &Known) -> Stacks {
        match self {
            Peer::Gdb => gdb::stacks(known.case),
            Peer::EuStack => eu_stack::stacks(known.case),
            Peer::Framehop => framehop::stacks(&known.core),
        }
    }

    /// What differs in one core and is not explained.
    fn differences(self, known: &Known) -> Vec<String> {
        let stacks = self.stacks(known);
        let threads = known.core.threads().iter().map(|thread| thread.tid);
        threads.filter_map(|tid| self.unexplained(known, tid, &stacks)).collect()
    }

    fn unexplained(self, known: &Known, tid: Tid, stacks: &Stacks) -> Option<String> {
        let mut own = known.core.stacks().of_thread(tid, MAX_FRAMES);
        let compared = self.compared(&own);
        own.frames.truncate(compared);
        let theirs = stacks.get(&tid.get()).map(Vec::as_slice);
        let theirs = theirs.map(|frames| frames.get(..compared).unwrap_or(frames));
        let difference = difference(&known.core, &own, theirs)?;
        let explained = EXPLAINED.iter().any(|explained| {
            explained.peer == self
                && explained.what.contains(&difference.what)
                && explained.cases.take(known.case)
        });
        (!explained).then(|| format!("{self:?}: thread {tid}: {difference}"))
    }

    /// How many frames of a stack are compared.
    fn compared(self, own: &Stack) -> usize {
        match self {
            Peer::Gdb => MAX_FRAMES,
            Peer::EuStack => eu_stack::MAX_FRAMES,
            Peer::Framehop => plain(own),
        }
    }

    fn check(self, cases: Vec<&'static Case>) {
        check_each(cases.clone(), |known| self.differences(known));
        let own = EXPLAINED.iter().filter(|explained| explained.peer == self);
        let stale = own.filter_map(|explained| explained.stale(&cases));
        assert_none(&stale.collect::<Vec<_>>());
    }
}

/// How many frames, innermost first, are of plain code: each led to the next by unwind information.
fn plain(own: &Stack) -> usize {
    let is_plain = |at: usize| {
        let frame = own.frames.get(at);
        at == 0 || frame.is_some_and(|frame| frame.trust == Trust::Cfi && !frame.signal_trampoline)
    };
    (0..own.frames.len()).take_while(|at| is_plain(*at)).count()
}

/// Programs are slow to ask: every scenario in a few variants, one of them static, one dumped by
/// gcore, one with musl, as far as it has such.
fn selected() -> Vec<&'static Case> {
    const VARIANTS: &[&str] = &[
        "O0-pie",
        "O2-pie",
        "O2-pie-gcore",
        "O2-static",
        "O2-musl-static",
        "debug-pie",
        "release-pie",
        "release-pie-gcore",
    ];
    native_cases().filter(|case| VARIANTS.contains(&case.variant.as_str())).collect()
}

/// Stacks that are too deep for eu-stack, which needs time in proportion to the square of the
/// number of frames: a minute and more.
const TOO_DEEP: &[&str] =
    &["deep-recursion", "stack-overflow", "stack-overflow-handled", "stack-overflow-thread"];

#[test]
fn gdb_agrees_or_is_known_to_differ() {
    Peer::Gdb.check(selected());
}

#[test]
fn eu_stack_agrees_or_is_known_to_differ() {
    let shallow = |case: &&Case| !TOO_DEEP.contains(&case.scenario.as_str());
    Peer::EuStack.check(selected().into_iter().filter(shallow).collect());
}

#[test]
fn framehop_agrees_or_is_known_to_differ() {
    Peer::Framehop.check(native_cases().collect());
}
