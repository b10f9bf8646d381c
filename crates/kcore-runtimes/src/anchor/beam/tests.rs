//! BEAM's anchor on a made process.

use kcore_mem::CodeAddr;

use super::*;
use crate::anchor::made_host::{MODULE, MadeHost, told};

const JIT: u64 = 0x10_0000;
const STACK: u64 = 0x7000_0000;
const MAIN_AT: u64 = 0x40_0100;
/// Behind the call of `process_main`.
const CALLED: u64 = 0x40_0805;

fn beam() -> MadeHost {
    let mut process = MadeHost::new(&[JIT, MODULE.start.get(), STACK]);
    for (name, at) in [(MAIN, MAIN_AT), (OTHERS[0], 0x40_0200), (OTHERS[1], 0x40_0300)] {
        process.export(name, at);
    }
    let distance = (MAIN_AT as i64 - CALLED as i64) as i32;
    process.put(CALLED - 5, &[&[0xe8][..], &distance.to_le_bytes()].concat());
    // Above the registers comes first what another call returns to.
    process.put(0x40_0900, &[0xe8, 1, 0, 0, 0]);
    process.words(STACK + 0x100, &[0x40_0905, 17, CALLED]);
    process
}

/// The stack of an Erlang process, and words that may lie on it.
const PROCESS: u64 = 0x6000_0000;
const SHARED: u64 = JIT + 0x102;
const FUNCTION: u64 = JIT + 0x200;
const NORMAL_EXIT: u64 = JIT + 0x300;
const BIT_STRING: u64 = 0x6000_0802;

/// The pc and stack pointer of the caller, of code that runs on the stack of a process.
fn step_on_process(words: &[u64], pc: CodeAddr) -> Option<(u64, u64)> {
    let mut process = beam();
    process.add(PROCESS);
    process.words(PROCESS, words);
    // `call rax`, `call [rbx + 16]`.
    process.put(SHARED - 2, &[0xff, 0xd0]);
    process.put(FUNCTION - 3, &[0xff, 0x53, 16]);
    process.words(JIT + 0x400, &[NORMAL_EXIT]);
    process.export(ENDS[0], JIT + 0x400);
    let beam = find(&process)?;
    let registers = [(3, STACK), (7, PROCESS)];
    let (cfa, caller) = process.step(&*beam, Phase::AfterCode, pc, &registers)?;
    assert_eq!(caller.get(RSP), Some(cfa.get()));
    Some((caller.pc().get(), cfa.get()))
}

#[test]
fn the_stack_of_a_process_has_return_addresses_between_its_terms() {
    let stopped = CodeAddr::Pc(Addr::new(JIT));
    let within = CodeAddr::Return(Addr::new(FUNCTION));
    let on = step_on_process;
    assert_eq!(on(&[SHARED, FUNCTION], stopped), Some((SHARED, PROCESS + 8)));
    assert_eq!(on(&[15, SHARED, FUNCTION], stopped), Some((FUNCTION, PROCESS + 24)), "a term");
    assert_eq!(on(&[BIT_STRING, JIT, FUNCTION], within), Some((FUNCTION, PROCESS + 24)));
}

#[test]
fn where_the_stack_of_a_process_ends_that_of_the_thread_goes_on() {
    let within = CodeAddr::Return(Addr::new(FUNCTION));
    let found = Some((CALLED, STACK + 0x118));
    assert_eq!(step_on_process(&[15, NORMAL_EXIT, FUNCTION], within), found);
    assert_eq!(step_on_process(&[15, 31], within), found, "no return address at all");
}

fn step(process: &MadeHost, phase: Phase, pc: u64, rbx: u64) -> Option<(u64, u64)> {
    let beam = find(process)?;
    let step = process.step(&*beam, phase, CodeAddr::Pc(Addr::new(pc)), &[(3, rbx)]);
    told(step, 7).map(|(pc, cfa, _)| (pc, cfa))
}

#[test]
fn the_caller_of_process_main_lies_above_the_registers() {
    let process = beam();
    let found = Some((CALLED, STACK + 0x118));
    assert_eq!(step(&process, Phase::AfterCode, JIT, STACK), found);
    assert_eq!(step(&process, Phase::AfterCode, JIT, STACK + 0x110), found);
}

#[test]
fn nothing_is_said_where_no_such_call_is() {
    let process = beam();
    let after = |pc, rbx| step(&process, Phase::AfterCode, pc, rbx);
    assert_eq!(after(JIT, STACK + 0x118), None, "it lies below");
    assert_eq!(after(JIT, STACK + 4), None, "not aligned");
    assert_eq!(after(JIT, 0x1000), None, "no memory");
    assert_eq!(after(MAIN_AT, STACK), None, "code of a module");
    assert_eq!(step(&process, Phase::AfterCfi, JIT, STACK), None, "the code comes first");
    assert!(find(&MadeHost::new(&[JIT])).is_none(), "no Erlang");
}
