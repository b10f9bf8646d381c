//! What the disassembler says of x86-64 code, each case as GNU as encodes it.

use kcore_disasm::{Computation, Disassembler, Flow, RegisterSum, RegisterWrite};
use kcore_mem::{Access, AccessKind, Addr, AddressRegister, JumpSource, Target};

/// An instruction as text and bytes, and the access: address, bytes, kind.
type Case = (&'static str, &'static [u8], (u64, u64, AccessKind));

const AT: Addr = Addr::new(0x40_1000);

fn disassembler() -> Disassembler {
    Disassembler::new(Target::X86_64).unwrap()
}

/// Registers of a thread: every general register has a value of its own.
fn reg(name: &str) -> Option<u64> {
    Some(match name {
        "rax" => 0x1000,
        "rbx" => 0x2000,
        "rcx" => 0x10,
        "rdx" => 0x4000,
        "rsi" => 0x5000,
        "rdi" => 0x6000,
        "rbp" => 0x7000,
        "rsp" => 0x8000,
        "r8" => 0xffff_ffff_0000_9000,
        "r9" => 0x8000_0000_0000_0000,
        "fsbase" => 0x7f00_0000_0000,
        _ => return None,
    })
}

fn accesses(code: &[u8]) -> Vec<(u64, u64, AccessKind)> {
    let found = disassembler().memory_accesses(AT, code, &reg);
    let data = found.iter().filter(|access| access.kind != AccessKind::Execute);
    data.map(|access| (access.addr.get(), access.size, access.kind)).collect()
}

#[test]
fn text_is_att_without_blanks_after_commas() {
    let decoded = disassembler().decode_one(AT, &[0x48, 0x89, 0xe5, 0x90]).unwrap();
    assert_eq!((decoded.mnemonic.as_str(), decoded.operands.as_str()), ("movq", "%rsp,%rbp"));
    assert_eq!((decoded.len(), decoded.flow, decoded.end()), (3, Flow::Next, Addr::new(0x40_1003)));
    let decoded = disassembler().decode_one(AT, &[0x8b, 0x44, 0x88, 0x08]).unwrap();
    assert_eq!(decoded.operands, "8(%rax,%rcx,4),%eax");
}

#[test]
fn flow_and_targets() {
    let flow = |code: &[u8]| disassembler().decode_one(AT, code).unwrap().flow;
    let there = Some(Addr::new(0x40_1136));
    assert_eq!(flow(&[0xe8, 0x31, 0x01, 0, 0]), Flow::Call(there));
    assert_eq!(flow(&[0xe9, 0x31, 0x01, 0, 0]), Flow::Jump(there));
    assert_eq!(flow(&[0x0f, 0x84, 0x30, 0x01, 0, 0]), Flow::CondJump(there));
    assert_eq!(flow(&[0xff, 0xd0]), Flow::Call(None));
    assert_eq!(flow(&[0xff, 0xe0]), Flow::Jump(None));
    assert_eq!(flow(&[0x3e, 0xff, 0xe0]), Flow::Jump(None), "notrack jmp");
    assert_eq!(flow(&[0xf2, 0xe9, 0x30, 0x01, 0, 0]), Flow::Jump(there), "bnd jmp");
    assert_eq!(flow(&[0xc3]), Flow::Return);
    assert_eq!(flow(&[0xf3, 0xc3]), Flow::Return, "rep ret");
    assert_eq!(flow(&[0x0f, 0x0b]), Flow::Trap);
    assert_eq!(flow(&[0xf4]), Flow::Trap);
    assert_eq!(flow(&[0x0f, 0x05]), Flow::Next, "syscall comes back");
    assert_eq!(flow(&[0xf3, 0x0f, 0x1e, 0xfa]), Flow::Next, "endbr64");
}

