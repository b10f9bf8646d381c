//! Frames of coroutines of C++20, in memory that may hold anything, and code that leads to where one goes on.

use kcore_mem::{Addr, AddrRange};
use kcore_runtimes::coroutine::{self, Compiler, CoroutineFunction, Coroutines};

use crate::{
    input::Input,
    memory::Memory,
    python_host::{Head, PythonHost},
};

/// Where the parts of functions lie, and bytes from one to the next.
const CODE: u64 = 0x40_0000;
const STEP: u64 = 0x100;
/// Functions that there are.
const FUNCTIONS: u64 = 4;

/// The address of a frame, the place of its number, and memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let at = Addr::new(input.word());
    let offset = u64::from(input.byte());
    let head = Head { minor: 8, runtime: 0, interpreter: 0, thread: 0, ident: 0 };
    let host = PythonHost::new(head, Memory::read(&mut input));
    let _ = coroutine::landing_of_gcc(&host, Addr::new(CODE), at, offset);
    let coroutines = Coroutines::of_functions((0..FUNCTIONS).map(function).collect());
    let all = coroutines.known(&host);
    for leaf in coroutines.leaves(&host) {
        assert!(coroutines.chain(&host, leaf).len() <= all.len());
    }
}

fn function(number: u64) -> CoroutineFunction {
    let resume = Addr::new(CODE + number * STEP);
    CoroutineFunction {
        name: "made".into(),
        compiler: if number.is_multiple_of(2) { Compiler::Gcc } else { Compiler::Clang },
        resume: AddrRange::with_len(resume, STEP / 2),
        cold: None,
        destroy: vec![Addr::new(CODE + number * STEP + STEP / 2)],
        ramp: None,
    }
}
