//! What the disassembler says of aarch64 code.

use kcore_disasm::{Disassembler, Flow, RegisterWrite};
use kcore_mem::{AccessKind, Addr, AddressRegister, Arch, Endian, JumpSource, Target};

const AT: Addr = Addr::new(0x40_1000);

fn disassembler() -> Disassembler {
    let target = Target { arch: Arch::Aarch64, endian: Endian::Little, word: 8 };
    Disassembler::new(target).unwrap()
}

fn reg(name: &str) -> Option<u64> {
    Some(match name {
        "x0" => 0x1000,
        "x1" => 0x2000,
        "x2" => 0x10,
        "x29" => 0x7000,
        "sp" => 0x8000,
        _ => return None,
    })
}

fn access(code: u32) -> Option<(u64, u64, AccessKind)> {
    let found = disassembler().memory_accesses(AT, &code.to_le_bytes(), &reg);
    let data = found.iter().find(|access| access.kind != AccessKind::Execute);
    data.map(|access| (access.addr.get(), access.size, access.kind))
}

#[test]
fn flow_and_targets() {
    let flow = |code: u32| disassembler().decode_one(AT, &code.to_le_bytes()).unwrap().flow;
    let there = Some(Addr::new(0x40_1010));
    assert_eq!(flow(0x9400_0004), Flow::Call(there), "bl");
    assert_eq!(flow(0x1400_0004), Flow::Jump(there), "b");
    assert_eq!(flow(0x5400_0080), Flow::CondJump(there), "b.eq");
    assert_eq!(flow(0xb400_0080), Flow::CondJump(there), "cbz");
    assert_eq!(flow(0x3600_0080), Flow::CondJump(there), "tbz");
    assert_eq!(flow(0xd63f_0000), Flow::Call(None), "blr");
    assert_eq!(flow(0xd61f_0000), Flow::Jump(None), "br");
    assert_eq!(flow(0xd65f_03c0), Flow::Return, "ret");
    assert_eq!(flow(0xd420_0000), Flow::Trap, "brk");
    assert_eq!(flow(0xd400_0001), Flow::Next, "svc");
}

#[test]
fn an_indirect_jump_tells_where_its_target_comes_from() {
    let source = |code: u32| disassembler().jump_source(AT, &code.to_le_bytes(), &reg);
    let register = |name: &str, value| {
        Some(JumpSource::Register(AddressRegister { name: name.to_owned(), value }))
    };
    assert_eq!(source(0xd63f_0000), register("x0", 0x1000), "blr x0");
    assert_eq!(source(0xd61f_0020), register("x1", 0x2000), "br x1");
    assert_eq!(source(0x9400_0004), None, "bl");
    assert_eq!(source(0xd420_0000), None, "brk");
    assert_eq!(source(0xd63f_0060), None, "x3 is not known");
}

#[test]
fn loads_and_stores_tell_direction_address_and_size() {
    use AccessKind::{Read, ReadWrite, Write};
    assert_eq!(access(0xf940_0420), Some((0x2008, 8, Read)), "ldr x0,[x1,#8]");
    assert_eq!(access(0xb900_0420), Some((0x2004, 4, Write)), "str w0,[x1,#4]");
    assert_eq!(access(0x3900_0020), Some((0x2000, 1, Write)), "strb w0,[x1]");
    assert_eq!(access(0xf862_7820), Some((0x2080, 8, Read)), "ldr x0,[x1,x2,lsl #3]");
    assert_eq!(access(0xa9bf_7bfd), Some((0x7ff0, 16, Write)), "stp x29,x30,[sp,#-16]!");
    assert_eq!(access(0xa8c1_7bfd), Some((0x8000, 16, Read)), "ldp x29,x30,[sp],#16");
    assert_eq!(access(0xf840_8420), Some((0x2000, 8, Read)), "ldr x0,[x1],#8");
    assert_eq!(access(0xf8e0_0020), Some((0x2000, 8, ReadWrite)), "ldaddal x0,x0,[x1]");
    assert_eq!(access(0x3dc0_0020), Some((0x2000, 16, Read)), "ldr q0,[x1]");
    assert_eq!(access(0x5800_0080), Some((0x40_1010, 8, Read)), "ldr x0,literal");
    assert_eq!(access(0x9100_0420), None, "add");
}

