//! Following the code of a function that changes stacks.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::decode::{displacement, is_call, signed};
use crate::{
    RegisterId,
    switch::{Followed, MAX_BEFORE, MAX_STEPS, Source, Switch, Value},
};

const LINK: u16 = 30;
/// `sp` where an address is meant, and the register that is always 0 elsewhere.
const SP: u16 = 31;
/// Registers that a callee need not preserve.
const SCRATCH: std::ops::RangeInclusive<u16> = 0..=18;
/// Registers that it preserves; machine code and DWARF number them alike.
const PRESERVED: [(u16, RegisterId); 11] = [
    (19, RegisterId(19)),
    (20, RegisterId(20)),
    (21, RegisterId(21)),
    (22, RegisterId(22)),
    (23, RegisterId(23)),
    (24, RegisterId(24)),
    (25, RegisterId(25)),
    (26, RegisterId(26)),
    (27, RegisterId(27)),
    (28, RegisterId(28)),
    (29, RegisterId(29)),
];
const INSTRUCTION: u64 = 4;
const WORD: i64 = 8;

/// What the call before `returns_to` leaves of its caller, if it changes stacks. `caller` is the function that
/// called, as far as it is known.
pub fn switch_before(
    returns_to: Addr,
    caller: Option<AddrRange>,
    space: &dyn AddressSpace,
) -> Option<Switch> {
    let at = Addr::new(returns_to.get().checked_sub(INSTRUCTION)?);
    let call = instruction(at, space).filter(|word| is_call(*word))?;
    if call & 0xfc00_0000 == 0x9400_0000 {
        return follow(at.wrapping_offset(displacement(call, 0, 26)), space);
    }
    let mut code = Code::new(space);
    code.run_to(caller.filter(|caller| caller.start <= at)?.start, at)?;
    follow(code.state.get(field(call, 5)).addr()?, space)
}

fn instruction(at: Addr, space: &dyn AddressSpace) -> Option<u32> {
    space.read_uint(at, INSTRUCTION as usize).ok().and_then(|word| u32::try_from(word).ok())
}

/// Follows a function to its end, or to where it is not known how it goes on.
fn follow(function: Addr, space: &dyn AddressSpace) -> Option<Switch> {
    let mut code = Code::new(space);
    code.next = function;
    code.state.set(LINK, Value { of: Source::Return, plus: 0 });
    for _ in 0..MAX_STEPS {
        let at = code.next;
        let Some(word) = instruction(at, space) else { break };
        code.next = at.checked_add(INSTRUCTION)?;
        if code.step(at, word).is_none() {
            break;
        }
    }
    code.state.switch(function, 0, &PRESERVED)
}

/// Code that is followed.
struct Code<'a> {
    state: Followed<'a>,
    /// The instruction behind the one that is looked at.
    next: Addr,
}

impl<'a> Code<'a> {
    fn new(space: &'a dyn AddressSpace) -> Self {
        Self { state: Followed::at_entry(space, SP), next: Addr::new(0) }
    }

    /// Follows the code from `start` to `end` in the order of its addresses.
    fn run_to(&mut self, start: Addr, end: Addr) -> Option<()> {
        let mut at = start;
        for _ in 0..MAX_BEFORE {
            if at >= end {
                break;
            }
            let word = instruction(at, self.state.space())?;
            // What branches do is not asked: code before a call leads to it.
            let _ends = self.step(at, word);
            at = at.checked_add(INSTRUCTION)?;
        }
        (at == end).then_some(())
    }

