//! Reactors of Asio: a descriptor that is read, a timer, a posted handler, and lists that are circles.

use kcore_fuzz::{input::Output, memory::Memory, reactor::LAYOUT};

/// Where objects lie, each at its own multiple of [`SIZE`].
const AT: u64 = 0x7f10_0000;
const SIZE: u64 = 256;
const FUNCTION: u64 = 0x40_0018;
/// Numbers of objects.
const REACTOR: u64 = 0;
const DESCRIPTOR: u64 = 1;
const OPERATION: u64 = 2;
const QUEUE: u64 = 3;
const HEAP: u64 = 4;
const TIMER: u64 = 5;
const SCHEDULER: u64 = 6;
const COUNT: u64 = 7;

/// All seeds of the target `reactor`.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let whole = objects();
    let mut circle = whole.clone();
    put(&mut circle, DESCRIPTOR, LAYOUT.descriptor_next, place(DESCRIPTOR));
    put(&mut circle, OPERATION, LAYOUT.operation_next, place(OPERATION));
    let cut = whole[..(OPERATION * SIZE) as usize].to_vec();
    vec![("whole", seed(&whole)), ("circle", seed(&circle)), ("cut", seed(&cut))]
}

fn place(object: u64) -> u64 {
    AT + object * SIZE
}

fn put(memory: &mut [u8], object: u64, offset: u64, word: u64) {
    let at = (object * SIZE + offset) as usize;
    memory[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

fn objects() -> Vec<u8> {
    let mut memory = vec![0; (COUNT * SIZE) as usize];
    let timers = LAYOUT.timers.expect("a layout of timers");
    let words = [
        (REACTOR, LAYOUT.scheduler, place(SCHEDULER)),
        (REACTOR, LAYOUT.descriptors, place(DESCRIPTOR)),
        (REACTOR, LAYOUT.queues, place(QUEUE)),
        (DESCRIPTOR, LAYOUT.descriptor_reactor, place(REACTOR)),
        (DESCRIPTOR, LAYOUT.descriptor_fd, 7),
        (DESCRIPTOR, LAYOUT.descriptor_queues, place(OPERATION)),
        (OPERATION, LAYOUT.operation_function, FUNCTION),
        (QUEUE, timers.heap.0, place(HEAP)),
        (QUEUE, timers.heap.1, place(HEAP) + timers.entry_size),
        (HEAP, timers.time, 1_500_000_000),
        (HEAP, timers.timer, place(TIMER)),
        (TIMER, timers.operations, place(OPERATION)),
        (SCHEDULER, LAYOUT.posted.unwrap_or_default(), place(OPERATION)),
    ];
    words.into_iter().for_each(|(object, offset, word)| put(&mut memory, object, offset, word));
    memory
}

fn seed(memory: &[u8]) -> Vec<u8> {
    Memory(vec![(AT, memory.to_vec())]).write(Output::default().word(AT).byte(16)).0
}
