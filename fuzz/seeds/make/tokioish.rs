//! Futures that wait for one another: by a box, by two, for a timer, and in a circle.

use kcore_fuzz::{input::Output, memory::Memory};

/// Where the memory lies, bytes of a future, and where in it its state is.
const AT: u64 = 0x7f10_0000;
const SIZE: u64 = 48;
const STATE: usize = 40;

/// Two words and a state.
type MadeFuture = (u64, u64, u8);

/// All seeds of the target `tokio`.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let place = |index: u64| AT + index * SIZE;
    let chain = [(place(1), 0, 3), (place(2), place(3), 4), (0, 0, 0), (12, 500_000_000, 5)];
    let circle = [(place(1), 0, 3), (place(0), place(1), 4)];
    let object = [(place(1), 0x40_0000, 6), (0, 0, 1)];
    vec![("chain", seed(&chain)), ("circle", seed(&circle)), ("object", seed(&object))]
}

fn seed(futures: &[MadeFuture]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (one, other, state) in futures {
        let mut future = [one.to_le_bytes(), other.to_le_bytes()].concat();
        future.resize(SIZE as usize, 0);
        future[STATE] = *state;
        bytes.extend(future);
    }
    Memory(vec![(AT, bytes)]).write(Output::default().word(AT)).0
}