#[test]
fn a_rip_relative_operand_refers_to_an_address() {
    let decoded = disassembler().decode_one(AT, &[0x48, 0x8d, 0x05, 0x10, 0, 0, 0]).unwrap();
    assert_eq!(decoded.reference, Some(Addr::new(0x40_1017)));
    let call = disassembler().decode_one(AT, &[0xff, 0x15, 0xf9, 0xff, 0xff, 0xff]).unwrap();
    assert_eq!((call.flow, call.reference), (Flow::Call(None), Some(Addr::new(0x40_0fff))));
}

#[test]
fn loads_and_stores_tell_direction_address_and_size() {
    use AccessKind::{Read, ReadWrite, Write};
    let cases: [Case; 11] = [
        ("mov 8(%rbx),%rax", &[0x48, 0x8b, 0x43, 0x08], (0x2008, 8, Read)),
        ("mov %rax,8(%rbx)", &[0x48, 0x89, 0x43, 0x08], (0x2008, 8, Write)),
        ("movl $1,(%rax)", &[0xc7, 0x00, 1, 0, 0, 0], (0x1000, 4, Write)),
        ("movb $0,(%rax,%rcx,4)", &[0xc6, 0x04, 0x88, 0], (0x1040, 1, Write)),
        ("addl $1,(%rax)", &[0x83, 0x00, 0x01], (0x1000, 4, ReadWrite)),
        ("lock xadd %eax,(%rbx)", &[0xf0, 0x0f, 0xc1, 0x03], (0x2000, 4, ReadWrite)),
        ("cmpq $0,(%rax)", &[0x48, 0x83, 0x38, 0], (0x1000, 8, Read)),
        (
            "mov %fs:0x28,%rax",
            &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0],
            (0x7f00_0000_0028, 8, Read),
        ),
        ("movaps %xmm0,(%rax)", &[0x0f, 0x29, 0x00], (0x1000, 16, Write)),
        ("movdqu (%rsi),%xmm0", &[0xf3, 0x0f, 0x6f, 0x06], (0x5000, 16, Read)),
        ("mov (%r8d),%eax", &[0x67, 0x41, 0x8b, 0x00], (0x9000, 4, Read)),
    ];
    for (text, code, expected) in cases {
        assert_eq!(accesses(code), [expected], "{text}");
    }
}

/// Stores that capstone's own access flags call reads.
#[test]
fn the_form_of_an_instruction_tells_a_store() {
    use AccessKind::{Read, ReadWrite, Write};
    let cases: [Case; 16] = [
        ("movups %xmm0,(%rbx)", &[0x0f, 0x11, 0x03], (0x2000, 16, Write)),
        ("movups (%rbx),%xmm0", &[0x0f, 0x10, 0x03], (0x2000, 16, Read)),
        ("vmovdqu %ymm0,(%rbx)", &[0xc5, 0xfe, 0x7f, 0x03], (0x2000, 32, Write)),
        ("vmovdqu (%rbx),%ymm0", &[0xc5, 0xfe, 0x6f, 0x03], (0x2000, 32, Read)),
        ("movnti %rax,(%rbx)", &[0x48, 0x0f, 0xc3, 0x03], (0x2000, 8, Write)),
        ("movq %xmm0,(%rbx)", &[0x66, 0x0f, 0xd6, 0x03], (0x2000, 8, Write)),
        ("fstpl (%rbx)", &[0xdd, 0x1b], (0x2000, 8, Write)),
        ("fldl (%rbx)", &[0xdd, 0x03], (0x2000, 8, Read)),
        ("fnstcw (%rbx)", &[0xd9, 0x3b], (0x2000, 2, Write)),
        ("fxsave (%rbx)", &[0x0f, 0xae, 0x03], (0x2000, 512, Write)),
        ("cmpxchg %rcx,(%rbx)", &[0x48, 0x0f, 0xb1, 0x0b], (0x2000, 8, ReadWrite)),
        ("sarl %cl,(%rbx)", &[0xd3, 0x3b], (0x2000, 4, ReadWrite)),
        ("btq $1,(%rbx)", &[0x48, 0x0f, 0xba, 0x23, 1], (0x2000, 8, Read)),
        ("testb $1,(%rbx)", &[0xf6, 0x03, 1], (0x2000, 1, Read)),
        ("divq (%rbx)", &[0x48, 0xf7, 0x33], (0x2000, 8, Read)),
        ("sete (%rax)", &[0x0f, 0x94, 0x00], (0x1000, 1, Write)),
    ];
    for (text, code, expected) in cases {
        assert_eq!(accesses(code), [expected], "{text}");
    }
}