    /// What the instruction at an address does; `None` where the function ends, or goes where nobody knows.
    fn step(&mut self, at: Addr, word: u32) -> Option<()> {
        match word {
            // add, sub (immediate).
            _ if word & 0xbf80_0000 == 0x9100_0000 => self.add(word),
            // mov (register).
            _ if word & 0xffe0_ffe0 == 0xaa00_03e0 => {
                let value = self.value(field(word, 16));
                self.write(field(word, 0), value);
            }
            // adr, adrp.
            _ if word & 0x1f00_0000 == 0x1000_0000 => self.page(at, word),
            // stp, ldp.
            _ if word & 0x3a00_0000 == 0x2800_0000 => self.pair(word),
            // str, ldr with a number, with and without a change of the base.
            _ if word & 0x3b20_0000 == 0x3800_0000 => self.single(word),
            _ if word & 0xff80_0000 == 0xf900_0000 => {
                let offset = i64::from((word >> 10) & 0xfff).wrapping_mul(WORD);
                let place = self.state.get(field(word, 5)).plus(offset);
                self.access(word, field(word, 0), place);
            }
            // b; bl and blr; br.
            _ if word & 0xfc00_0000 == 0x1400_0000 => {
                self.next = at.wrapping_offset(displacement(word, 0, 26));
            }
            _ if is_call(word) => self.call(),
            _ if word & 0xfeff_f000 == 0xd61f_0000 => {
                self.next = self.state.get(field(word, 5)).addr()?;
            }
            // ret; brk; udf.
            _ if word & 0xfeff_f000 == 0xd65f_0000 => return None,
            _ if word & 0xffe0_001f == 0xd420_0000 || word & 0xffff_0000 == 0 => return None,
            // add (extended register) and and (immediate) to sp: of the same stack, and nobody knows where.
            _ if word & 0xbfe0_001f == 0x8b20_001f || word & 0xff80_001f == 0x9200_001f => {
                return None;
            }
            _ => self.other(word),
        }
        Some(())
    }

    fn add(&mut self, word: u32) {
        let shift = if word & (1 << 22) != 0 { 12 } else { 0 };
        let amount = i64::from((word >> 10) & 0xfff).wrapping_shl(shift);
        let by = if word & (1 << 30) != 0 { amount.wrapping_neg() } else { amount };
        self.state.set(field(word, 0), self.state.get(field(word, 5)).plus(by));
    }

    fn page(&mut self, at: Addr, word: u32) {
        let low = i64::from((word >> 29) & 3);
        let distance = signed(word, 5, 19).wrapping_mul(4).wrapping_add(low);
        let target = match word >> 31 {
            0 => at.wrapping_offset(distance),
            _ => Addr::new(at.get() & !0xfff).wrapping_offset(distance.wrapping_mul(1 << 12)),
        };
        self.write(field(word, 0), Value::number(target.get()));
    }

    /// Two registers; of those of vectors only what becomes of the base.
    fn pair(&mut self, word: u32) {
        let (is_vector, class) = (word & (1 << 26) != 0, word >> 30);
        let size = match (is_vector, class) {
            (true, 2) => 16,
            (true, 1) | (false, 2) => WORD,
            _ => 4,
        };
        let offset = signed(word, 15, 7).wrapping_mul(size);
        let place = self.place(word, (word >> 23) & 3, offset);
        let is_load = word & (1 << 22) != 0;
        match (is_vector, class) {
            (false, 2) => {
                self.access(word, field(word, 0), place);
                self.access(word, field(word, 10), place.plus(WORD));
            }
            (false, _) if is_load => {
                self.forget(field(word, 0));
                self.forget(field(word, 10));
            }
            _ => {}
        }
    }

    fn single(&mut self, word: u32) {
        // 0 unscaled, 1 post-indexed, 3 pre-indexed; 2 is an unprivileged access.
        let indexing = match (word >> 10) & 3 {
            0 => 2,
            other => other,
        };
        let place = self.place(word, indexing, signed(word, 12, 9));
        match word & 0xff80_0000 == 0xf800_0000 {
            true => self.access(word, field(word, 0), place),
            false if word & (1 << 26) == 0 && word & 0x00c0_0000 != 0 => {
                self.forget(field(word, 0))
            }
            false => {}
        }
    }

    /// Where an access goes, and what becomes of its base. `indexing`: 1 post-indexed, 3 pre-indexed.
    fn place(&mut self, word: u32, indexing: u32, offset: i64) -> Value {
        let base = field(word, 5);
        let (from, moved) = (self.state.get(base), self.state.get(base).plus(offset));
        if matches!(indexing, 1 | 3) {
            self.state.set(base, moved);
        }
        if indexing == 1 { from } else { moved }
    }

    /// A load or store of 64 bits.
    fn access(&mut self, word: u32, register: u16, place: Value) {
        match word & (1 << 22) != 0 {
            true => {
                let value = self.state.load(place);
                self.write(register, value);
            }
            false => {
                let value = self.value(register);
                self.state.store(place, value);
            }
        }
    }

