//! Following the code of a function that changes stacks.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::decode::{Decoded, MAX_LEN, decode, is_call};
use crate::{
    RegisterId,
    switch::{Followed, MAX_BEFORE, MAX_STEPS, Source, Switch, Value},
};

/// The longest call is this long, the shortest two bytes.
const LONGEST_CALL: u64 = 8;

const RAX: u16 = 0;
const RDX: u16 = 2;
const RSP: u16 = 4;
const RBP: u16 = 5;
/// The index field of a SIB byte that names none.
const NO_INDEX: u16 = 4 << 3;
/// Registers that a callee need not preserve, by their numbers in machine code.
const SCRATCH: [u16; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];
/// Registers that it preserves, with their DWARF numbers.
const PRESERVED: [(u16, RegisterId); 6] = [
    (3, RegisterId(3)),
    (5, RegisterId(6)),
    (12, RegisterId(12)),
    (13, RegisterId(13)),
    (14, RegisterId(14)),
    (15, RegisterId(15)),
];
/// A call pushes so many bytes.
const WORD: i64 = 8;

/// What the call before `returns_to` leaves of its caller, if it changes stacks. `caller` is the function that
/// called, as far as it is known.
pub fn switch_before(
    returns_to: Addr,
    caller: Option<AddrRange>,
    space: &dyn AddressSpace,
) -> Option<Switch> {
    let calls = (2..=LONGEST_CALL).rev().filter_map(|len| {
        let at = Addr::new(returns_to.get().checked_sub(len)?);
        let call = instruction(at, space)?;
        (is_call(&call) && call.len as u64 == len).then_some((at, call))
    });
    let mut targets = calls.filter_map(|(at, call)| target_of(at, &call, caller, space));
    targets.find_map(|function| follow(function, space))
}

fn instruction(at: Addr, space: &dyn AddressSpace) -> Option<Decoded> {
    let mut bytes = [0; MAX_LEN];
    let (read, _) = space.read_partial(at, &mut bytes);
    decode(bytes.get(..read)?)
}

/// What a call calls: where it goes through a register, the code before it tells.
fn target_of(
    at: Addr,
    call: &Decoded,
    caller: Option<AddrRange>,
    space: &dyn AddressSpace,
) -> Option<Addr> {
    let next = at.checked_add(call.len as u64)?;
    if call.opcode == 0xe8 {
        return Some(next.wrapping_offset(call.immediate));
    }
    let mut code = Code { state: Followed::at_entry(space, RSP), next };
    if !is_relative(call) {
        code.run_to(caller.filter(|caller| caller.start <= at)?.start, at)?;
        code.next = next;
    }
    code.operand(call).addr()
}

/// Follows a function to its end, or to where it is not known how it goes on.
fn follow(function: Addr, space: &dyn AddressSpace) -> Option<Switch> {
    let mut code = Code { state: Followed::at_entry(space, RSP), next: function };
    code.state.store(Value::register(RSP), Value { of: Source::Return, plus: 0 });
    for _ in 0..MAX_STEPS {
        let Some(found) = instruction(code.next, space) else { break };
        code.next = code.next.checked_add(found.len as u64)?;
        if code.step(&found).is_none() {
            break;
        }
    }
    code.state.switch(function, WORD, &PRESERVED)
}

/// Whether a memory operand is relative to the next instruction.
fn is_relative(found: &Decoded) -> bool {
    found.modrm.is_some_and(|modrm| modrm & 0xc7 == 5)
}

/// Code that is followed.
struct Code<'a> {
    state: Followed<'a>,
    /// The instruction behind the one that is looked at.
    next: Addr,
}

