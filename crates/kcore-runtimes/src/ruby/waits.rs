//! What threads wait for: the innermost method of MRI's own, and the object whose method it is: `thread_sync.c`
//! (`rb_mutex_t`), `thread.c`, `io.c`.

use kcore_mem::Addr;

use super::{
    Ruby,
    frame::RubyFrame,
    heap::{DATA, FILE, Heap, Object},
    version::Version,
    vm::{RubyThread, ThreadState},
};
use crate::Host;

/// How the files of methods begin that MRI has in Ruby.
const INTERNAL: &str = "<internal:";
/// What a condition variable waits in: the innermost method is that of the mutex.
const CONDITION_WAIT: &str = "ConditionVariable#wait";

impl Ruby {
    /// What a thread waits for, in words; `None` of one that does not wait.
    pub(super) fn wait(&self, host: &dyn Host, thread: &RubyThread) -> Option<String> {
        let word = match thread.state {
            ThreadState::Stopped => "waits",
            ThreadState::StoppedForever => "waits forever",
            ThreadState::Runnable | ThreadState::Killed => return None,
        };
        let heap = self.heap(host);
        let context = heap.context(thread.context);
        let frames = context.map(|context| self.innermost(&heap, &context, 2)).unwrap_or_default();
        let (first, second) = (frames.first(), frames.get(1));
        let is_condition = |frame: &&RubyFrame| {
            frame.function.as_deref().is_some_and(|name| name.ends_with(CONDITION_WAIT))
        };
        let frame = second.filter(is_condition).or(first);
        let method = frame.filter(|frame| is_own(frame)).and_then(|frame| frame.function.clone());
        let (Some(frame), Some(method)) = (frame, method) else { return Some(word.to_owned()) };
        let of = heap.object(frame.receiver).and_then(|object| self.waited(host, &heap, object));
        Some(format!("{word} in {method}{}", of.unwrap_or_default()))
    }

    /// Whose method it is, if that is an object that threads wait for.
    fn waited(&self, host: &dyn Host, heap: &Heap<'_>, object: Object) -> Option<String> {
        let at = object.at.get();
        if object.kind() == FILE {
            let descriptor = heap.file(object).map(|(descriptor, _)| descriptor);
            let descriptor = descriptor.map(|it| format!(", file descriptor {it}"));
            return Some(format!(" of {at:x}{}", descriptor.unwrap_or_default()));
        }
        (object.kind() == DATA).then_some(())?;
        let class = heap.real_class(heap.class_of(object)?)?;
        let threads = &self.threads(host).all;
        let tid_of = |at: Addr| threads.iter().find(|thread| thread.at == at)?.tid;
        let data = heap.data(object);
        if heap.class_name(class)?.ends_with("Mutex") {
            let holder = data.and_then(|mutex| heap.mutex_holder(mutex)).and_then(tid_of);
            let holder = holder.map(|tid| format!(", held by thread {tid}"));
            return Some(format!(" of {at:x}{}", holder.unwrap_or_default()));
        }
        match data.and_then(tid_of) {
            Some(tid) => Some(format!(" of thread {tid}")),
            None => Some(format!(" of {at:x}")),
        }
    }
}

impl Heap<'_> {
    /// The thread that holds a mutex: the first word is it, or since 3.0 its fiber.
    fn mutex_holder(&self, mutex: Addr) -> Option<Addr> {
        let owner = self.pointer(mutex, 0)?;
        match self.layout.version >= Version::new(3, 0) {
            true => self.thread_of_fiber(owner),
            false => Some(owner),
        }
    }
}

/// Whether a frame is of a method of MRI's own.
fn is_own(frame: &RubyFrame) -> bool {
    frame.code.as_ref().is_none_or(|code| code.file.starts_with(INTERNAL))
}