#[test]
fn pages_and_literals_are_references() {
    let reference =
        |code: u32| disassembler().decode_one(AT, &code.to_le_bytes()).unwrap().reference;
    assert_eq!(reference(0x9000_0000), Some(Addr::new(0x40_1000)), "adrp x0,.");
    assert_eq!(reference(0x1000_0080), Some(Addr::new(0x40_1010)), "adr x0,.+16");
    assert_eq!(reference(0xf940_0420), None, "ldr x0,[x1,#8]");
}

#[test]
fn system_registers_without_a_name_are_numbers() {
    for code in [0xd505_3228_u32, 0xd518_ffe0, 0xd538_ffe0] {
        let bytes = code.to_le_bytes();
        assert_eq!(disassembler().decode(AT, &bytes, 1).len(), 1, "{code:#x}");
        assert_eq!(access(code), None, "{code:#x}");
    }
}

#[test]
fn instructions_are_four_bytes_backwards_too() {
    let code: Vec<u8> = [0xa9bf_7bfd_u32, 0x9400_0004, 0xd65f_03c0]
        .iter()
        .flat_map(|one| one.to_le_bytes())
        .collect();
    let back = disassembler().backwards(Addr::new(0x40_100c), &code, 2, None);
    let addrs: Vec<_> = back.iter().map(|one| one.addr.get()).collect();
    assert_eq!(addrs, [0x40_1004, 0x40_1008]);
    assert!(disassembler().is_call_before(Addr::new(0x40_1008), &code[..8]));
    assert!(!disassembler().is_call_before(Addr::new(0x40_100c), &code));
}

#[test]
fn other_machines_are_refused() {
    let target = Target { arch: Arch::Alpha, endian: Endian::Little, word: 8 };
    assert_eq!(Disassembler::new(target).unwrap_err().to_string(), "no disassembler for alpha");
}

#[test]
fn writes_to_registers() {
    let write =
        |code: u32, register: &str| disassembler().write_to(AT, &code.to_le_bytes(), register);
    let loaded = |base: &str, displacement| {
        Some(RegisterWrite::Loaded { base: base.to_owned(), displacement })
    };
    let other = Some(RegisterWrite::Other);
    assert_eq!(write(0xf940_0820, "x0"), loaded("x1", 16), "ldr x0, [x1, #16]");
    assert_eq!(write(0xf940_0000, "x0"), loaded("x0", 0), "ldr x0, [x0]");
    assert_eq!(write(0xf85f_8020, "x0"), loaded("x1", -8), "ldur x0, [x1, #-8]");
    assert_eq!(write(0xf940_0820, "x1"), None, "it is read");
    assert_eq!(write(0xb940_1020, "x0"), other, "ldr w0, [x1, #16]");
    assert_eq!(write(0xf862_7820, "x0"), other, "ldr x0, [x1, x2, lsl #3]");
    assert_eq!(
        (write(0xf841_0c20, "x0"), write(0xf841_0c20, "x1")),
        (other.clone(), other.clone())
    );
    assert_eq!(
        (write(0xf841_0420, "x0"), write(0xf841_0420, "x1")),
        (other.clone(), other.clone())
    );
    assert_eq!(write(0xa940_0820, "x2"), other, "ldp x0, x2, [x1]");
    let copied = Some(RegisterWrite::Copied("x0".to_owned()));
    assert_eq!(write(0xaa00_03f3, "x19"), copied, "mov x19, x0");
    assert_eq!(write(0x2a00_03f3, "x19"), other, "mov w19, w0");
    assert_eq!(write(0xd280_0020, "x0"), other, "mov x0, #1");
    assert_eq!(write(0xeb01_001f, "x0"), None, "cmp x0, x1");
    assert_eq!(write(0xf900_0020, "x0"), None, "str x0, [x1]");
    assert_eq!(write(0xf81f_0c20, "x1"), other, "str x0, [x1, #-16]!");
    assert_eq!(write(0x8a22_0020, "x0"), other, "bic x0, x1, x2");
    assert_eq!(write(0xc800_7c41, "x0"), other, "stxr w0, x1, [x2]");
    assert_eq!(write(0xb400_0000, "x0"), None, "cbz x0");
    assert_eq!(write(0xf820_0041, "x1"), other, "ldadd x0, x1, [x2]");
    assert_eq!((write(0x9400_0000, "x0"), write(0x9400_0000, "x19")), (other.clone(), None), "bl");
    assert_eq!((write(0xd63f_0060, "x30"), write(0xd63f_0060, "x29")), (other, None), "blr x3");
}