impl Code<'_> {
    /// Follows the code from `start` to `end` in the order of its addresses.
    fn run_to(&mut self, start: Addr, end: Addr) -> Option<()> {
        self.next = start;
        for _ in 0..MAX_BEFORE {
            if self.next >= end {
                break;
            }
            let found = instruction(self.next, self.state.space())?;
            self.next = self.next.checked_add(found.len as u64)?;
            let next = self.next;
            // What branches do is not asked: code before a call leads to it.
            let _ends = self.step(&found);
            self.next = next;
        }
        (self.next == end).then_some(())
    }

    /// What an instruction does; `None` where the function ends, or goes where nobody knows.
    fn step(&mut self, found: &Decoded) -> Option<()> {
        match found.map {
            0 => self.plain(found),
            1 => self.extended(found),
            _ => Some(()),
        }
    }

    fn plain(&mut self, found: &Decoded) -> Option<()> {
        match found.opcode {
            0x50..=0x57 => self.push(self.state.get(low_register(found))),
            0x58..=0x5f => self.pop(low_register(found)),
            0x68 | 0x6a => self.push(Value::number(found.immediate.cast_unsigned())),
            0x89 if found.is_wide() => self.put(found, self.state.get(reg(found))),
            0x8b if found.is_wide() => {
                let value = self.operand(found);
                self.state.set(reg(found), value);
            }
            0x8d if found.is_wide() => {
                let at = self.address(found);
                self.state.set(reg(found), at);
            }
            0x81 | 0x83 => return self.arithmetic(found),
            0x87 if found.is_wide() => self.exchange(found),
            0xc7 if found.is_wide() => {
                self.put(found, Value::number(found.immediate.cast_unsigned()));
            }
            0xc9 => {
                self.state.set(RSP, self.state.get(RBP));
                self.pop(RBP);
            }
            0xe8 => self.call(),
            0xe9 | 0xeb => self.next = self.next.wrapping_offset(found.immediate),
            0xc2 | 0xc3 | 0xca | 0xcb | 0xcc | 0xf4 => return None,
            0xff => return self.indirect(found),
            _ => return self.other(found),
        }
        Some(())
    }

    /// Calls, jumps and pushes through an operand, `inc` and `dec`.
    fn indirect(&mut self, found: &Decoded) -> Option<()> {
        match found.reg_field() {
            2 | 3 => self.call(),
            4 => self.next = self.operand(found).addr()?,
            6 => {
                let value = self.operand(found);
                self.push(value);
            }
            _ => return self.forget_written(found),
        }
        Some(())
    }

    /// `add`, `sub`, `cmp` and the like with a number.
    fn arithmetic(&mut self, found: &Decoded) -> Option<()> {
        let by = match found.reg_field() {
            0 => found.immediate,
            5 => found.immediate.wrapping_neg(),
            7 => return Some(()),
            _ => return self.forget_written(found),
        };
        if !found.rm_is_register() || !found.is_wide() {
            return self.forget_written(found);
        }
        self.state.set(rm(found), self.state.get(rm(found)).plus(by));
        Some(())
    }

    fn exchange(&mut self, found: &Decoded) {
        let (theirs, own) = (self.operand(found), self.state.get(reg(found)));
        self.put(found, own);
        self.state.set(reg(found), theirs);
    }

    /// All else: what it may write is not known any more.
    fn other(&mut self, found: &Decoded) -> Option<()> {
        match found.opcode {
            // cmp, test; jumps that may not be taken; nop; floating point.
            0x38..=0x3d | 0x84 | 0x85 | 0xa8 | 0xa9 | 0x70..=0x7f | 0x90 | 0xd8..=0xdf => {}
            0xf6 | 0xf7 if found.reg_field() < 2 => {}
            0xf6 | 0xf7 if found.reg_field() > 3 => self.forget_all(&[RAX, RDX]),
            0x00..=0x3f if matches!(found.opcode & 7, 2 | 3) => return self.forget(reg(found)),
            0x00..=0x3f if matches!(found.opcode & 7, 4 | 5) => return self.forget(RAX),
            0x63 | 0x69 | 0x6b | 0x8a | 0x8b | 0x8d => return self.forget(reg(found)),
            0x91..=0x97 | 0xb0..=0xbf => return self.forget(low_register(found)),
            0x98 | 0x99 => self.forget_all(&[RAX, RDX]),
            0xa4..=0xa7 | 0xaa..=0xaf => self.forget_all(&SCRATCH),
            _ => return self.forget_written(found),
        }
        Some(())
    }

    /// Instructions whose opcode has two bytes.
    fn extended(&mut self, found: &Decoded) -> Option<()> {
        match found.opcode {
            // syscall, rdtsc, cpuid.
            0x05 | 0x31 | 0xa2 => self.forget_all(&SCRATCH),
            0x0b => return None,
            // cmov, imul, movzx, movsx, bit scans, and moves from vectors.
            0x2c | 0x2d | 0x40..=0x4f | 0x50 | 0xaf | 0xb6..=0xb9 | 0xbb..=0xbf | 0xd7 => {
                return self.forget(reg(found));
            }
            // rdsspq, movq, setcc, shifts, bit tests that write, cmpxchg, xadd.
            0x1e if found.reg_field() == 1 => return self.forget_written(found),
            0x7e | 0x90..=0x9f | 0xa4 | 0xa5 | 0xab..=0xad | 0xb0..=0xb3 | 0xc0 | 0xc1 => {
                return self.forget_written(found);
            }
            _ => {}
        }
        Some(())
    }

    /// The value of the operand that ModRM names.
    fn operand(&mut self, found: &Decoded) -> Value {
        if found.rm_is_register() {
            return self.state.get(rm(found));
        }
        let at = self.address(found);
        self.state.load(at)
    }

    /// Writes to the operand that ModRM names.
    fn put(&mut self, found: &Decoded, value: Value) {
        if found.rm_is_register() {
            return self.state.set(rm(found), value);
        }
        let at = self.address(found);
        self.state.store(at, value);
    }

    /// The address of a memory operand. With an index register nobody knows.
    fn address(&mut self, found: &Decoded) -> Value {
        let mode = found.modrm.unwrap_or_default() >> 6;
        if is_relative(found) {
            return Value::number(self.next.wrapping_offset(found.displacement).get());
        }
        let extension = u16::from(found.rex & 1) << 3;
        let base = match found.has_sib {
            true if u16::from(found.sib) & 0x38 != NO_INDEX || found.rex & 2 != 0 => None,
            true if mode == 0 && found.sib & 7 == 5 => None,
            true => Some(u16::from(found.sib & 7) | extension),
            false => Some(rm(found)),
        };
        match base {
            Some(base) => self.state.get(base).plus(found.displacement),
            None => self.state.unknown(),
        }
    }

    fn push(&mut self, value: Value) {
        let at = self.state.get(RSP).plus(WORD.wrapping_neg());
        self.state.set(RSP, at);
        self.state.store(at, value);
    }

    fn pop(&mut self, register: u16) {
        let at = self.state.get(RSP);
        let value = self.state.load(at);
        self.state.set(RSP, at.plus(WORD));
        self.state.set(register, value);
    }

    fn call(&mut self) {
        self.forget_all(&SCRATCH);
    }

    fn forget_all(&mut self, registers: &[u16]) {
        registers.iter().for_each(|register| self.state.forget(*register));
    }

    /// Something else is in a register; `None` if it is the stack pointer: that may be of the same stack still.
    fn forget(&mut self, register: u16) -> Option<()> {
        (register != RSP).then(|| self.state.forget(register))
    }

    fn forget_written(&mut self, found: &Decoded) -> Option<()> {
        if found.rm_is_register() {
            return self.forget(rm(found));
        }
        let (at, value) = (self.address(found), self.state.unknown());
        self.state.store(at, value);
        Some(())
    }
}

