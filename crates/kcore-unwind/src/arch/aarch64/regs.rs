//! Registers: their names, DWARF numbers (DWARF for the Arm 64-bit Architecture, 4.1), and their
//! order in `pr_reg` (`struct user_pt_regs`, Linux `arch/arm64/include/uapi/asm/ptrace.h`).

use kcore_mem::{Addr, AddressSpace, Cursor, Target};

use crate::{RegisterId, RegisterPart, Regs, UserRegister};

/// The frame pointer, by AAPCS64.
pub const X29: RegisterId = RegisterId(29);
/// The link register: where a function returns to, until it saves it.
pub const X30: RegisterId = RegisterId(30);
pub const SP: RegisterId = RegisterId(31);
pub const PC: RegisterId = RegisterId(32);

/// General registers by DWARF number.
pub const NAMES: &[(&str, RegisterId)] = &[
    ("x0", RegisterId(0)),
    ("x1", RegisterId(1)),
    ("x2", RegisterId(2)),
    ("x3", RegisterId(3)),
    ("x4", RegisterId(4)),
    ("x5", RegisterId(5)),
    ("x6", RegisterId(6)),
    ("x7", RegisterId(7)),
    ("x8", RegisterId(8)),
    ("x9", RegisterId(9)),
    ("x10", RegisterId(10)),
    ("x11", RegisterId(11)),
    ("x12", RegisterId(12)),
    ("x13", RegisterId(13)),
    ("x14", RegisterId(14)),
    ("x15", RegisterId(15)),
    ("x16", RegisterId(16)),
    ("x17", RegisterId(17)),
    ("x18", RegisterId(18)),
    ("x19", RegisterId(19)),
    ("x20", RegisterId(20)),
    ("x21", RegisterId(21)),
    ("x22", RegisterId(22)),
    ("x23", RegisterId(23)),
    ("x24", RegisterId(24)),
    ("x25", RegisterId(25)),
    ("x26", RegisterId(26)),
    ("x27", RegisterId(27)),
    ("x28", RegisterId(28)),
    ("x29", X29),
    ("x30", X30),
    ("sp", SP),
];

/// What of `pr_reg` has no DWARF number of its own, behind those that have.
const BEHIND: [&str; 2] = ["pc", "pstate"];

/// `svc #0`.
const SVC: u32 = 0xd400_0001;

/// The registers of `pr_reg` in its order.
pub fn user_registers(bytes: &[u8], target: Target) -> Vec<UserRegister> {
    let mut cursor = Cursor::new(bytes, target);
    let names = NAMES.iter().map(|(name, _)| *name).chain(BEHIND);
    names.map_while(|name| cursor.u64().ok().map(|value| UserRegister { name, value })).collect()
}

/// The registers from which a walk starts.
pub fn regs(bytes: &[u8], target: Target) -> Option<Regs> {
    let user = user_registers(bytes, target);
    let pc = user.get(NAMES.len())?.value;
    let mut regs = Regs::new(Addr::new(pc));
    for ((_, register), saved) in NAMES.iter().zip(&user) {
        regs.set(*register, Some(saved.value));
    }
    Some(regs)
}

/// The number of the system call that the thread is in: its pc stands behind the instruction, or,
/// where a signal broke into a call that goes on afterwards, at it (Linux
/// `arch/arm64/kernel/signal.c`, `do_signal`).
pub fn system_call(bytes: &[u8], target: Target, space: &dyn AddressSpace) -> Option<u64> {
    let user = user_registers(bytes, target);
    let value = |wanted: &str| user.iter().find(|register| register.name == wanted);
    let pc = Addr::new(value("pc")?.value);
    let is_call = |at: Addr| space.read_uint(at, 4) == Ok(u64::from(SVC));
    (is_call(pc.wrapping_offset(-4)) || is_call(pc)).then_some(value("x8")?.value)
}

/// The bytes of `pr_reg`.
pub fn pr_reg(regs: &Regs) -> Vec<u8> {
    let known = NAMES.iter().map(|(_, register)| regs.get(*register).unwrap_or(0));
    known.chain([regs.pc().get(), 0]).flat_map(u64::to_le_bytes).collect()
}

