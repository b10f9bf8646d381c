//! Tasks of trio in memory that may hold anything.

use kcore_mem::Addr;
use kcore_runtimes::{Runtime, python::trio::Trio};

use crate::{input::Input, memory::Memory, python_host::PythonHost};

/// Tasks that are looked at.
pub const TASKS: usize = 3;
/// Pieces in which the memory comes: one has 64 parts, and the names of a class's fields alone are more.
pub const PIECES: usize = 16;

/// The address of a run and of some of its tasks, and a host as [`PythonHost::read`] takes it with its memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let runner = Addr::new(input.word());
    let tasks: [Addr; TASKS] = std::array::from_fn(|_| Addr::new(input.word()));
    let head = PythonHost::read(&mut input);
    let parts = (0..PIECES).flat_map(|_| Memory::read(&mut input).0).collect();
    let host = PythonHost::new(head, Memory(parts));
    let Some(trio) = Trio::of_tasks(&host, runner, &tasks) else { return };
    for task in &trio.known(&host).all {
        let _ = task.wait.as_ref().map(|wait| wait.limited(task.limit));
        let _ = trio.frames(&host, task);
    }
    let all = trio.tasks(&host);
    assert!(all.len() <= TASKS, "no task was made up");
    all.iter().for_each(|task| drop(trio.task_frames(&host, task)));
}
