//! What one greenlet says of itself.

use kcore_mem::{Addr, Svma};
use kcore_unwind::Tid;

use super::{
    Greenlet, GreenletState, Greenlets, LeftGreenlet,
    layout::{COPY, OwnThread, SAVED},
    threads::ThreadEnds,
};
use crate::Host;

/// `stack_stop` of a main greenlet.
const ENDLESS: u64 = u64::MAX;
/// `_stack_start` of one that runs and was never left.
const NEVER_LEFT: u64 = 1;
/// Words of the module's variables of a thread: it has a pointer to its `ThreadState`, and flags.
const VARIABLES: u64 = 4;

impl Greenlets {
    fn thread_of(&self, host: &dyn Host, at: Addr) -> Option<Tid> {
        self.ends.get_or_init(|| ThreadEnds::of(host)).thread_of(host, at)
    }

    /// The thread whose `ThreadState` lies at an address: the module's own variables of the thread have it.
    fn thread_with(&self, host: &dyn Host, state: Addr) -> Option<Tid> {
        let module = host.module_at(self.class)?;
        let heap = self.python.heap(host);
        let has = |tid: &Tid| {
            let start = host.thread_local(*tid, module, Svma::new(0));
            start.is_some_and(|start| {
                let mut offsets = (0..VARIABLES).filter_map(|word| word.checked_mul(8));
                offsets.any(|offset| heap.pointer(start, offset) == Some(state))
            })
        };
        host.threads().into_iter().find(has)
    }

    /// The greenlet at an address, if neither it nor its thread has ended.
    pub(super) fn load(&self, host: &dyn Host, at: Addr) -> Option<Greenlet> {
        let heap = self.python.heap(host);
        let fields = self.layout.fields(&heap, at)?;
        let word = |offset: u64| heap.word(fields, offset);
        let of_stack = |offset: u64| word(self.layout.start.checked_add(offset)?);
        let (start, stop) = (of_stack(0)?, word(self.layout.stop())?);
        let top_frame = heap.pointer(fields, self.layout.top_frame);
        let state = match (stop, start, top_frame) {
            (0, ..) => GreenletState::Created,
            // It ended.
            (1.., 0, _) if stop != ENDLESS => return None,
            (_, _, None) => GreenletState::Running,
            _ => GreenletState::Suspended,
        };
        let is_main = stop == ENDLESS;
        let own = self.layout.thread(&heap, at);
        match (state, own) {
            (_, OwnThread::Ended) => return None,
            // What began has a thread: its stack was thrown away since.
            (GreenletState::Created, OwnThread::Runs(_)) => return None,
            _ => {}
        }
        let lies = match state {
            GreenletState::Created => None,
            GreenletState::Suspended => Some(start),
            GreenletState::Running if !is_main => Some(stop),
            // Where it was left the last time is still on the stack of its thread.
            GreenletState::Running => Some(start).filter(|start| *start > NEVER_LEFT),
        };
        let by_stack = lies.and_then(|at| self.thread_of(host, Addr::new(at)));
        let by_state = || match own {
            OwnThread::Runs(state) => self.thread_with(host, state),
            _ => None,
        };
        Some(Greenlet {
            at,
            class: heap.object(at)?.class,
            state,
            is_main,
            parent: self.layout.parent.filter(|_| !is_main).and_then(|it| heap.pointer(fields, it)),
            thread: by_stack.or_else(by_state),
            left: LeftGreenlet {
                sp: Addr::new(start),
                limit: Some(Addr::new(stop)).filter(|_| !is_main),
                copy: Addr::new(of_stack(COPY)?),
                saved: of_stack(SAVED)?,
                top_frame,
                cframe: self.layout.cframe.and_then(|cframe| heap.pointer(fields, cframe)),
            },
        })
    }
}