fn reg(found: &Decoded) -> u16 {
    found.reg_register().into()
}

fn rm(found: &Decoded) -> u16 {
    found.rm_register().into()
}

/// The register that the lowest bits of an opcode name.
fn low_register(found: &Decoded) -> u16 {
    u16::from(found.opcode & 7) | (u16::from(found.rex & 1) << 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        code_memory::{CODE as FUNCTION, CodeMemory},
        switch::SaveSlot,
    };
    use kcore_mem::Arch;

    const CALLER: u64 = FUNCTION + 0x100;

    /// A function, and behind it a caller.
    fn memory(function: &[u8], caller: &[u8]) -> CodeMemory {
        let mut bytes = function.to_vec();
        bytes.resize((CALLER - FUNCTION) as usize, 0xcc);
        bytes.extend_from_slice(caller);
        CodeMemory::new(Arch::X86_64, bytes)
    }

    /// What a call of a function leaves: encodings by GNU as.
    fn left_by(function: &[u8]) -> Option<Switch> {
        // call FUNCTION
        let call = [0xe8, 0xfb, 0xfe, 0xff, 0xff];
        switch_before(Addr::new(CALLER + 5), None, &memory(function, &call))
    }

    /// `mov %rsp,104(%rdi); mov %rbx,96(%rdi); mov (%rsp),%rax; mov %rax,72(%rdi); mov %rbp,48(%rdi); mov
    /// 104(%rsi),%rsp; mov 96(%rsi),%rbx; ret`
    const BESIDE: [u8; 29] = [
        0x48, 0x89, 0x67, 0x68, 0x48, 0x89, 0x5f, 0x60, 0x48, 0x8b, 0x04, 0x24, 0x48, 0x89, 0x47,
        0x48, 0x48, 0x89, 0x6f, 0x30, 0x48, 0x8b, 0x66, 0x68, 0x48, 0x8b, 0x5e, 0x60, 0xc3,
    ];
    const RBX: RegisterId = RegisterId(3);
    const RBP: RegisterId = RegisterId(6);

    #[test]
    fn registers_beside_the_stack_have_their_places() {
        let switch = left_by(&BESIDE).unwrap();
        assert_eq!(switch.function, Addr::new(FUNCTION));
        assert_eq!((switch.stack_pointer, switch.returns), (-8, SaveSlot::OnStack(-8)));
        assert_eq!(switch.pcs, [72 - 104]);
        let places = [(RBX, SaveSlot::Beside(96 - 104)), (RBP, SaveSlot::Beside(48 - 104))];
        assert_eq!(switch.registers, places);
        assert_eq!(switch.lowest(), 48 - 104);
        let slot = Addr::new(0x7000);
        let saved = Addr::new(0x9ff8);
        assert_eq!(switch.caller_stack_pointer(saved), Some(Addr::new(0xa000)));
        assert_eq!(switch.resolve(switch.returns, slot, saved), Some(saved));
        assert_eq!(switch.resolve(places[0].1, slot, saved), Some(Addr::new(0x6ff8)));
    }

    #[test]
    fn registers_on_the_stack_have_their_places() {
        // push %rbp; push %r12; mov %rsp,(%rdi); mov (%rsi),%rsp; pop %r12; pop %rbp; ret
        let code = [0x55, 0x41, 0x54, 0x48, 0x89, 0x27, 0x48, 0x8b, 0x26, 0x41, 0x5c, 0x5d, 0xc3];
        let switch = left_by(&code).unwrap();
        assert_eq!((switch.stack_pointer, switch.returns), (-24, SaveSlot::OnStack(-8)));
        let places = [(RBP, SaveSlot::OnStack(-16)), (RegisterId(12), SaveSlot::OnStack(-24))];
        assert_eq!(switch.registers, places);
        assert!(switch.pcs.is_empty());
    }

    #[test]
    fn a_structure_may_be_written_as_if_it_were_the_stack() {
        // lea 8(%rsp),%rax; lea 112(%rdi),%rsp; push %rax; push %rbx; push -8(%rax); push %rbp; mov %rsi,%rsp; pop
        // %rbp; ret
        let code = [
            0x48, 0x8d, 0x44, 0x24, 0x08, 0x48, 0x8d, 0x67, 0x70, 0x50, 0x53, 0xff, 0x70, 0xf8,
            0x55, 0x48, 0x89, 0xf4, 0x5d, 0xc3,
        ];
        let switch = left_by(&code).unwrap();
        assert_eq!((switch.stack_pointer, switch.returns), (0, SaveSlot::OnStack(-8)));
        assert_eq!(switch.registers, [(RBX, SaveSlot::Beside(-8)), (RBP, SaveSlot::Beside(-24))]);
        assert_eq!(switch.pcs, [-16]);
    }

    #[test]
    fn a_function_that_stays_on_its_stack_is_no_switch() {
        // push %rbp; mov %rsp,%rbp; mov %rsp,8(%rdi); sub %rax,%rsp; leave; ret
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0x67, 0x08, 0x48, 0x29, 0xc4, 0xc9, 0xc3];
        assert_eq!(left_by(&code), None);
        // mov (%rsi),%rsp; ret: it leaves nothing behind.
        assert_eq!(left_by(&[0x48, 0x8b, 0x26, 0xc3]), None);
        assert_eq!(left_by(&[]), None);
    }

    #[test]
    fn a_switch_may_be_called_through_a_variable() {
        // mov 2(%rip),%rdx; call *%rdx; the variable
        let mut code = vec![0x48, 0x8b, 0x15, 0x02, 0, 0, 0, 0xff, 0xd2];
        code.extend_from_slice(&FUNCTION.to_le_bytes());
        let memory = memory(&BESIDE, &code);
        let caller = AddrRange::with_len(Addr::new(CALLER), 9);
        let switch = switch_before(Addr::new(CALLER + 9), Some(caller), &memory).unwrap();
        assert_eq!(switch, left_by(&BESIDE).unwrap());
        assert_eq!(switch_before(Addr::new(CALLER + 9), None, &memory), None);
    }
}
