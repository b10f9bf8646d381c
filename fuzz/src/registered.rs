//! What a process registered of the code that it made: libgcc's objects and trees, and the files of GDB's interface.

use kcore_mem::Addr;
use kcore_runtimes::registered::{Registered, RegistryAddresses};

use crate::{input::Input, memory::Memory};

/// Places of a kind, at most.
const MAX_PLACES: u8 = 4;
/// Places in each part of memory that are asked about, and bytes between them.
const ASKED: u64 = 64;
const STEP: u64 = 16;

/// Objects, then descriptors, each as a count and addresses; then memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let mut addresses = || {
        let count = input.byte().min(MAX_PLACES);
        (0..count).map(|_| Addr::new(input.word())).collect()
    };
    let places = RegistryAddresses { objects: addresses(), descriptors: addresses() };
    let memory = Memory::read(&mut input);
    let registered = Registered::read(&places, &memory);
    for (start, _) in &memory.0 {
        for place in 0..ASKED {
            let at = Addr::new(start.wrapping_add(place * STEP));
            let _ = (registered.at(at).map(|cfi| cfi.covered().len()), registered.function_at(at));
        }
    }
}
