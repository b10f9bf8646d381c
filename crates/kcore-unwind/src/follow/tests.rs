//! Paths through code of both machines, by what they say of the caller.

use kcore_mem::{Addr, AddrRange, Arch, Target};

use super::{Follower, Paths, Question, value::Value};
use crate::{
    Machine,
    code_memory::{CODE, CodeMemory},
    machine,
};

fn of(arch: Arch) -> Box<dyn Machine> {
    machine(Target { arch, ..Target::X86_64 }, None).unwrap()
}

/// The paths from the byte `at` of `code` to the return.
fn to_return(arch: Arch, code: &[u8], at: u64, is_return: bool) -> Paths {
    let (machine, memory) = (of(arch), CodeMemory::new(arch, code.to_vec()));
    let question = Question { machine: &*machine, space: &memory, function: None };
    Follower::new().paths_to_return(Addr::new(CODE + at), is_return, question)
}

/// The paths from the start of `code` to the byte `at`.
fn from_start(arch: Arch, code: &[u8], at: u64) -> Paths {
    let (machine, memory) = (of(arch), CodeMemory::new(arch, code.to_vec()));
    let function = Some(AddrRange::with_len(Addr::new(CODE), code.len() as u64));
    let question = Question { machine: &*machine, space: &memory, function };
    Follower::new().paths_from_start(Addr::new(CODE), Addr::new(CODE + at), question)
}

/// `stp x29, x30, [sp, #-32]!`; `mov x29, sp`; `str x19, [sp, #16]`; `nop`; `ldr x19, [sp, #16]`;
/// `ldp x29, x30, [sp], #32`; `ret`.
const AARCH64: [u32; 7] =
    [0xa9be_7bfd, 0x9100_03fd, 0xf900_0bf3, 0xd503_201f, 0xf940_0bf3, 0xa8c2_7bfd, 0xd65f_03c0];

#[test]
fn each_place_of_a_function_of_aarch64_has_one_caller_both_ways() {
    let code: Vec<u8> = AARCH64.iter().flat_map(|word| word.to_le_bytes()).collect();
    let sp = || Value::register(31);
    let link = |offset| sp().plus(offset).word();
    for (index, pc, by) in [
        (0, Value::register(30), 0),
        (1, link(8), 32),
        (3, link(8), 32),
        (5, link(8), 32),
        (6, Value::register(30), 0),
    ] {
        let there = *to_return(Arch::Aarch64, &code, index * 4, false).agreed().unwrap();
        let here = *from_start(Arch::Aarch64, &code, index * 4).agreed().unwrap();
        assert_eq!((there.pc, there.sp), (pc, sp().plus(by)), "to the return from {index}");
        assert_eq!((here.pc, here.sp), (pc, sp().plus(by)), "from the start to {index}");
    }
    let body = *to_return(Arch::Aarch64, &code, 12, false).agreed().unwrap();
    assert_eq!(body.preserved[0], link(16), "x19");
}

#[test]
fn a_loop_has_one_state() {
    // push %rbx; lea 8(%rsp),%rbx; 1: add $16,%rbx; dec %rdi; jnz 1b; pop %rbx; ret
    let code = [
        0x53, 0x48, 0x8d, 0x5c, 0x24, 0x08, 0x48, 0x83, 0xc3, 0x10, 0x48, 0xff, 0xcf, 0x75, 0xf7,
        0x5b, 0xc3,
    ];
    let paths = to_return(Arch::X86_64, &code, 6, false);
    let caller = paths.agreed().unwrap();
    assert_eq!(caller.sp, Value::register(7).plus(16));
    assert_eq!(caller.preserved[0], Value::register(7).word(), "rbx");
}

#[test]
fn a_call_that_need_not_return_makes_what_follows_doubtful() {
    // je over the call; add $8,%rsp; ret; call; nops up to a boundary; the next function: pop %rbx; ret
    let mut code = vec![0x74, 0x05, 0x48, 0x83, 0xc4, 0x08, 0xc3, 0xe8, 0, 1, 0, 0];
    code.resize(16, 0x90);
    code.extend([0x5b, 0x5b, 0xc3]);
    let paths = to_return(Arch::X86_64, &code, 0, false);
    assert_eq!(paths.agreed().unwrap().sp, Value::register(7).plus(16), "by the sure path");
    let behind = to_return(Arch::X86_64, &code, 12, true);
    assert!(behind.agreed().is_none() && behind.all().count() == 1, "nothing but a doubt");
    assert!(!behind.never_returns());
}

#[test]
fn a_jump_that_the_code_does_not_tell_leaves_no_agreement() {
    // je to the jump; ret; jmp *(%rdx,%rax,8)
    let code = [0x74, 0x01, 0xc3, 0xff, 0x24, 0xc2];
    let paths = to_return(Arch::X86_64, &code, 0, false);
    assert!(paths.agreed().is_none());
    assert_eq!(paths.only().unwrap().sp, Value::register(7).plus(8));
}

#[test]
fn code_that_traps_never_returns() {
    // mov %eax,%edi; mov $60,%eax; syscall; hlt
    let code = [0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05, 0xf4];
    assert!(to_return(Arch::X86_64, &code, 0, false).never_returns());
    assert!(!to_return(Arch::X86_64, &[0xc3], 0, false).never_returns());
}

#[test]
fn code_without_an_end_is_given_up() {
    let nops = vec![0x90; 1 << 15];
    let paths = to_return(Arch::X86_64, &nops, 0, false);
    assert!(paths.agreed().is_none() && !paths.never_returns());
}
