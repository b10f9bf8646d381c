//! Both instruction sets of 32-bit Arm, as GNU as 2.40 encodes them.

use kcore_disasm::{Disassembler, Flow};
use kcore_mem::{Addr, Arch, Endian, Target};

const AT: Addr = Addr::new(0x1_0000);

fn texts(disassembler: &Disassembler, code: &[u8]) -> Vec<String> {
    let decoded = disassembler.decode(AT, code, 16);
    decoded.iter().map(|one| format!("{} {}", one.mnemonic, one.operands)).collect()
}

#[test]
fn code_is_read_in_the_set_that_is_asked_for() {
    let target = Target { arch: Arch::Arm, endian: Endian::Little, word: 4 };
    let arm = Disassembler::new(target).unwrap();
    // push {fp, lr}; bl .+16; bx lr
    let code = [0x00, 0x48, 0x2d, 0xe9, 0x02, 0x00, 0x00, 0xeb, 0x1e, 0xff, 0x2f, 0xe1];
    assert_eq!(texts(&arm, &code), ["push {fp,lr}", "bl #0x10014", "bx lr"]);
    let flows: Vec<_> = arm.decode(AT, &code, 16).into_iter().map(|one| one.flow).collect();
    assert_eq!(flows[1], Flow::Call(Some(Addr::new(0x1_0014))));
    let thumb = Disassembler::thumb().unwrap();
    // push {r7, lr}; bl .+8; bx lr
    let code = [0x80, 0xb5, 0x00, 0xf0, 0x02, 0xf8, 0x70, 0x47];
    assert_eq!(texts(&thumb, &code), ["push {r7,lr}", "bl #0x1000a", "bx lr"]);
    let lengths: Vec<_> =
        thumb.decode(AT, &code, 16).iter().map(kcore_disasm::Instruction::len).collect();
    assert_eq!(lengths, [2, 4, 2]);
}
