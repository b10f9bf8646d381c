//! What the code before a call states for an argument of the function that it calls.

use kcore_disasm::{Disassembler, Instruction, RegisterWrite};
use kcore_mem::{Addr, Arch};

use super::trace::Trace;
use crate::{Core, Stack};

/// The registers of the first arguments (System V ABI for AMD64, section 3.2.3).
const ARGUMENTS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];
/// Bytes of a call that states its target, and of one by way of a table.
const CALLS: [i64; 2] = [5, 6];
/// Moves from register to register that are followed.
const MAX_MOVES: usize = 4;
/// Callers that handed an argument on.
const MAX_HANDED_ON: usize = 8;

impl Core {
    /// The number that the frame at an index of a stack passed as an argument of its call, or was passed itself and handed on.
    /// `None` if the code does not tell, or the frame is not certain.
    pub(crate) fn passed_number(&self, stack: &Stack, frame: usize, index: usize) -> Option<u64> {
        let register = ARGUMENTS.get(index).filter(|_| self.arch() == Arch::X86_64)?;
        let frames = self.stacks().known_frames(stack, frame.saturating_add(MAX_HANDED_ON));
        Trace::new(self, stack, &frames).number(frame, register)
    }

    /// The number or address that the code states for argument `index` of the call that returns to `back`; `None` of what it
    /// computes or loads.
    pub(crate) fn stated_argument(&self, back: Addr, index: usize) -> Option<u64> {
        let register = ARGUMENTS.get(index).filter(|_| self.arch() == Arch::X86_64)?;
        let disassembler = Disassembler::new(self.target()).ok()?;
        let mut calls = CALLS.into_iter().map(|length| back.wrapping_offset(length.wrapping_neg()));
        let code = calls.find_map(|call| self.crash().straight_code(&disassembler, call))?;
        let mut register = (*register).to_owned();
        let mut earlier = code.instructions.iter().rev();
        for _ in 0..MAX_MOVES {
            let write = |it: &Instruction| disassembler.write_to(it.addr, &it.bytes, &register);
            let (instruction, write) = earlier.find_map(|it| Some((it, write(it)?)))?;
            match write {
                RegisterWrite::Copied(from) => register = from,
                _ => return stated(instruction, &register),
            }
        }
        None
    }
}

/// What an instruction leaves in a register, if it states that.
fn stated(instruction: &Instruction, register: &str) -> Option<u64> {
    let (source, to) = instruction.operands.rsplit_once(',')?;
    let to = to.strip_prefix('%')?;
    if instruction.mnemonic.starts_with("lea") && to == register {
        return instruction.reference.map(Addr::get);
    }
    let is_move = instruction.mnemonic.starts_with("mov") && is_whole(to, register);
    let number = source.strip_prefix('$').filter(|_| is_move)?;
    match number.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => number.parse().ok(),
    }
}

/// Whether an instruction that writes to `name` leaves nothing else in a register: that of its lower half clears the upper
/// one.
fn is_whole(name: &str, register: &str) -> bool {
    let half = name.strip_prefix('e').is_some_and(|half| register.strip_prefix('r') == Some(half));
    name == register || half || name.strip_suffix('d') == Some(register)
}

#[cfg(test)]
mod tests {
    use kcore_disasm::Flow;

    use super::*;

    fn made(mnemonic: &str, operands: &str, reference: Option<u64>) -> Instruction {
        Instruction {
            addr: Addr::new(0x1000),
            bytes: vec![0x90],
            mnemonic: mnemonic.to_owned(),
            operands: operands.to_owned(),
            flow: Flow::Next,
            reference: reference.map(Addr::new),
        }
    }

    #[test]
    fn an_argument_is_a_number_or_an_address_that_the_code_states() {
        let rsi =
            |mnemonic, operands, reference| stated(&made(mnemonic, operands, reference), "rsi");
        assert_eq!(rsi("leaq", "0x12(%rip),%rsi", Some(0x2000)), Some(0x2000));
        assert_eq!(rsi("leaq", "0x12(%rsp),%rsi", None), None);
        assert_eq!(rsi("movl", "$0x402010,%esi", None), Some(0x0040_2010));
        assert_eq!(rsi("movl", "$12,%esi", None), Some(12));
        assert_eq!(rsi("movb", "$12,%sil", None), None);
        assert_eq!(stated(&made("movl", "$7,%r8d", None), "r8"), Some(7));
        assert_eq!(rsi("movq", "0x12(%rip),%rsi", Some(0x2000)), None, "what lies there");
        assert_eq!(rsi("xorl", "%esi,%esi", None), None);
    }
}