    fn call(&mut self) {
        SCRATCH.chain([LINK]).for_each(|register| self.forget(register));
    }

    /// All else: what it may write is not known any more.
    fn other(&mut self, word: u32) {
        let writes = match (word >> 25) & 0xf {
            // Numbers and registers; loads.
            0b1000 | 0b1001 | 0b0101 | 0b1101 => true,
            0b0100 | 0b0110 | 0b1100 | 0b1110 => word & (1 << 26) == 0,
            // mrs.
            0b1010 | 0b1011 => word & 0xfff0_0000 == 0xd530_0000,
            // Between vectors and registers.
            _ => word & 0x5f20_fc00 == 0x1e20_0000,
        };
        if writes {
            self.forget(field(word, 0));
        }
    }

    /// What a register holds as an operand.
    fn value(&self, register: u16) -> Value {
        if register == SP { Value::number(0) } else { self.state.get(register) }
    }

    /// Writes a register that is not `sp`.
    fn write(&mut self, register: u16, value: Value) {
        if register != SP {
            self.state.set(register, value);
        }
    }

    fn forget(&mut self, register: u16) {
        if register != SP {
            self.state.forget(register);
        }
    }
}

/// The register that a field names.
const fn field(word: u32, low: u32) -> u16 {
    (word.wrapping_shr(low) & 31) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        code_memory::{CODE as FUNCTION, CodeMemory},
        switch::SaveSlot,
    };
    use kcore_mem::Arch;

    /// What a call of a function leaves: encodings by GNU as.
    fn left_by(function: &[u32]) -> Option<Switch> {
        let back = (function.len() as u32).wrapping_neg() & 0x03ff_ffff;
        let code = function.iter().copied().chain([0x9400_0000 | back]);
        let bytes = code.flat_map(u32::to_le_bytes).collect();
        let memory = CodeMemory::new(Arch::Aarch64, bytes);
        let returns_to = FUNCTION + (function.len() as u64 + 1) * INSTRUCTION;
        switch_before(Addr::new(returns_to), None, &memory)
    }

    #[test]
    fn registers_beside_the_stack_have_their_places() {
        // mov x10,sp; mov x11,x30; stp x19,x20,[x0]; stp x29,x30,[x0,#80]; stp x10,x11,[x0,#96]; ldp x29,x30,[x1,#80];
        // ldp x10,x11,[x1,#96]; mov sp,x10; br x11
        let switch = left_by(&[
            0x9100_03ea,
            0xaa1e_03eb,
            0xa900_5013,
            0xa905_781d,
            0xa906_2c0a,
            0xa945_783d,
            0xa946_2c2a,
            0x9100_015f,
            0xd61f_0160,
        ]);
        let switch = switch.unwrap();
        assert_eq!((switch.stack_pointer, switch.returns), (0, SaveSlot::Beside(-8)));
        assert_eq!(switch.pcs, [-8, 8]);
        let places = [(19, -96), (20, -88), (29, -16)];
        let places = places.map(|(number, by)| (RegisterId(number), SaveSlot::Beside(by)));
        assert_eq!(switch.registers, places);
    }

    #[test]
    fn registers_on_the_stack_have_their_places() {
        // stp x29,x30,[sp,#-16]!; mov x2,sp; str x2,[x0]; ldr x3,[x1]; mov sp,x3; ldp x29,x30,[sp],#16; ret
        let switch = left_by(&[
            0xa9bf_7bfd,
            0x9100_03e2,
            0xf900_0002,
            0xf940_0023,
            0x9100_007f,
            0xa8c1_7bfd,
            0xd65f_03c0,
        ]);
        let switch = switch.unwrap();
        assert_eq!((switch.stack_pointer, switch.returns), (-16, SaveSlot::OnStack(-8)));
        assert_eq!(switch.registers, [(RegisterId(29), SaveSlot::OnStack(-16))]);
    }

    #[test]
    fn a_function_that_stays_on_its_stack_is_no_switch() {
        // stp x29,x30,[sp,#-16]!; mov x2,sp; str x2,[x0]; ldp x29,x30,[sp],#16; ret
        let code = [0xa9bf_7bfd, 0x9100_03e2, 0xf900_0002, 0xa8c1_7bfd, 0xd65f_03c0];
        assert_eq!(left_by(&code), None);
    }
}
