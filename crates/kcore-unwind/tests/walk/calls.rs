//! Whether the call before a return address leads to the frame below it.

use crate::{
    at,
    process::{Process, Unwind},
};

/// Functions 0 to 3, of which each is called by the next one as unwind information has it; of each frame, whether its
/// call leads elsewhere.
fn elsewhere(process: Process) -> Vec<bool> {
    let process = process.words(0, &[at(1, 5), at(2, 5), at(3, 5)]);
    let (frames, _) = process.walk(at(0, 8), 0);
    assert_eq!(frames.len(), 4);
    frames.iter().map(|(frame, _)| frame.calls_elsewhere).collect()
}

fn plain() -> Process {
    let plain = || Unwind::Plain(8);
    Process::new(&[plain(), plain(), plain(), Unwind::Outermost, plain()])
}

/// `ret`, and `jmp` to the start of function 1 from that of function 4.
const RETURN: &[u8] = &[0xc3];
const JUMP: &[u8] = &[0xe9, 0xfb, 0xfc, 0xff, 0xff];

#[test]
fn a_call_of_another_function_that_only_returns_is_told() {
    let process = plain().call(1, 0).call(2, 4).call(3, 2).code(4, RETURN);
    assert_eq!(elsewhere(process), [false, false, true, false]);
}

#[test]
fn a_call_of_one_that_jumps_on_to_it_leads_there() {
    let process = plain().call(1, 0).call(2, 4).call(3, 2).code(4, JUMP);
    assert_eq!(elsewhere(process), [false; 4]);
}

#[test]
fn a_call_through_a_register_may_lead_anywhere() {
    // Where nothing else is put, the text of the process is such calls.
    assert_eq!(elsewhere(plain().call(1, 0)), [false; 4]);
}

#[test]
fn code_that_cannot_be_read_tells_nothing() {
    let process = plain().call(1, 0).call(2, 4).call(3, 2).code(4, RETURN).without_text();
    assert_eq!(elsewhere(process), [false; 4]);
}
