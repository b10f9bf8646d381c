//! Frames and threads that share unwind information or a stack.

use crate::case::{Case, STACK, Stands};
use crate::dwarf::CODE;
use crate::elf::{Program, leb};
use crate::run::assert_linear;
use crate::synthetic::words;

/// A return address every 16 bytes, `step` bytes of code between them; then nothing.
pub fn stack_of_returns(count: usize, step: usize) -> Vec<u8> {
    let frames = (1..=count as u64).flat_map(|at| [CODE + at * step as u64, 0]);
    let mut stack: Vec<u64> = frames.collect();
    stack.extend([0; 32]);
    words(&stack)
}

/// Unwind information of one function of `code` bytes, whose frames take 16 bytes. `initial` is more of
/// what holds at its beginning.
pub fn eh_frame(code: usize, initial: &[u8]) -> Vec<u8> {
    let cie = common(initial);
    let mut bytes = cie.clone();
    bytes.extend(description(cie.len(), CODE, code, &[]));
    bytes.extend([0; 4]);
    bytes
}

/// Unwind information of functions of `each` bytes of code, whose frames take 16 bytes.
pub fn eh_frame_of_functions(count: usize, each: usize) -> Vec<u8> {
    let mut bytes = common(&[]);
    for at in 0..count {
        let start = CODE + (at * each) as u64;
        bytes.extend(description(bytes.len(), start, each, &[]));
    }
    bytes.extend([0; 4]);
    bytes
}

/// What descriptions have in common: the CFA is 16 bytes above the stack pointer, and the return address
/// lies at the stack pointer.
fn common(initial: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend(b"\x01zR\0\x01\x78\x10\x01\x03");
    body.extend([0x0c, 7, 16, 0x90, 2]);
    body.extend(initial);
    sized(body)
}

/// The description of one function, `before` bytes behind the common part that begins the section.
fn description(before: usize, start: u64, code: usize, operations: &[u8]) -> Vec<u8> {
    let mut body = (before as u32 + 4).to_le_bytes().to_vec();
    // DW_EH_PE_udata4.
    body.extend((start as u32).to_le_bytes());
    body.extend((code as u32).to_le_bytes());
    body.extend(leb(0));
    body.extend(operations);
    sized(body)
}

/// Padded with nops, behind its length.
fn sized(mut body: Vec<u8>) -> Vec<u8> {
    body.resize(body.len().next_multiple_of(8) + 4, 0);
    [&(body.len() as u32).to_le_bytes()[..], &body].concat()
}

fn walked(program: &Program, frames: usize, step: usize, commands: &'static str) -> Case {
    let thread = Stands::at(CODE, STACK);
    Case::with_stack(program, &[thread], stack_of_returns(frames, step), commands)
}

#[test]
fn frames_of_one_long_description() {
    assert_linear("description", 4000, |n| {
        let program = Program::of_nops(n + 64).with_loaded(".eh_frame", {
            let cie = common(&[]);
            // Each byte of code states the CFA anew.
            let operations = [0x41, 0x0e, 16].repeat(n);
            let fde = description(cie.len(), CODE, n + 64, &operations);
            [cie, fde, vec![0; 4]].concat()
        });
        walked(&program, n, 1, "::stack")
    });
}

#[test]
fn frames_of_one_description_with_many_registers() {
    assert_linear("description of registers", 2000, |n| {
        let program = Program::of_nops(n + 64).with_loaded(".eh_frame", {
            let cie = common(&[]);
            let all: Vec<u8> = (0..n as u64)
                .flat_map(|at| {
                    [vec![0x41, 0x83 | ((at % 2) as u8 * 8)], leb(3 + at % 100)].concat()
                })
                .collect();
            let fde = description(cie.len(), CODE, n + 64, &all);
            [cie, fde, vec![0; 4]].concat()
        });
        walked(&program, n, 1, "::stack")
    });
}

#[test]
fn functions_of_one_long_common_description() {
    assert_linear("common description", 4000, |n| {
        let program = Program::of_nops(n + 64)
            .with_loaded(".eh_frame", eh_frame(n + 64, &[0x0e, 16].repeat(n)));
        walked(&program, n, 1, "::stack")
    });
}

/// Threads that stand on one stack, `apart` bytes from each other, all of it frames.
fn threads(n: usize, apart: u64, commands: &'static str) -> Case {
    let program = Program::of_nops(64).with_loaded(".eh_frame", eh_frame(64, &[]));
    let stands = (0..n as u64).map(|at| Stands::at(CODE, STACK + apart * at));
    let stands: Vec<Stands> = stands.collect();
    let mut stack = words(&[CODE + 16, 0].repeat(n));
    stack.extend([0; 256]);
    Case::with_stack(&program, &stands, stack, commands)
}

#[test]
fn threads_whose_stacks_overlap() {
    assert_linear("threads", 200, |n| threads(n, 16, "::walk thread | ::stack"));
    assert_linear("threads grouped", 200, |n| threads(n, 16, "::stacks"));
}

#[test]
fn threads_of_one_stack() {
    assert_linear("threads in one place", 200, |n| threads(n, 0, "::walk thread | ::stack"));
    assert_linear("threads in one place, grouped", 200, |n| threads(n, 0, "::stacks"));
}

/// Code whose frames have a frame record: the CFA is 16 bytes above the frame pointer, which was saved there, right
/// below the return address.
fn eh_frame_of_records() -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend(b"\x01zR\0\x01\x78\x10\x01\x03");
    body.extend([0x0c, 6, 16, 0x86, 2, 0x90, 1]);
    let mut bytes = sized(body);
    bytes.extend(description(bytes.len(), CODE, 64, &[]));
    bytes.extend([0; 4]);
    bytes
}

/// Threads that stand beside one stack of `n` frames, and whose frame pointers all lead to its beginning.
fn led_into_one_stack(n: usize, commands: &'static str) -> Case {
    let program = Program::of_nops(64).with_loaded(".eh_frame", eh_frame_of_records());
    let deep = STACK + 16 * n as u64;
    let stands = (0..n as u64).map(|at| Stands { pc: CODE, sp: STACK + 16 * at, frame: deep });
    let stands: Vec<Stands> = stands.collect();
    let mut stack = vec![0; 2 * n];
    stack.extend((1..=n as u64).flat_map(|at| [deep + 16 * at, CODE + 16]));
    stack.extend([0; 32]);
    Case::with_stack(&program, &stands, words(&stack), commands)
}

#[test]
fn threads_that_are_led_into_one_stack() {
    for commands in [
        "::walk thread | ::stack",
        "::stacks",
        "::threads",
        "::status",
        "::walk thread | ::findstack",
    ] {
        assert_linear(commands, 200, |n| led_into_one_stack(n, commands));
    }
}
