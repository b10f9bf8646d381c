//! A managed heap in the format of its own tools.

use std::io::Write;

use kcore_runtimes::{
    FrameKind, LanguageFrame,
    java::{DumpedStack, HeapDump, HeapDumpError, Java},
    objects::Watch,
};
use kcore_unwind::Tid;

use crate::{Core, Location, MAX_FRAMES};

impl Core {
    /// Writes the heap of a virtual machine of Java as HPROF, with the stacks of its threads.
    ///
    /// # Errors
    /// Where the heap cannot be walked, the dump cannot be written, or whoever watches stopped it.
    pub fn write_java_heap(
        &self,
        java: &Java,
        to: &mut dyn Write,
        watch: Watch<'_>,
    ) -> Result<HeapDump, HeapDumpError> {
        let threads = java.threads(self).all.iter().filter_map(|thread| thread.tid);
        let stacks: Vec<DumpedStack> = threads.map(|tid| self.java_stack(tid)).collect();
        java.write_hprof(self, &stacks, to, watch)
    }

    /// The frames of Java of a thread.
    fn java_stack(&self, thread: Tid) -> DumpedStack {
        let stack = self.stacks().of_thread(thread, MAX_FRAMES);
        let frames =
            self.stacks().named_frames(&stack).filter(|it| it.location.kind == FrameKind::Java);
        let frames = frames.map(|frame| {
            let end = frame.frame.and_then(|frame| frame.cfa);
            (language_frame(&frame.location), end)
        });
        DumpedStack { thread, frames: frames.collect() }
    }
}

fn language_frame(location: &Location) -> LanguageFrame {
    LanguageFrame {
        kind: location.kind,
        function: location.function.clone(),
        file: location.file.clone(),
        line: location.line,
        object: location.object,
        ..LanguageFrame::default()
    }
}
