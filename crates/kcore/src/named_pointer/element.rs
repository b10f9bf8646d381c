//! Names of elements of arrays, by the sum with which code computes where they lie: `table[3]`, `conns[3].peer`.

use kcore_disasm::{Computation, Instruction, RegisterSum};
use kcore_mem::{AccessKind, Addr};

use super::{
    NamedPointer, path,
    trace::{HeldRegister, Trace},
};

/// Whether pointers are told by the words of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    Named,
    Unnamed,
}

/// What a register holds, by the code that computed it.
#[derive(Debug)]
enum Term {
    /// A pointer of the program, the bytes that were added to it, and what those that are no constant are a multiple of: 0 if
    /// all are.
    Pointer { pointer: NamedPointer, bytes: u64, factor: u64 },
    /// A number or an address.
    Number(Number),
}

/// A number that is a multiple of what a register held once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Number {
    value: u64,
    /// By what that was multiplied; 0 of a constant.
    factor: u64,
    /// The register, and the instruction behind which it held that.
    register: Option<(String, usize)>,
}

impl Number {
    const fn constant(value: u64) -> Self {
        Self { value, factor: 0, register: None }
    }

    fn times(self, by: u64) -> Self {
        let (value, factor) = (self.value.wrapping_mul(by), self.factor.wrapping_mul(by));
        Self { value, factor, register: self.register }
    }

    fn plus(self, other: Self) -> Self {
        let value = self.value.wrapping_add(other.value);
        if other.factor == 0 || self.factor == 0 {
            let varies = if self.factor == 0 { other } else { self };
            return Self { value, ..varies };
        }
        match self.register.is_some() && self.register == other.register {
            true => {
                let factor = self.factor.wrapping_add(other.factor);
                Self { value, factor, register: self.register }
            }
            false => Self { value, factor: divisor(self.factor, other.factor), register: None },
        }
    }
}

/// The greatest common divisor; the other number if one is 0.
fn divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

impl Term {
    /// The sum of two, of which one alone may be a pointer.
    fn plus(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Number(a), Self::Number(b)) => Self::Number(a.plus(b)),
            (Self::Pointer { pointer, bytes, factor }, Self::Number(more))
            | (Self::Number(more), Self::Pointer { pointer, bytes, factor }) => Self::Pointer {
                pointer,
                bytes: bytes.wrapping_add(more.value),
                factor: divisor(factor, more.factor),
            },
            (Self::Pointer { .. }, Self::Pointer { .. }) => return None,
        })
    }

    fn number(self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(number),
            Self::Pointer { .. } => None,
        }
    }
}

