//! The instructions that ran right before another, as far as nothing else can have led to it.

use std::collections::HashSet;

use kcore_disasm::{Disassembler, Flow, Instruction};
use kcore_mem::Addr;

use crate::{Core, CrashView, SymbolAt};

/// Bytes of the longest function that is read.
const MAX_FUNCTION: u64 = 1 << 14;
/// Parts of one function that lie elsewhere, at most.
const MAX_PARTS: usize = 4;
/// What compilers write into the name of a part of a function that they set apart, since it hardly ever runs.
const COLD: &str = ".cold";

/// Instructions in a row, each of which ran if the next one did.
pub struct StraightCode {
    /// The instructions, the first one first; the last ends where the code was asked for.
    pub instructions: Vec<Instruction>,
    /// Where its function begins, if the first one begins it and nothing jumps there.
    pub begins: Option<Addr>,
}

impl CrashView<'_> {
    /// The instructions that certainly ran before the one at `end`, in its function. `None` if the function is not
    /// known or too long, and if it jumps to addresses that its code does not state: they may lead anywhere.
    pub fn straight_code(self, disassembler: &Disassembler, end: Addr) -> Option<StraightCode> {
        self.straight_code_in(disassembler, end, end)
    }

    /// The same in the function that has the code at `within`: a call that does not come back may be the last instruction.
    pub(super) fn straight_code_in(
        self,
        disassembler: &Disassembler,
        within: Addr,
        end: Addr,
    ) -> Option<StraightCode> {
        let symbol = self.core.symbols().at(within).filter(|symbol| !symbol.is_only_nearest())?;
        let instructions = self.core.function_code(disassembler, &symbol)?;
        let mut targets = targets(&instructions)?;
        let parts = match symbol.name.split_once(COLD) {
            Some((whole, _)) => vec![self.core.function_of_part(disassembler, &symbol, whole)?],
            None => self.core.parts_elsewhere(&symbol, &targets)?,
        };
        for part in parts {
            targets.extend(self::targets(&self.core.function_code(disassembler, &part)?)?);
        }
        // Whatever leads to the place behind a call: who waits there came by the call.
        straight(instructions, &targets, symbol.start, (end, within != end))
    }
}

impl CrashView<'_> {
    /// All instructions of the function that begins at an address, with those of its parts that lie elsewhere. `None` as of
    /// [`straight_code`](Self::straight_code).
    pub(super) fn whole_code(
        self,
        disassembler: &Disassembler,
        start: Addr,
    ) -> Option<Vec<Instruction>> {
        let symbol = self.core.symbols().at(start).filter(|it| !it.is_only_nearest())?;
        (symbol.start == start).then_some(())?;
        let mut code = self.core.function_code(disassembler, &symbol)?;
        let targets = targets(&code)?;
        for part in self.core.parts_elsewhere(&symbol, &targets)? {
            code.extend(self.core.function_code(disassembler, &part)?);
        }
        Some(code)
    }
}

impl Core {
    /// All instructions of a function that is not too long.
    fn function_code(
        &self,
        disassembler: &Disassembler,
        function: &SymbolAt,
    ) -> Option<Vec<Instruction>> {
        let length = usize::try_from(function.size).ok()?;
        let mut code = (function.size <= MAX_FUNCTION).then(|| vec![0; length])?;
        let (read, _) = self.space().read_partial(function.start, &mut code);
        Some(disassembler.decode(function.start, code.get(..read)?, usize::MAX))
    }

    /// The function of a part that was set apart: it has the part's name, and jumps there.
    fn function_of_part(
        &self,
        disassembler: &Disassembler,
        part: &SymbolAt,
        name: &str,
    ) -> Option<SymbolAt> {
        let name = name.trim_end_matches(" [clone ");
        let whole = self.symbols().at(self.symbols().lookup(None, name).ok()?)?;
        let range = part.start..part.start.saturating_add(part.size);
        let jumps = targets(&self.function_code(disassembler, &whole)?)?;
        jumps.iter().any(|target| range.contains(target)).then_some(whole)
    }

    /// The parts of a function that lie elsewhere, and may jump back into it. `None` if it has too many.
    fn parts_elsewhere(
        &self,
        function: &SymbolAt,
        targets: &HashSet<Addr>,
    ) -> Option<Vec<SymbolAt>> {
        let mut parts: Vec<SymbolAt> = Vec::new();
        for target in targets {
            let Some(symbol) = self.symbols().at(*target) else { continue };
            let is_known = parts.iter().any(|part| part.start == symbol.start);
            // Other functions are jumped to at their beginning.
            let is_part = symbol.offset > 0 || symbol.name.contains(COLD);
            if symbol.start != function.start && is_part && !is_known {
                parts.push(symbol);
            }
        }
        (parts.len() <= MAX_PARTS).then_some(parts)
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
    (end, is_behind_call): (Addr, bool),
) -> Option<StraightCode> {
    let at = match instructions.iter().position(|instruction| instruction.addr == end) {
        Some(at) => at,
        None if instructions.last()?.end() == end => instructions.len(),
        None => return None,
    };
    instructions.truncate(at);
    let joins = |next: Addr| targets.contains(&next);
    let goes_on = |flow| matches!(flow, Flow::Next | Flow::CondJump(_) | Flow::Call(_));
    let is_broken = |it: &Instruction| {
        !goes_on(it.flow) || (joins(it.end()) && !(is_behind_call && it.end() == end))
    };
    let broken = instructions.iter().rposition(is_broken);
    let from = broken.map_or(0, |broken| broken.saturating_add(1));
    let begins = (from == 0 && !joins(start)).then_some(start);
    instructions.drain(..from);
    Some(StraightCode { instructions, begins })
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
        let found = straight(instructions, &targets, Addr::new(0x1000), (Addr::new(end), false))?;
        Some((found.instructions.len(), found.begins.is_some()))
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

    #[test]
    fn who_waits_behind_a_call_came_by_the_call() {
        use Flow::{Call, CondJump, Next};
        let behind = Addr::new(0x1003);
        let instructions = code(&[CondJump(Some(behind)), Next, Call(None)]);
        let targets = targets(&instructions).unwrap();
        let found = |is_behind_call| {
            let place = (behind, is_behind_call);
            straight(instructions.clone(), &targets, Addr::new(0x1000), place)
        };
        assert_eq!(found(true).unwrap().instructions.len(), 3);
        assert_eq!(found(false).unwrap().instructions.len(), 0);
    }
}