#[test]
fn what_only_computes_an_address_touches_nothing() {
    assert_eq!(accesses(&[0x48, 0x8d, 0x43, 0x08]), [], "lea 8(%rbx),%rax");
    assert_eq!(accesses(&[0x0f, 0x1f, 0x40, 0x00]), [], "nopl (%rax)");
    assert_eq!(accesses(&[0x0f, 0x18, 0x08]), [], "prefetcht0 (%rax)");
}

#[test]
fn an_indirect_jump_tells_where_its_target_comes_from() {
    let source = |code: &[u8]| disassembler().jump_source(AT, code, &reg);
    let register = |name: &str, value| {
        Some(JumpSource::Register(AddressRegister { name: name.to_owned(), value }))
    };
    assert_eq!(source(&[0xff, 0xd0]), register("rax", 0x1000), "call *%rax");
    assert_eq!(source(&[0x3e, 0xff, 0xe1]), register("rcx", 0x10), "notrack jmp *%rcx");
    let Some(JumpSource::Memory(slot)) = source(&[0xff, 0x25, 0x10, 0, 0, 0]) else {
        panic!("jmp *0x10(%rip)");
    };
    let access = Access { addr: Addr::new(0x40_1016), size: 8, kind: AccessKind::Read };
    assert_eq!(slot.access, access);
    assert_eq!(source(&[0xe8, 0x31, 0x01, 0, 0]), None, "a call that states its target");
    assert_eq!(source(&[0xff, 0x30]), None, "push (%rax)");
    assert_eq!(source(&[0x41, 0xff, 0xd4]), None, "r12 is not known");
}

#[test]
fn the_stack_is_touched_without_being_named() {
    use AccessKind::{Read, Write};
    assert_eq!(accesses(&[0x55]), [(0x7ff8, 8, Write)], "push %rbp");
    assert_eq!(accesses(&[0x5d]), [(0x8000, 8, Read)], "pop %rbp");
    assert_eq!(accesses(&[0xc3]), [(0x8000, 8, Read)], "ret");
    assert_eq!(accesses(&[0xc9]), [(0x7000, 8, Read)], "leave");
    assert_eq!(accesses(&[0xe8, 0, 0, 0, 0]), [(0x7ff8, 8, Write)], "call");
    assert_eq!(accesses(&[0xff, 0x13]), [(0x2000, 8, Read), (0x7ff8, 8, Write)], "call *(%rbx)");
    assert_eq!(accesses(&[0xff, 0x33]), [(0x2000, 8, Read), (0x7ff8, 8, Write)], "push (%rbx)");
    assert_eq!(accesses(&[0x66, 0x50]), [(0x7ffe, 2, Write)], "pushw %ax");
    assert_eq!(accesses(&[0xf3, 0x0f, 0xb8, 0xc1]), [], "popcnt %ecx,%eax");
}

#[test]
fn repeated_string_instructions_reach_as_far_as_they_have_to_go() {
    use AccessKind::{Read, Write};
    assert_eq!(accesses(&[0xf3, 0xaa]), [(0x6000, 0x10, Write)], "rep stosb");
    let mut copied = accesses(&[0xf3, 0x48, 0xa5]);
    copied.sort_by_key(|access| access.0);
    assert_eq!(copied, [(0x5000, 0x80, Read), (0x6000, 0x80, Write)], "rep movsq");
}

