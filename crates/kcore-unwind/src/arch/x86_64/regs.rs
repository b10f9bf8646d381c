//! Registers: their names, DWARF numbers (System V ABI, figure 3.36), and their order in `pr_reg`
//! (`struct user_regs_struct`, Linux `arch/x86/include/asm/user_64.h`).

use kcore_mem::{Addr, AddressSpace, Cursor, Target};

use crate::{RegisterId, Regs, UserRegister};

pub const RBX: RegisterId = RegisterId(3);
pub const RBP: RegisterId = RegisterId(6);
pub const RSP: RegisterId = RegisterId(7);

/// The column of the return address, which PLT entries read as the program counter.
pub const RIP: RegisterId = RegisterId(16);

/// General registers by DWARF number.
pub const NAMES: &[(&str, RegisterId)] = &[
    ("rax", RegisterId(0)),
    ("rdx", RegisterId(1)),
    ("rcx", RegisterId(2)),
    ("rbx", RBX),
    ("rsi", RegisterId(4)),
    ("rdi", RegisterId(5)),
    ("rbp", RBP),
    ("rsp", RSP),
    ("r8", RegisterId(8)),
    ("r9", RegisterId(9)),
    ("r10", RegisterId(10)),
    ("r11", RegisterId(11)),
    ("r12", RegisterId(12)),
    ("r13", RegisterId(13)),
    ("r14", RegisterId(14)),
    ("r15", RegisterId(15)),
];

/// The order of `pr_reg`.
const USER_ORDER: &[&str] = &[
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi",
    "rdi", "orig_rax", "rip", "cs", "rflags", "rsp", "ss", "fsbase", "gsbase", "ds", "es", "fs",
    "gs",
];

/// The bit by which x32 marks the numbers of its system calls (Linux `include/uapi/asm/unistd.h`).
const X32: u64 = 1 << 30;

/// Bytes of the `syscall` instruction.
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// The registers of `pr_reg` in its order.
pub fn user_registers(bytes: &[u8], target: Target) -> Vec<UserRegister> {
    let mut cursor = Cursor::new(bytes, target);
    USER_ORDER
        .iter()
        .map_while(|name| cursor.u64().ok().map(|value| UserRegister { name, value }))
        .collect()
}

/// The registers from which a walk starts.
pub fn regs(bytes: &[u8], target: Target) -> Option<Regs> {
    let user = user_registers(bytes, target);
    let value = |wanted: &str| {
        user.iter().find(|register| register.name == wanted).map(|register| register.value)
    };
    let mut regs = Regs::new(Addr::new(value("rip")?));
    for (name, register) in NAMES {
        regs.set(*register, value(name));
    }
    Some(regs)
}

/// The number of the system call that the thread is in. `orig_rax` alone does not tell: it keeps
/// its value after the call returned, so the pc must stand behind the instruction.
pub fn system_call(bytes: &[u8], target: Target, space: &dyn AddressSpace) -> Option<u64> {
    let user = user_registers(bytes, target);
    let value = |wanted: &str| user.iter().find(|register| register.name == wanted);
    let number = value("orig_rax")?.value;
    let pc = Addr::new(value("rip")?.value);
    let mut before = [0; 2];
    space.read(pc.wrapping_offset(-2), &mut before).ok()?;
    (number.cast_signed() >= 0 && before == SYSCALL).then_some(number & !X32)
}

/// The bytes of `pr_reg`. A thread that is in no system call has -1 for `orig_rax`.
pub fn pr_reg(regs: &Regs, system_call: Option<u64>, thread_pointer: Option<Addr>) -> Vec<u8> {
    let number = |wanted: &str| NAMES.iter().find(|(name, _)| *name == wanted).map(|(_, id)| *id);
    let word = |name: &&str| match *name {
        "orig_rax" => system_call.unwrap_or(u64::MAX),
        "rip" => regs.pc().get(),
        "fsbase" => thread_pointer.map_or(0, Addr::get),
        name => number(name).and_then(|id| regs.get(id)).unwrap_or(0),
    };
    USER_ORDER.iter().flat_map(|name| word(name).to_le_bytes()).collect()
}

