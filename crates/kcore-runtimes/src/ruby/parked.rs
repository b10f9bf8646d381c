//! Threads of Ruby that no native thread runs: since 3.3 those of ractors share native threads (`thread_pthread_mn.c`).

use std::sync::Arc;

use super::{
    Ruby,
    decode::language,
    probe::NAME,
    vm::{RubyThread, ThreadState},
};
use crate::{Host, Task, TaskStart};

/// What stands before the method that a thread waits in.
const WAITS: [&str; 2] = ["waits in ", "waits forever in "];

impl Ruby {
    /// Such threads as tasks, with their frames of Ruby alone.
    pub(super) fn thread_tasks(&self, host: &dyn Host) -> Vec<Task> {
        let threads = self.threads(host).all.iter();
        let parked = threads.filter(|it| it.is_parked && it.state != ThreadState::Killed);
        parked.map(|thread| self.thread_task(host, thread)).collect()
    }

    fn thread_task(&self, host: &dyn Host, thread: &RubyThread) -> Task {
        let heap = self.heap(host);
        let waits = self.wait(host, thread);
        let method =
            |text: &String| WAITS.iter().find_map(|it| text.strip_prefix(it)).map(Arc::from);
        let waits_on = match thread.waits_for_gvl {
            true => Some("the GVL".into()),
            false => waits.as_ref().and_then(method),
        };
        let chain = heap.context(thread.context).map(|context| self.chain(&heap, &context));
        let frames = chain.filter(|chain| chain.broken.is_none());
        let start = match frames {
            Some(chain) => TaskStart::Language(chain.frames().map(language).collect()),
            None => TaskStart::Unknown("its frames are damaged, or were not dumped".into()),
        };
        Task {
            runtime: NAME,
            id: thread.at.get(),
            name: thread.name.clone(),
            state: "suspended".into(),
            waits_on,
            until: None,
            entry: None,
            thread: None,
            stack: None,
            start,
        }
    }
}
