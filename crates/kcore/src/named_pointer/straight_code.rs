//! The instructions that ran right before another, as far as nothing else can have led to it.

use std::collections::HashSet;

use kcore_disasm::{Disassembler, Flow, Instruction};
use kcore_mem::Addr;

use crate::Core;

/// Bytes of the longest function that is read.
const MAX_FUNCTION: u64 = 1 << 16;

/// Instructions in a row, each of which ran if the next one did.
pub struct StraightCode {
    /// The instructions, the first one first; the last ends where the code was asked for.
    pub instructions: Vec<Instruction>,
    /// Whether the first one begins the function.
    pub begins_function: bool,
}

impl Core {
    /// The instructions that certainly ran before the one at `end`, in its function. `None` if the function is not
    /// known or too long, and if it jumps to addresses that its code does not state: they may lead anywhere.
    pub fn straight_code(&self, disassembler: &Disassembler, end: Addr) -> Option<StraightCode> {
        let symbol = self.symbol_at(end).filter(|symbol| !symbol.is_only_nearest())?;
        let length = usize::try_from(symbol.size).ok().filter(|_| symbol.size <= MAX_FUNCTION)?;
        let mut code = vec![0; length];
        let (read, _) = self.space().read_partial(symbol.start, &mut code);
        let code = code.get(..read)?;
        let instructions = disassembler.decode(symbol.start, code, usize::MAX);
        let targets = targets(&instructions)?;
        straight(instructions, &targets, symbol.start, end)
    }
}

/// Where the jumps of a function go; `None` if one does not state it.
fn targets(instructions: &[Instruction]) -> Option<HashSet<Addr>> {
    let jumps = instructions.iter().filter_map(|instruction| match instruction.flow {
        Flow::Jump(target) | Flow::CondJump(target) => Some(target),
        Flow::Next | Flow::Call(_) | Flow::Return | Flow::Trap => None,
    });
    jumps.collect()
}

fn straight(
    mut instructions: Vec<Instruction>,
    targets: &HashSet<Addr>,
    start: Addr,
    end: Addr,
) -> Option<StraightCode> {
    let at = match instructions.iter().position(|instruction| instruction.addr == end) {
        Some(at) => at,
        None if instructions.last()?.end() == end => instructions.len(),
        None => return None,
    };
    instructions.truncate(at);
    let joins = |next: Addr| targets.contains(&next);
    let goes_on = |flow| matches!(flow, Flow::Next | Flow::CondJump(_) | Flow::Call(_));
    let is_broken = |it: &Instruction| !goes_on(it.flow) || joins(it.end());
    let broken = instructions.iter().rposition(is_broken);
    let from = broken.map_or(0, |broken| broken.saturating_add(1));
    let begins_function = from == 0 && !joins(start);
    instructions.drain(..from);
    Some(StraightCode { instructions, begins_function })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `flow` of each of some instructions of one byte.
    fn code(flows: &[Flow]) -> Vec<Instruction> {
        let at = |index: usize| Addr::new(0x1000 + index as u64);
        let made = flows.iter().enumerate().map(|(index, flow)| Instruction {
            addr: at(index),
            bytes: vec![0x90],
            mnemonic: "nop".to_owned(),
            operands: String::new(),
            flow: *flow,
            reference: None,
        });
        made.collect()
    }

    fn from_and_begin(flows: &[Flow], end: u64) -> Option<(usize, bool)> {
        let instructions = code(flows);
        let targets = targets(&instructions)?;
        let found = straight(instructions, &targets, Addr::new(0x1000), Addr::new(end))?;
        Some((found.instructions.len(), found.begins_function))
    }

    #[test]
    fn code_is_straight_from_the_last_place_where_ways_join() {
        use Flow::{Call, CondJump, Jump, Next, Return};
        let to = |at| Some(Addr::new(at));
        assert_eq!(from_and_begin(&[Next, Call(None), Next], 0x1002), Some((2, true)));
        assert_eq!(
            from_and_begin(&[Next, CondJump(to(0x1003)), Next, Next], 0x1003),
            Some((0, false))
        );
        assert_eq!(
            from_and_begin(&[Next, CondJump(to(0x1003)), Next, Next], 0x1002),
            Some((2, true))
        );
        assert_eq!(from_and_begin(&[Jump(to(0x1002)), Next, Next, Next], 0x1003), Some((1, false)));
        assert_eq!(from_and_begin(&[Return, Next, Next], 0x1002), Some((1, false)));
        assert_eq!(from_and_begin(&[Next, Jump(to(0x1000))], 0x1001), Some((1, false)), "a loop");
        assert_eq!(from_and_begin(&[Next, Next, Jump(None)], 0x1001), None, "jumps anywhere");
        assert_eq!(from_and_begin(&[Next, Next], 0x1002), Some((2, true)), "behind the last");
        assert_eq!(from_and_begin(&[Next, Next], 0x1009), None, "no instruction begins there");
    }
}
