//! Frames of coroutines: a chain, a circle, one that is done, and code of gcc that finds where one goes on.

use kcore_fuzz::{input::Output, memory::Memory};

/// Where frames lie, and the parts of functions.
const AT: u64 = 0x7f10_0000;
const CODE: u64 = 0x40_0000;
/// Bytes from one function to the next, and to the part that destroys.
const STEP: u64 = 0x100;
/// Bytes of a frame.
const SIZE: u64 = 64;

/// All seeds of the target `coroutine`.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let place = |index: u64| AT + index * SIZE;
    let chain = [frame(0, place(1), 4), frame(1, place(2), 1), frame(2, 0, 6)];
    let circle = [frame(0, place(1), 4), frame(1, place(0), 4)];
    let mut done = frame(3, 0, 8);
    done[..8].fill(0);
    vec![("chain", seed(&chain)), ("circle", seed(&circle)), ("done", seed(&[done]))]
}

/// The two functions, a promise with the handle of another, and a number.
fn frame(function: u64, continuation: u64, number: u16) -> Vec<u8> {
    let resume = CODE + function * STEP;
    let words = [resume, resume + STEP / 2, 0, continuation, 0];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend(number.to_le_bytes());
    bytes.resize(SIZE as usize, 0);
    bytes
}

/// `movzwl 40(%rdi),%eax; test $1,%al; je; cmp $4,%ax; je; ud2`
const DISPATCH: [u8; 16] =
    [0x0f, 0xb7, 0x47, 40, 0xa8, 1, 0x74, 0, 0x66, 0x83, 0xf8, 4, 0x74, 2, 0x0f, 0x0b];

fn seed(frames: &[Vec<u8>]) -> Vec<u8> {
    let memory = vec![(AT, frames.concat()), (CODE, DISPATCH.to_vec())];
    Memory(memory).write(Output::default().word(AT).byte(40)).0
}
