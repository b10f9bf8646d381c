//! Greenlets of Python, and the frames that they left, in memory that may hold anything.

use kcore_mem::{Addr, CodeAddr};
use kcore_runtimes::{NativeStack, Runtime, Task, TaskStart, python::greenlet::Greenlets};
use kcore_unwind::{End, Frame, Trust};

use crate::{input::Input, memory::Memory, python_host::PythonHost};

/// Greenlets that are looked at.
pub const OBJECTS: usize = 4;
/// Native frames of one, which lie so far from each other.
const NATIVE: u64 = 16;
const STEP: u64 = 64;

/// The address of a class and of some of its objects, and a host as [`PythonHost::read`] takes it with its memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let class = Addr::new(input.word());
    let objects: [Addr; OBJECTS] = std::array::from_fn(|_| Addr::new(input.word()));
    let head = PythonHost::read(&mut input);
    let host = PythonHost::new(head, Memory::read(&mut input));
    let Some(greenlets) = Greenlets::of_objects(&host, class, &objects) else { return };
    for greenlet in &greenlets.known(&host).all {
        let _ = (greenlets.frames(&host, greenlet), greenlets.function(&host, greenlet));
        let _ = greenlets.class_name(&host, greenlet.class);
    }
    greenlets.tasks(&host).iter().for_each(|task| decode(&greenlets, &host, task));
}

fn decode(greenlets: &Greenlets, host: &PythonHost, task: &Task) {
    let TaskStart::Moved { sp, .. } = &task.start else { return };
    let frame = |index: u64| {
        let sp = sp.checked_add(index * STEP);
        Frame {
            pc: CodeAddr::Return(Addr::new(0x40_1000)),
            sp,
            cfa: sp.and_then(|sp| sp.checked_add(STEP)),
            frame_pointer: None,
            trust: Trust::Cfi,
            guess: false,
            signal_trampoline: false,
            on_other_stack: false,
            calls_elsewhere: false,
        }
    };
    let frames: Vec<Frame> = (0..NATIVE).map(frame).collect();
    let (task, end) = (Some(task), End::Outermost);
    let native = NativeStack { thread: None, task, frames: &frames, end };
    for span in greenlets.decode(host, &native) {
        assert!(span.frames.end <= frames.len(), "spans lie among the frames");
    }
}