#[test]
fn a_fault_is_explained_by_the_access_that_touches_it() {
    let explain = |code: &[u8], fault| disassembler().explain_fault(AT, code, &reg, fault);
    let copy = [0xf3, 0xa4];
    assert_eq!(explain(&copy, Some(Addr::new(0x5004))), Some(AccessKind::Read));
    assert_eq!(explain(&copy, Some(Addr::new(0x6004))), Some(AccessKind::Write));
    assert_eq!(explain(&copy, Some(Addr::new(0x9999))), None);
    assert_eq!(explain(&[0x55], Some(Addr::new(0x7ff8))), Some(AccessKind::Write));
    assert_eq!(explain(&[0x90], Some(AT)), Some(AccessKind::Execute));
}

#[test]
fn a_fault_without_an_address_is_that_of_a_non_canonical_access() {
    let explain = |code: &[u8]| disassembler().explain_fault(AT, code, &reg, None);
    assert_eq!(explain(&[0x49, 0x89, 0x01]), Some(AccessKind::Write), "mov %rax,(%r9)");
    assert_eq!(explain(&[0x41, 0xff, 0x11]), Some(AccessKind::Read), "call *(%r9)");
    assert_eq!(explain(&[0x90]), None);
}

#[test]
fn an_access_through_an_unknown_register_is_left_out() {
    assert_eq!(accesses(&[0x4d, 0x8b, 0x3e]), [], "mov (%r14),%r15");
}

#[test]
fn what_is_no_instruction_is_shown_as_bytes_and_what_is_cut_off_is_not() {
    let decoded = disassembler().decode(AT, &[0x90, 0x06, 0x90, 0xe8, 0x01], 10);
    let text: Vec<_> =
        decoded.iter().map(|one| format!("{} {}", one.mnemonic, one.operands)).collect();
    assert_eq!(text, ["nop ", ".byte 0x6", "nop "]);
    assert_eq!(decoded[1].flow, Flow::Trap);
    assert!(disassembler().decode_one(AT, &[]).is_none());
}

/// `push %rbp; mov %rsp,%rbp; sub $0x10,%rsp; mov $5,%eax; call +0; add $0x10,%rsp`
const FUNCTION: [u8; 22] = [
    0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xb8, 5, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x48, 0x83,
    0xc4, 0x10,
];

#[test]
fn going_back_from_a_known_function_start_is_exact() {
    let end = Addr::new(AT.get() + 13);
    let back = disassembler().backwards(end, &FUNCTION[..13], 2, Some(AT));
    let addrs: Vec<_> = back.iter().map(|one| one.addr.get() - AT.get()).collect();
    assert_eq!(addrs, [4, 8]);
}

#[test]
fn going_back_blindly_agrees_with_the_code() {
    let end = Addr::new(AT.get() + 22);
    let back = disassembler().backwards(end, &FUNCTION, 4, None);
    let addrs: Vec<_> = back.iter().map(|one| one.addr.get() - AT.get()).collect();
    assert_eq!(addrs, [4, 8, 13, 18]);
}

#[test]
fn a_return_address_has_a_call_before_it() {
    let after = |offset: usize| {
        let ret = Addr::new(AT.get() + offset as u64);
        disassembler().is_call_before(ret, &FUNCTION[..offset])
    };
    assert!(after(18));
    assert!(!after(13) && !after(22) && !after(0));
    assert!(disassembler().is_call_before(AT, &[0x41, 0xff, 0x54, 0xc4, 0x08]));
}

#[test]
fn every_short_byte_sequence_is_decoded_without_harm() {
    let disassembler = disassembler();
    let mut seed = 0x9e37_79b9_u32;
    for _ in 0..3000 {
        let code: Vec<u8> = (0..16)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            })
            .collect();
        let decoded = disassembler.decode(AT, &code, 16);
        let total: usize = decoded.iter().map(|one| one.len()).sum();
        assert!(total <= code.len() && decoded.iter().all(|one| !one.is_empty()));
        disassembler.memory_accesses(AT, &code, &reg);
        disassembler.backwards(AT, &code, 3, None);
    }
}

