//! Where a function keeps an argument: the one place that its code writes to once, when it begins.

use kcore_disasm::{Disassembler, Flow, Instruction, RegisterSum, RegisterWrite};
use kcore_mem::{AccessKind, Addr, AddrRange};

use super::trace::Trace;

/// Where a frame is taken to be while its instructions are looked at.
const FRAME: u64 = 1 << 40;
const WORD: i64 = 8;

/// The register that is the base of a frame in code that has one.
const FRAME_POINTER: &str = "rbp";
/// By these a function gives registers back to its caller, right before it returns.
const RESTORES: [&str; 2] = ["pop", "leave"];

/// What holds an argument while its function runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentHome {
    /// A register.
    Register(String),
    /// The word so many bytes behind the frame pointer.
    Slot(i64),
}

impl ArgumentHome {
    /// The place that an instruction loads from.
    pub fn loaded_from(write: &RegisterWrite) -> Option<Self> {
        match write {
            RegisterWrite::Loaded { base, displacement } if base == FRAME_POINTER => {
                Some(Self::Slot(*displacement))
            }
            _ => None,
        }
    }
}

impl Trace<'_> {
    /// The register in which the caller of a frame passed what a place holds, if the function moves that there when it begins
    /// and does nothing else to the place.
    pub(super) fn argument_in(&self, frame: usize, home: &ArgumentHome) -> Option<String> {
        let called = self.called_at(frame)?;
        let disassembler = self.disassembler.as_ref()?;
        let code = self.core.crash().whole_code(disassembler, called)?;
        let reader = HomeReader { disassembler, home };
        let mut writes = code.iter().filter(|it| reader.may_change(it));
        let first = match (writes.next(), writes.next(), home) {
            (Some(first), None, _) => first,
            // It is where the caller put it.
            (None, _, ArgumentHome::Register(name)) => return Some(name.clone()),
            _ => return None,
        };
        let entry = entry_of(&code, called);
        let at = entry.iter().position(|it| it.addr == first.addr)?;
        let from = reader.moved_from(first)?;
        let before = entry.get(..at)?;
        let is_kept = before.iter().all(|it| reader.write_to(it, &from).is_none());
        is_kept.then_some(from)
    }
}

/// The instructions that run whenever the function at an address begins, before any call.
fn entry_of(code: &[Instruction], start: Addr) -> &[Instruction] {
    let targets = |target: Addr| {
        code.iter().any(|it| match it.flow {
            Flow::Jump(to) | Flow::CondJump(to) => to == Some(target),
            _ => false,
        })
    };
    let from = code.iter().position(|it| it.addr == start).unwrap_or(code.len());
    let rest = code.get(from..).unwrap_or_default();
    let end = rest.iter().position(|it| it.flow != Flow::Next || targets(it.addr));
    rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
}

/// What instructions do to a place.
struct HomeReader<'a> {
    disassembler: &'a Disassembler,
    home: &'a ArgumentHome,
}

