//! Asio's reactor with its lists of descriptors, timers and handlers, in memory that may hold anything.

use kcore_mem::Addr;
use kcore_runtimes::reactor::{AsioLayout, Operation, TimerLayout, read};

use crate::{input::Input, memory::Memory};

/// A layout as of Asio 1.22 with libstdc++.
pub const LAYOUT: AsioLayout = AsioLayout {
    scheduler: 40,
    descriptors: 200,
    queues: 136,
    descriptor_next: 24,
    descriptor_reactor: 88,
    descriptor_fd: 96,
    descriptor_queues: 104,
    queue_size: 16,
    operation_next: 0,
    operation_function: 8,
    posted: Some(152),
    timers: Some(TimerLayout {
        next: 8,
        heap: (24, 32),
        entry_size: 16,
        time: 0,
        timer: 8,
        operations: 0,
    }),
};

/// The address of a reactor, bytes of an entry of a queue of timers, and memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let reactor = Addr::new(input.word());
    let entry_size = u64::from(input.byte());
    let timers = LAYOUT.timers.map(|timers| TimerLayout { entry_size, ..timers });
    let memory = Memory::read(&mut input);
    let layout = AsioLayout { timers, ..LAYOUT };
    let mut operation =
        |function: Addr| Operation { promise: Some(function.get() & 0xff), ..Operation::default() };
    let is_monotonic = |queue: Addr| queue.get().is_multiple_of(16);
    for wait in read(&memory, reactor, &layout, &is_monotonic, &mut operation) {
        assert!(!wait.to_string().is_empty(), "what waits is told");
    }
}
