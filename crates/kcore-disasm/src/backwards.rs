//! Reading code backwards: the instructions before an address, and whether one of them called.

use kcore_mem::Addr;

use crate::{Disassembler, Instruction};

/// Bytes looked at for the instructions before an address, at most.
const MAX_WINDOW: usize = 4096;

impl Disassembler {
    /// The `n` instructions that end exactly at `addr`, lowest first; fewer when there are not as
    /// many. `before` are the bytes up to `addr`. When the function that holds `addr` is known to
    /// begin at `function`, decoding begins there. Otherwise instruction boundaries are a guess:
    /// those on which most ways of decoding agree.
    pub fn backwards(
        &self,
        addr: Addr,
        before: &[u8],
        n: usize,
        function: Option<Addr>,
    ) -> Vec<Instruction> {
        let known = function.and_then(|function| self.function_code(addr, before, function));
        let mut instructions = known.unwrap_or_else(|| self.guess(addr, before, n));
        let surplus = instructions.len().saturating_sub(n);
        instructions.drain(..surplus);
        instructions
    }

    /// Whether a call instruction ends at `ret`, as it must if `ret` is a return address. `before`
    /// are the bytes up to `ret`. Chance bytes may look like a call.
    pub fn is_call_before(&self, ret: Addr, before: &[u8]) -> bool {
        let machine = self.machine();
        (machine.shortest()..=machine.longest()).any(|len| {
            let start = before.len().checked_sub(len);
            let code = start.and_then(|start| before.get(start..)).unwrap_or_default();
            let addr = ret.wrapping_offset(0_i64.saturating_sub_unsigned(len as u64));
            self.length_and_flow(addr, code).is_some_and(|(got, flow)| got == len && flow.is_call())
        })
    }

    /// All instructions from the beginning of the function, if they lead to `addr`.
    fn function_code(&self, addr: Addr, before: &[u8], function: Addr) -> Option<Vec<Instruction>> {
        let len = usize::try_from(addr.offset_from(function)?).ok()?;
        let code = before.get(before.len().checked_sub(len)?..)?;
        let instructions = self.decode(function, code, usize::MAX);
        let ends = instructions.last().is_some_and(|last| last.end() == addr);
        ends.then_some(instructions)
    }

    fn guess(&self, addr: Addr, before: &[u8], n: usize) -> Vec<Instruction> {
        let window = n.saturating_mul(self.machine().longest()).min(MAX_WINDOW).min(before.len());
        let code = before.get(before.len().saturating_sub(window)..).unwrap_or_default();
        let start = addr.wrapping_offset(0_i64.saturating_sub_unsigned(code.len() as u64));
        let boundaries = self.agreed_boundaries(start, code);
        let instructions = boundaries.into_iter().map(|at| {
            let addr = start.wrapping_offset(i64::try_from(at).unwrap_or(i64::MAX));
            self.decode_one(addr, code.get(at..).unwrap_or_default())
        });
        instructions.collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Offsets in `code` of a chain of instructions that ends at the end of `code`. From the end
    /// on, each step back goes to the instruction that most chains lead through: decoding that
    /// began at a wrong byte falls into step soon.
    fn agreed_boundaries(&self, start: Addr, code: &[u8]) -> Vec<usize> {
        let step = self.machine().shortest();
        let lengths: Vec<usize> = (0..code.len())
            .map(|at| {
                let aligned = code.len().saturating_sub(at).is_multiple_of(step);
                let addr = start.wrapping_offset(i64::try_from(at).unwrap_or(i64::MAX));
                let code = code.get(at..).filter(|_| aligned);
                code.and_then(|code| self.length_and_flow(addr, code)).map_or(0, |(len, _)| len)
            })
            .collect();
        let support = support(&lengths);
        let mut chain = Vec::new();
        let mut end = code.len();
        while let Some(at) = best_before(end, &lengths, &support, self.machine().longest()) {
            chain.push(at);
            end = at;
        }
        chain.reverse();
        chain
    }
}

/// For each offset, how many chains of instructions lead through it, given the length of the
/// instruction at each offset (0: none).
fn support(lengths: &[usize]) -> Vec<u32> {
    let mut support = vec![0_u32; lengths.len()];
    for (at, len) in lengths.iter().enumerate().filter(|(_, len)| **len > 0) {
        let own = support.get(at).copied().unwrap_or(0).saturating_add(1);
        if let Some(own_support) = support.get_mut(at) {
            *own_support = own;
        }
        if let Some(next) = support.get_mut(at.saturating_add(*len)) {
            *next = next.saturating_add(own);
        }
    }
    support
}

/// The best supported offset whose instruction ends at `end`.
fn best_before(end: usize, lengths: &[usize], support: &[u32], longest: usize) -> Option<usize> {
    let candidates = end.saturating_sub(longest)..end;
    candidates
        .filter(|at| {
            lengths.get(*at).is_some_and(|len| *len > 0 && at.checked_add(*len) == Some(end))
        })
        .max_by_key(|at| support.get(*at).copied().unwrap_or(0))
}