#[test]
fn writes_to_registers() {
    let write = |code: &[u8], register: &str| disassembler().write_to(AT, code, register);
    let loaded = |base: &str, displacement| {
        Some(RegisterWrite::Loaded { base: base.to_owned(), displacement })
    };
    let other = Some(RegisterWrite::Other);
    assert_eq!(write(&[0x48, 0x8b, 0x47, 0x10], "rax"), loaded("rdi", 16), "mov 16(%rdi),%rax");
    assert_eq!(write(&[0x48, 0x8b, 0x40, 0xf8], "rax"), loaded("rax", -8), "mov -8(%rax),%rax");
    assert_eq!(write(&[0x48, 0x8b, 0x47, 0x10], "rdi"), None, "it is read");
    assert_eq!(write(&[0x8b, 0x47, 0x10], "rax"), other, "mov 16(%rdi),%eax");
    assert_eq!(write(&[0x48, 0x8b, 0x44, 0xc8, 0x10], "rax"), other, "mov 16(%rax,%rcx,8),%rax");
    assert_eq!(write(&[0x64, 0x48, 0x8b, 0x40, 0x10], "rax"), other, "mov %fs:16(%rax),%rax");
    let global = Some(RegisterWrite::LoadedFrom(Addr::new(0x40_1017)));
    assert_eq!(write(&[0x48, 0x8b, 0x05, 0x10, 0, 0, 0], "rax"), global, "mov 16(%rip),%rax");
    let copied = Some(RegisterWrite::Copied("rdi".to_owned()));
    assert_eq!(write(&[0x48, 0x89, 0xfb], "rbx"), copied, "mov %rdi,%rbx");
    assert_eq!(write(&[0x89, 0xfb], "rbx"), other, "mov %edi,%ebx");
    assert_eq!(write(&[0x48, 0x89, 0x47, 0x10], "rdi"), None, "mov %rax,16(%rdi)");
    assert_eq!(write(&[0x31, 0xc0], "rax"), other, "xor %eax,%eax");
    assert_eq!(write(&[0x48, 0x39, 0xc3], "rbx"), None, "cmp %rax,%rbx");
    assert_eq!(write(&[0x85, 0xc0], "rax"), None, "test %eax,%eax");
    assert_eq!(write(&[0x53], "rbx"), None, "push %rbx");
    assert_eq!(write(&[0x53], "rsp"), other, "push moves the stack pointer");
    assert_eq!(write(&[0x5b], "rbx"), other, "pop %rbx");
    assert_eq!(write(&[0x41, 0xb4, 0x01], "r12"), other, "mov $1,%r12b");
    assert_eq!(write(&[0x48, 0x93], "rbx"), other, "xchg %rax,%rbx");
    assert_eq!(write(&[0x0f, 0xa2], "rbx"), other, "cpuid");
    assert_eq!(write(&[0xf3, 0x48, 0xab], "rdi"), other, "rep stos");
    let call = [0xe8, 0x31, 0x01, 0, 0];
    assert_eq!((write(&call, "rax"), write(&call, "r11")), (other.clone(), other));
    assert_eq!((write(&call, "rbx"), write(&call, "r12")), (None, None), "callees keep them");
    assert_eq!(write(&[0xff, 0xd3], "rbx"), None, "call *%rbx");
}

#[test]
fn masks_hide_no_store() {
    let kind = |code: &[u8]| accesses(code).first().map(|(_, _, kind)| *kind);
    let store = [0x62, 0xe1, 0x7f, 0x49, 0x7f, 0x00];
    assert_eq!(kind(&store), Some(AccessKind::Write), "vmovdqu8 %zmm16,(%rax){{%k1}}");
    let store = [0x62, 0xf1, 0x7c, 0x29, 0x11, 0x00];
    assert_eq!(kind(&store), Some(AccessKind::Write), "vmovups %ymm0,(%rax){{%k1}}");
    let load = [0x62, 0xe1, 0x7f, 0x49, 0x6f, 0x00];
    assert_eq!(kind(&load), Some(AccessKind::Read), "vmovdqu8 (%rax),%zmm16{{%k1}}");
    let load = [0xc4, 0xe1, 0xf8, 0x90, 0x08];
    assert_eq!(kind(&load), Some(AccessKind::Read), "kmovq (%rax),%k1");
    let compare = [0x62, 0xf1, 0x7d, 0x28, 0x74, 0x08];
    assert_eq!(kind(&compare), Some(AccessKind::Read), "vpcmpeqb (%rax),%ymm0,%k1");
}