/// The system call that a signal interrupted, and where it returns to (Linux
/// `arch/x86/kernel/signal.c`, `handle_signal`).
pub fn interrupted_system_call(regs: &Regs, space: &dyn AddressSpace) -> Option<(u64, Addr)> {
    const RAX: RegisterId = RegisterId(0);
    const INTERRUPTED: u64 = (-4_i64).cast_unsigned();
    let (pc, rax) = (regs.pc(), regs.get(RAX)?);
    let mut here = [0; 2];
    space.read(pc, &mut here).ok()?;
    if here == SYSCALL {
        return Some((rax & !X32, pc.wrapping_offset(2)));
    }
    let number = system_call_in_code(pc, space).filter(|_| rax == INTERRUPTED)?;
    Some((number, pc))
}

/// The number in `mov $number,%eax; syscall`, as most wrappers of system calls have it, right before `pc`.
pub fn system_call_in_code(pc: Addr, space: &dyn AddressSpace) -> Option<u64> {
    const MOVE: u8 = 0xb8;
    let mut bytes = [0; 7];
    space.read(pc.wrapping_offset(-7), &mut bytes).ok()?;
    let [opcode, a, b, c, d, call @ ..] = bytes;
    let is_known = call == SYSCALL && opcode == MOVE;
    is_known.then(|| u64::from(u32::from_le_bytes([a, b, c, d])) & !X32)
}

/// A callee preserves rbx, rbp, rsp and r12 to r15, and no others.
pub fn forget_scratch(regs: &mut Regs) {
    for number in [0, 1, 2, 4, 5, 8, 9, 10, 11] {
        regs.forget(RegisterId(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_memory::{CODE, CodeMemory};

    #[test]
    fn pr_reg_is_read_in_the_kernels_order() {
        let bytes: Vec<u8> = (0..27_u64).flat_map(|word| word.to_le_bytes()).collect();
        let regs = regs(&bytes, Target::X86_64).unwrap();
        assert_eq!(regs.pc(), Addr::new(16));
        assert_eq!(regs.get(RSP), Some(19));
        assert_eq!(regs.get(RBP), Some(4));
        assert_eq!(regs.get(RBX), Some(5));
        assert_eq!(regs.get(RegisterId(5)), Some(14), "rdi");
        let user = user_registers(&bytes, Target::X86_64);
        assert_eq!((user[21].name, user[21].value), ("fsbase", 21));
    }

    #[test]
    fn pr_reg_is_written_as_it_is_read() {
        let bytes: Vec<u8> = (0..27_u64).flat_map(|word| word.to_le_bytes()).collect();
        let known = regs(&bytes, Target::X86_64).unwrap();
        let written = pr_reg(&known, Some(202), Some(Addr::new(7)));
        assert_eq!(regs(&written, Target::X86_64), Some(known));
        let user = user_registers(&written, Target::X86_64);
        assert_eq!((user[15].value, user[21].value), (202, 7));
    }

    #[test]
    fn registers_that_were_cut_off_are_missing() {
        assert_eq!(regs(&[0; 128], Target::X86_64), None);
        assert_eq!(user_registers(&[0; 15], Target::X86_64).len(), 1);
    }

    #[test]
    fn a_call_is_known_by_the_number_that_the_code_loads() {
        let number = |bytes: &[u8]| {
            let space = CodeMemory::new(kcore_mem::Arch::X86_64, bytes.to_vec());
            system_call_in_code(Addr::new(CODE + 7), &space)
        };
        // As `as` has it: mov $0xca,%eax; syscall.
        assert_eq!(number(&[0xb8, 0xca, 0, 0, 0, 0x0f, 0x05]), Some(202));
        // mov %rdi,%rax; nop; nop; syscall.
        assert_eq!(number(&[0x48, 0x89, 0xf8, 0x90, 0x90, 0x0f, 0x05]), None);
        assert_eq!(number(&[0xb8, 0xca, 0, 0, 0, 0x0f, 0x0b]), None);
    }
}
