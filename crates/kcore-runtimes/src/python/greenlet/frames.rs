//! The frames of Python of a greenlet that was left.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    super::{
        Chain, ThreadState,
        decode::{Decoder, language},
        frame::Head,
        heap::STR,
        layout::Frames,
    },
    Greenlet, GreenletState, Greenlets,
};
use crate::{Host, LanguageFrame, MovedHost, NativeStack, Span};

/// `f_frame` of a `PyFrameObject`, since CPython 3.11.
const F_FRAME: u64 = 24;
/// `im_func` of a `PyMethodObject`.
const IM_FUNC: u64 = 16;

impl Greenlets {
    /// What runs in the native frames of a greenlet.
    pub(super) fn spans(
        &self,
        host: &dyn Host,
        greenlet: &Greenlet,
        stack: &NativeStack<'_>,
    ) -> Vec<Span> {
        let Some(moved) = greenlet.left.moved() else { return Vec::new() };
        let host = MovedHost::new(host, moved);
        let chain = self.chain(&host, greenlet);
        Decoder { python: &self.python, host: &host }.spans_of(stack, &[chain])
    }

    /// The frames of Python of a greenlet that began, innermost first; none of others, nor where the thread that runs one
    /// is not known.
    pub fn frames(&self, host: &dyn Host, greenlet: &Greenlet) -> Vec<LanguageFrame> {
        let chain = match greenlet.state {
            GreenletState::Created => None,
            GreenletState::Running => self.running_chain(host, greenlet),
            GreenletState::Suspended => greenlet
                .left
                .moved()
                .map(|moved| self.chain(&MovedHost::new(host, moved), greenlet)),
        };
        let groups = chain.iter().flat_map(|chain| &chain.groups);
        groups.flat_map(|group| &group.frames).map(language).collect()
    }

    /// Why a running one has no frames, if it has none.
    pub fn why_without_frames(&self, host: &dyn Host, greenlet: &Greenlet) -> Option<&'static str> {
        let is_running = greenlet.state == GreenletState::Running;
        let chain = is_running.then(|| self.running_chain(host, greenlet))?;
        match (greenlet.thread, chain) {
            (None, _) => Some("the thread that runs it is not known"),
            (_, None) => Some("its thread has no state of CPython"),
            (_, Some(chain)) if chain.groups.iter().all(|group| group.frames.is_empty()) => {
                Some(chain.broken.unwrap_or("its thread executes no Python"))
            }
            _ => None,
        }
    }

    /// What the thread of a running one executes: greenlet begins a chain of its own for each.
    fn running_chain(&self, host: &dyn Host, greenlet: &Greenlet) -> Option<Chain> {
        let states = &self.python.state(host).threads;
        let thread = greenlet.thread?;
        let own = states.iter().find(|state| state.tid == Some(thread))?;
        Some(self.python.chain(&self.python.heap(host), own))
    }

    /// The function that a greenlet which did not begin was made for, if it is one of Python or a method of an object.
    pub fn function(&self, host: &dyn Host, greenlet: &Greenlet) -> Option<Arc<str>> {
        let heap = self.python.heap(host);
        let fields = self.layout.fields(&heap, greenlet.at)?;
        let run = heap
            .field(fields, self.layout.run.filter(|_| greenlet.state == GreenletState::Created)?)?;
        let class = self.python.class_name(host, run.class)?;
        let function = match &*class {
            "function" => run,
            "method" => heap.field(run.at, IM_FUNC)?,
            _ => return None,
        };
        let [_, name] = heap.layout.objects.function;
        heap.name(heap.field_of(function.at, name, STR)?).map(Arc::from)
    }

    fn chain(&self, host: &dyn Host, greenlet: &Greenlet) -> Chain {
        let heap = self.python.heap(host);
        let left = &greenlet.left;
        let inner = || left.top_frame.and_then(|frame| heap.pointer(frame, F_FRAME));
        let head = match (heap.layout.frames, left.cframe) {
            (Frames::Objects, _) => Head::Frame(left.top_frame),
            (Frames::Entries, Some(cframe)) => Head::Evaluation(cframe),
            _ => Head::Frame(inner()),
        };
        let thread = self.thread_state(host, greenlet);
        self.python.left_chain(&heap, &thread, head, left.cframe, left.limit)
    }

    /// The state of its thread, by which its chain may end. Any other does where the thread is not known: then there is
    /// none.
    fn thread_state(&self, host: &dyn Host, greenlet: &Greenlet) -> ThreadState {
        let states = &self.python.state(host).threads;
        let own = states.iter().find(|state| state.tid.is_some() && state.tid == greenlet.thread);
        own.or(states.first()).cloned().unwrap_or(ThreadState {
            at: Addr::new(0),
            interpreter: 0,
            ident: 0,
            tid: None,
            holds_gil: false,
            may_collect: false,
        })
    }
}