/// The system call that a signal interrupted, and where it returns to. Its number stays in x8.
pub fn interrupted_system_call(regs: &Regs, space: &dyn AddressSpace) -> Option<(u64, Addr)> {
    const INTERRUPTED: u64 = (-4_i64).cast_unsigned();
    let (pc, number) = (regs.pc(), regs.get(RegisterId(8))?);
    let is_call = |at: Addr| space.read_uint(at, 4) == Ok(u64::from(SVC));
    if is_call(pc) {
        return Some((number, pc.wrapping_offset(4)));
    }
    let failed = regs.get(RegisterId(0)) == Some(INTERRUPTED);
    (failed && is_call(pc.wrapping_offset(-4))).then_some((number, pc))
}

/// The number in `mov x8, #number` and `svc #0`, the second of which stands at `pc` or right before it.
pub fn system_call_in_code(pc: Addr, space: &dyn AddressSpace) -> Option<u64> {
    /// `movz x8, #0`, and the bits of its immediate.
    const MOVE: u64 = 0xd280_0008;
    const IMMEDIATE: u64 = 0x1f_ffe0;
    let word = |at: Addr| space.read_uint(at, 4).ok();
    let is_call = |at: &Addr| word(*at) == Some(u64::from(SVC));
    let call = [pc.wrapping_offset(-4), pc].into_iter().find(is_call)?;
    let before = word(call.wrapping_offset(-4))?;
    (before & !IMMEDIATE == MOVE).then_some((before & IMMEDIATE) >> 5)
}

/// A callee preserves x19 to x29 and sp, and no others: not x30, which its own call overwrote.
pub fn forget_scratch(regs: &mut Regs) {
    for number in (0..=18).chain([X30.0]) {
        regs.forget(RegisterId(number));
    }
}

/// The other names of registers: `fp`, `lr`, and the lower halves `w0` to `w30` and `wsp`.
pub fn part_of(name: &str) -> Option<RegisterPart> {
    let whole = |wanted: &str| NAMES.iter().map(|(name, _)| *name).find(|name| *name == wanted);
    match name {
        "fp" => Some(RegisterPart { whole: "x29", shift: 0, bits: 64 }),
        "lr" => Some(RegisterPart { whole: "x30", shift: 0, bits: 64 }),
        "wsp" => Some(RegisterPart { whole: "sp", shift: 0, bits: 32 }),
        _ => {
            let number = name.strip_prefix('w')?;
            let whole = whole(&format!("x{number}"))?;
            Some(RegisterPart { whole, shift: 0, bits: 32 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_memory::{CODE, CodeMemory};

    const TARGET: Target = Target { arch: kcore_mem::Arch::Aarch64, ..Target::X86_64 };

    #[test]
    fn pr_reg_is_read_in_the_kernels_order() {
        let bytes: Vec<u8> = (0..34_u64).flat_map(|word| word.to_le_bytes()).collect();
        let regs = regs(&bytes, TARGET).unwrap();
        assert_eq!(regs.pc(), Addr::new(32));
        assert_eq!((regs.get(X29), regs.get(X30), regs.get(SP)), (Some(29), Some(30), Some(31)));
        let user = user_registers(&bytes, TARGET);
        assert_eq!((user[33].name, user[33].value), ("pstate", 33));
    }

    #[test]
    fn registers_without_the_pc_start_no_walk() {
        assert_eq!(regs(&[0; 32 * 8], TARGET), None);
    }

    #[test]
    fn other_names_mean_registers_or_their_lower_halves() {
        let of = |name| part_of(name).map(|part| (part.whole, part.bits));
        assert_eq!(of("lr"), Some(("x30", 64)));
        assert_eq!(of("w19"), Some(("x19", 32)));
        assert_eq!(of("wsp"), Some(("sp", 32)));
        assert_eq!((of("w31"), of("w"), of("x0")), (None, None, None));
    }

    #[test]
    fn a_call_is_known_by_the_number_that_the_code_loads() {
        let number = |words: [u32; 2], pc: u64| {
            let bytes = words.into_iter().flat_map(u32::to_le_bytes).collect();
            let space = CodeMemory::new(kcore_mem::Arch::Aarch64, bytes);
            system_call_in_code(Addr::new(CODE + pc), &space)
        };
        // As `as` has it: mov x8, #98; svc #0. A signal sets the pc back to the call.
        assert_eq!(number([0xd280_0c48, SVC], 8), Some(98));
        assert_eq!(number([0xd280_0c48, SVC], 4), Some(98));
        // mov x8, x0, and mov x7, #98.
        assert_eq!(number([0xaa00_03e8, SVC], 8), None);
        assert_eq!(number([0xd280_0c47, SVC], 8), None);
    }
}