impl HomeReader<'_> {
    /// Whether an instruction writes to the place, or tells its address to something that may.
    fn may_change(&self, instruction: &Instruction) -> bool {
        match self.home {
            ArgumentHome::Register(name) => {
                let restores =
                    RESTORES.iter().any(|restore| instruction.mnemonic.starts_with(restore));
                !restores && self.write_to(instruction, name).is_some()
            }
            ArgumentHome::Slot(offset) => self.changes_slot(instruction, *offset),
        }
    }

    /// Whether an instruction writes to the slot, or to an element of what is in the frame, or computes the slot's address.
    fn changes_slot(&self, instruction: &Instruction, offset: i64) -> bool {
        let (at, bytes) = (instruction.addr, &instruction.bytes);
        let frame = |name: &str| Some(if name == FRAME_POINTER { FRAME } else { 0 });
        let operands = self.disassembler.memory_operands(at, bytes, &frame);
        let slot = AddrRange::new(
            Addr::new(FRAME).wrapping_offset(offset),
            Addr::new(FRAME).wrapping_offset(offset.saturating_add(WORD)),
        );
        let changes = operands.iter().any(|operand| {
            let is_of_frame = operand.base.as_ref().is_some_and(|it| it.name == FRAME_POINTER);
            let start = operand.access.addr;
            let overlaps =
                start < slot.end && start.saturating_add(operand.access.size) > slot.start;
            is_of_frame
                && operand.access.kind != AccessKind::Read
                && (overlaps || operand.index.is_some())
        });
        let address = format!("{}(%{FRAME_POINTER}),", spelled(offset));
        let is_address = instruction.mnemonic.starts_with("lea");
        changes || (is_address && instruction.operands.starts_with(&address))
    }

    /// The register that an instruction moves to the place.
    fn moved_from(&self, instruction: &Instruction) -> Option<String> {
        match self.home {
            ArgumentHome::Register(name) => match self.write_to(instruction, name)? {
                RegisterWrite::Copied(from) => Some(from),
                _ => None,
            },
            ArgumentHome::Slot(offset) => {
                let (to, from) =
                    self.disassembler.stored_register(instruction.addr, &instruction.bytes)?;
                let base = Some(FRAME_POINTER.to_owned());
                let slot = RegisterSum { base, index: None, displacement: *offset };
                (to == slot).then_some(from)
            }
        }
    }

    fn write_to(&self, instruction: &Instruction, register: &str) -> Option<RegisterWrite> {
        self.disassembler.write_to(instruction.addr, &instruction.bytes, register)
    }
}

/// A displacement as instructions spell it.
fn spelled(offset: i64) -> String {
    let digits = offset.unsigned_abs();
    let sign = if offset < 0 { "-" } else { "" };
    match digits {
        0 => String::new(),
        1..=9 => format!("{sign}{digits}"),
        _ => format!("{sign}{digits:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::Target;

    use super::*;

    fn code(bytes: &[u8]) -> (Disassembler, Vec<Instruction>) {
        let disassembler = Disassembler::new(Target::X86_64).unwrap();
        let code = disassembler.decode(Addr::new(0x1000), bytes, usize::MAX);
        (disassembler, code)
    }

    fn changes(bytes: &[u8], home: ArgumentHome) -> Vec<bool> {
        let (disassembler, code) = code(bytes);
        let reader = HomeReader { disassembler: &disassembler, home: &home };
        code.iter().map(|it| reader.may_change(it)).collect()
    }

    #[test]
    fn a_slot_is_changed_by_stores_and_by_who_is_told_its_address() {
        // mov %rdi,-0x18(%rbp); mov -0x18(%rbp),%rax; cmpq $0,-0x18(%rbp); lea -0x18(%rbp),%rax; mov %rdi,-0x10(%rbp)
        let bytes = [
            0x48, 0x89, 0x7d, 0xe8, 0x48, 0x8b, 0x45, 0xe8, 0x48, 0x83, 0x7d, 0xe8, 0, 0x48, 0x8d,
            0x45, 0xe8, 0x48, 0x89, 0x7d, 0xf0,
        ];
        let slot = ArgumentHome::Slot(-0x18);
        assert_eq!(changes(&bytes, slot.clone()), [true, false, false, true, false]);
        let (disassembler, code) = code(&bytes);
        let reader = HomeReader { disassembler: &disassembler, home: &slot };
        assert_eq!(reader.moved_from(&code[0]).as_deref(), Some("rdi"));
        assert_eq!(reader.moved_from(&code[4]), None);
    }

    #[test]
    fn a_register_is_given_back_to_the_caller_without_being_changed() {
        // push %rbx; mov %rdi,%rbx; add $1,%rbx; pop %rbx; ret
        let bytes = [0x53, 0x48, 0x89, 0xfb, 0x48, 0x83, 0xc3, 1, 0x5b, 0xc3];
        let home = ArgumentHome::Register("rbx".to_owned());
        assert_eq!(changes(&bytes, home), [false, true, true, false, false]);
    }

    #[test]
    fn a_function_has_begun_until_it_jumps_or_is_jumped_to() {
        // nop; nop; jmp -3 (to the second)
        let (_, code) = code(&[0x90, 0x90, 0xeb, 0xfd]);
        assert_eq!(entry_of(&code, Addr::new(0x1000)).len(), 1);
        assert_eq!(entry_of(&code, Addr::new(0x2000)).len(), 0);
    }
}