#[test]
fn what_is_computed_for_a_register() {
    let made = |code: &[u8], register: &str| disassembler().computation(AT, code, register);
    let sum = |base: Option<&str>, index: Option<(&str, u64)>, displacement| RegisterSum {
        base: base.map(str::to_owned),
        index: index.map(|(name, by)| (name.to_owned(), by)),
        displacement,
    };
    let loaded = |at, size, is_signed| Some(Computation::Loaded { at, size, is_signed });
    let element = sum(Some("rdi"), Some(("rsi", 8)), 0);
    assert_eq!(made(&[0x48, 0x8b, 0x04, 0xf7], "rax"), loaded(element.clone(), 8, false));
    assert_eq!(made(&[0x48, 0x8b, 0x04, 0xf7], "rdi"), None, "it is read");
    let table = sum(None, Some(("rdi", 8)), 0x40_4040);
    let code = [0x48, 0x8b, 0x04, 0xfd, 0x40, 0x40, 0x40, 0];
    assert_eq!(made(&code, "rax"), loaded(table, 8, false), "mov 0x404040(,%rdi,8),%rax");
    let stack = sum(Some("rbp"), None, -20);
    assert_eq!(made(&[0x8b, 0x45, 0xec], "rax"), loaded(stack, 4, false), "mov -20(%rbp),%eax");
    let wide = Some(Computation::Extended { from: "rsi".to_owned(), is_signed: true });
    assert_eq!(made(&[0x48, 0x63, 0xf6], "rsi"), wide, "movslq %esi,%rsi");
    let wide = Some(Computation::Extended { from: "rax".to_owned(), is_signed: true });
    assert_eq!(made(&[0x48, 0x98], "rax"), wide, "cltq");
    let address = Some(Computation::Sum(sum(None, Some(("rax", 8)), 0)));
    assert_eq!(made(&[0x48, 0x8d, 0x14, 0xc5, 0, 0, 0, 0], "rdx"), address, "lea 0(,%rax,8),%rdx");
    let global = Some(Computation::Sum(sum(None, None, 0x40_1017)));
    assert_eq!(made(&[0x48, 0x8d, 0x05, 0x10, 0, 0, 0], "rax"), global, "lea 16(%rip),%rax");
    let added = Some(Computation::Sum(sum(Some("rax"), Some(("rdx", 1)), 0)));
    assert_eq!(made(&[0x48, 0x01, 0xd0], "rax"), added, "add %rdx,%rax");
    let added = Some(Computation::Sum(sum(Some("rax"), None, -16)));
    assert_eq!(made(&[0x48, 0x83, 0xc0, 0xf0], "rax"), added, "add $-16,%rax");
    let shifted = Some(Computation::Multiplied { from: "rax".to_owned(), by: 16 });
    assert_eq!(made(&[0x48, 0xc1, 0xe0, 0x04], "rax"), shifted, "shl $4,%rax");
    let times = Some(Computation::Multiplied { from: "rsi".to_owned(), by: 40 });
    assert_eq!(made(&[0x48, 0x6b, 0xc6, 0x28], "rax"), times, "imul $40,%rsi,%rax");
    assert_eq!(made(&[0x64, 0x48, 0x8b, 0x40, 0x10], "rax"), None, "mov %fs:16(%rax),%rax");
    assert_eq!(made(&[0x67, 0x41, 0x8b, 0x00], "rax"), None, "mov (%r8d),%eax");
    assert_eq!(made(&[0x66, 0x89, 0xf8], "rax"), None, "mov %di,%ax");
    assert_eq!(made(&[0x48, 0x31, 0xc0], "rax"), None, "xor %rax,%rax");
}