impl Trace<'_> {
    /// What the program calls the pointer that instruction `index` loaded into a register from an array.
    pub(super) fn element(&self, held: HeldRegister<'_>, index: usize) -> Option<NamedPointer> {
        let Computation::Loaded { at, size, .. } = self.computed(held, index)? else { return None };
        let is_whole = usize::from(size) == self.core.target().word_size();
        match is_whole.then(|| self.sum(held, index, &at, Words::Named))?? {
            Term::Pointer { pointer, bytes, factor } => {
                path::element(self.core, &pointer, bytes, factor)
            }
            Term::Number(at) => self.named_at(held.frame, Addr::new(at.value)),
        }
    }

    /// The pointer of the program to which a frame added bytes last to get what a register held where it stopped, and the bytes.
    pub(super) fn moved_pointer(
        &self,
        frame: usize,
        register: &str,
    ) -> Option<(NamedPointer, u64)> {
        let code = self.code_before(frame)?;
        let held = self.held(frame, &code, register);
        let (index, _) = self.write(held)?;
        let Computation::Sum(sum) = self.computed(held, index)? else { return None };
        match self.sum(held, index, &sum, Words::Named)? {
            Term::Pointer { pointer, bytes, .. } => Some((pointer, bytes)),
            Term::Number(_) => None,
        }
    }

    /// The number that a frame had in a register when it called the next one, or that its own callers passed.
    pub(super) fn number(&self, frame: usize, register: &str) -> Option<u64> {
        let (mut frame, mut register) = (frame, register.to_owned());
        for _ in 0..super::trace::MAX_CALLERS {
            let code = self.code_before(frame)?;
            let held = self.held(frame, &code, &register);
            if let Some(Term::Number(number)) = self.term(held, Words::Unnamed) {
                return Some(number.value);
            }
            let passed_in = self.argument(held)?;
            (frame, register) = (frame.saturating_add(1), passed_in);
        }
        None
    }

    /// What a register holds. What was loaded must be in memory still.
    fn term(&self, held: HeldRegister<'_>, words: Words) -> Option<Term> {
        self.spend()?;
        let kept = self.kept_value(held);
        let pointer = (words == Words::Named).then(|| self.pointer(held, kept)).flatten();
        if let Some(pointer) = pointer {
            return Some(Term::Pointer { pointer, bytes: 0, factor: 0 });
        }
        // What is multiplied tells more than the value.
        let computed = self.write(held).and_then(|(index, _)| self.made(held, index, words));
        match (computed, kept) {
            (Some(Term::Number(number)), Some(kept)) if number.value != kept.get() => {
                Some(Term::Number(self.variable_number(held, kept.get())))
            }
            (Some(computed), _) => Some(computed),
            (None, kept) => Some(Term::Number(self.variable_number(held, kept?.get()))),
        }
    }

    /// A number that a register holds, of which nothing more is known.
    fn variable_number(&self, held: HeldRegister<'_>, value: u64) -> Number {
        let written = self.write(held).map_or(usize::MAX, |(index, _)| index);
        Number { value, factor: 1, register: Some((held.register.to_owned(), written)) }
    }

    /// What instruction `index` made of other registers or of memory.
    fn made(&self, held: HeldRegister<'_>, index: usize, words: Words) -> Option<Term> {
        let number = |from: &str| self.term(held.earlier(index, from)?, words)?.number();
        let varies = |value: u64| Term::Number(self.variable_number(held, value));
        Some(match self.computed(held, index)? {
            Computation::Sum(sum) => return self.sum(held, index, &sum, words),
            Computation::Extended { from, is_signed } => {
                varies(extended(number(&from)?.value, 4, is_signed)?)
            }
            Computation::Multiplied { from, by } => Term::Number(number(&from)?.times(by)),
            Computation::Loaded { at, size, is_signed } => {
                let at = Addr::new(self.sum(held, index, &at, words)?.number()?.value);
                let value = self.read_unchanged(held, index, (at, size))?;
                varies(extended(value, size, is_signed)?)
            }
        })
    }

    /// The pointer of the program that a register holds.
    fn pointer(&self, held: HeldRegister<'_>, kept: Option<Addr>) -> Option<NamedPointer> {
        let named = self.name(held, kept, super::trace::MAX_STEPS)?;
        path::is_pointer(&named.ty).then_some(named)
    }

    /// The sum that instruction `index` computes.
    fn sum(
        &self,
        held: HeldRegister<'_>,
        index: usize,
        sum: &RegisterSum,
        words: Words,
    ) -> Option<Term> {
        let mut total = Term::Number(Number::constant(sum.displacement.cast_unsigned()));
        if let Some(base) = &sum.base {
            total = total.plus(self.term(held.earlier(index, base)?, words)?)?;
        }
        if let Some((name, by)) = &sum.index {
            let term = self.term(held.earlier(index, name)?, words)?;
            let times = match (term, *by) {
                (term, 1) => term,
                (term, by) => Term::Number(term.number()?.times(by)),
            };
            total = total.plus(times)?;
        }
        Some(total)
    }

    fn computed(&self, held: HeldRegister<'_>, index: usize) -> Option<Computation> {
        let instruction = held.code.instructions.get(index)?;
        let disassembler = self.disassembler.as_ref()?;
        disassembler.computation(instruction.addr, &instruction.bytes, held.register)
    }

    /// So many bytes of memory that instruction `index` read, if none wrote to memory until the frame stopped.
    fn read_unchanged(
        &self,
        held: HeldRegister<'_>,
        index: usize,
        (at, size): (Addr, u8),
    ) -> Option<u64> {
        let later = held.code.instructions.get(index..)?;
        let mut bytes = [0; 8];
        let wanted = bytes.get_mut(..usize::from(size))?;
        (!later.iter().any(|it| self.may_write(it))).then_some(())?;
        self.core.space().read(at, wanted).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    fn may_write(&self, instruction: &Instruction) -> bool {
        let Some(disassembler) = self.disassembler.as_ref() else { return true };
        // Which memory it is does not matter here.
        let accesses =
            disassembler.memory_accesses(instruction.addr, &instruction.bytes, &|_| Some(0));
        let writes = |kind: AccessKind| matches!(kind, AccessKind::Write | AccessKind::ReadWrite);
        instruction.flow.is_call() || accesses.iter().any(|access| writes(access.kind))
    }
}

/// The lower bytes of a number as a word.
fn extended(value: u64, size: u8, is_signed: bool) -> Option<u64> {
    let unused = 64_u32.checked_sub(u32::from(size).checked_mul(8)?)?;
    let high = value.checked_shl(unused)?;
    Some(match is_signed {
        true => high.cast_signed().checked_shr(unused)?.cast_unsigned(),
        false => high.checked_shr(unused)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Number, extended};

    fn of(register: &str, value: u64) -> Number {
        Number { value, factor: 1, register: Some((register.to_owned(), 0)) }
    }

    #[test]
    fn a_number_is_known_to_be_a_multiple() {
        let three = of("rax", 5).plus(of("rax", 5).times(2)).times(8);
        assert_eq!((three.value, three.factor), (120, 24));
        let with_constant = three.plus(Number::constant(7));
        assert_eq!((with_constant.value, with_constant.factor), (127, 24));
        let two = of("rax", 1).times(24).plus(of("rdx", 1).times(16));
        assert_eq!((two.value, two.factor), (40, 8));
        assert_eq!(Number::constant(1).plus(Number::constant(2)), Number::constant(3));
    }

    #[test]
    fn a_number_is_extended_with_its_sign_or_without() {
        assert_eq!(extended(0xffff_fffe, 4, true), Some(u64::MAX - 1));
        assert_eq!(extended(0x1_ffff_fffe, 4, false), Some(0xffff_fffe));
        assert_eq!(extended(0x8000_0000_0000_0001, 8, true), Some(0x8000_0000_0000_0001));
        assert_eq!(extended(1, 0, false), None);
        assert_eq!(extended(1, 9, false), None);
    }
}
