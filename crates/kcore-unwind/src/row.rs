//! A row of call frame information: how to find the caller's registers at one pc.

use std::sync::Arc;

use gimli::{
    CfaRule as GimliCfa, FrameDescriptionEntry, Reader, RegisterRule, UnwindContext,
    UnwindExpression, UnwindTableRow,
};
use kcore_mem::{Addr, AddrRange, Arch, Svma};

use crate::{RegisterId, arch::register_of_dwarf};

/// Where an expression lies: offset and length in the section that held the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExpressionRef {
    /// Which section.
    pub section: CfiSectionKind,
    /// Offset in it.
    pub offset: usize,
    /// Bytes.
    pub len: usize,
}

/// Which section holds a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CfiSectionKind {
    /// `.eh_frame`.
    EhFrame,
    /// `.debug_frame`.
    DebugFrame,
}

/// How to compute the canonical frame address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CfaRule {
    /// A register plus a constant.
    Register(RegisterId, i64),
    /// The value of an expression.
    Expression(ExpressionRef),
}

/// How to find one register of the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// It was not saved.
    Undefined,
    /// It has the value that it has in this frame.
    Same,
    /// It was saved at the CFA plus a constant.
    Offset(i64),
    /// It is the CFA plus a constant.
    ValueOffset(i64),
    /// It is in another register.
    Register(RegisterId),
    /// It was saved at the address that an expression gives.
    Expression(ExpressionRef),
    /// It is what an expression gives.
    ValueExpression(ExpressionRef),
    /// It is a constant.
    Constant(u64),
}

/// The code that one frame description covers: a function, or the part of one that the compiler put elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered {
    /// Its first byte.
    pub start: Svma,
    /// Bytes.
    pub len: u64,
}

impl Covered {
    /// The same in a process, where addresses are those of the file plus `bias`.
    pub const fn at(self, bias: i64) -> AddrRange {
        let start = self.start.get().wrapping_add_signed(bias);
        AddrRange::with_len(Addr::new(start), self.len)
    }
}

/// All that is needed for one step, detached from gimli's context.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// How to compute the CFA.
    pub cfa: CfaRule,
    /// The registers that have a rule.
    pub rules: Arc<[(RegisterId, Rule)]>,
    /// The column that holds the return address.
    pub return_address: RegisterId,
    /// Whether the frame is a signal trampoline (`S` in the augmentation).
    pub is_signal: bool,
    /// What the description covers.
    pub covered: Covered,
}

/// The same where it lies, to be applied.
#[derive(Clone, Copy, Debug)]
pub struct RowRef<'a> {
    /// How to compute the CFA.
    pub cfa: CfaRule,
    /// The registers that have a rule.
    pub rules: &'a [(RegisterId, Rule)],
    /// The column that holds the return address.
    pub return_address: RegisterId,
    /// Whether the frame is a signal trampoline.
    pub is_signal: bool,
}

/// Room for gimli to run unwind programs in: it takes memory once, when it is made.
pub type Context = UnwindContext<usize>;

/// A row as gimli found it, in the room that it ran in.
pub struct FoundRow<'a> {
    row: &'a UnwindTableRow<usize>,
    section: CfiSectionKind,
    return_address: gimli::Register,
    is_signal: bool,
    arch: Arch,
    covered: Covered,
}

impl<'a> FoundRow<'a> {
    /// What was found by a description in a section.
    pub fn new<R: Reader>(
        row: &'a UnwindTableRow<usize>,
        section: CfiSectionKind,
        fde: &FrameDescriptionEntry<R>,
        arch: Arch,
    ) -> Self {
        Self {
            row,
            section,
            return_address: fde.cie().return_address_register(),
            is_signal: fde.is_signal_trampoline(),
            arch,
            covered: Covered { start: Svma::new(fde.initial_address()), len: fde.len() },
        }
    }

    /// How to compute the CFA.
    pub fn cfa(&self) -> CfaRule {
        match self.row.cfa() {
            GimliCfa::RegisterAndOffset { register, offset } => {
                CfaRule::Register(self.register(*register), *offset)
            }
            GimliCfa::Expression(from) => CfaRule::Expression(self.expression(from)),
        }
    }

    /// The registers that have a rule; `None` in the place of a rule that only another architecture
    /// knows how to apply.
    pub fn rules(&self) -> impl Iterator<Item = Option<(RegisterId, Rule)>> {
        let rules = self.row.registers();
        rules.map(|(register, rule)| Some((self.register(*register), self.convert(rule)?)))
    }

    /// The column that holds the return address.
    pub const fn return_address(&self) -> RegisterId {
        self.register(self.return_address)
    }

    /// Whether the frame is a signal trampoline.
    pub const fn is_signal(&self) -> bool {
        self.is_signal
    }

    const fn expression(&self, from: &UnwindExpression<usize>) -> ExpressionRef {
        ExpressionRef { section: self.section, offset: from.offset, len: from.length }
    }

    const fn register(&self, register: gimli::Register) -> RegisterId {
        register_of_dwarf(self.arch, register.0)
    }

    fn convert(&self, rule: &RegisterRule<usize>) -> Option<Rule> {
        convert(rule, &|register| self.register(register), &|from| self.expression(from))
    }
}

impl Row {
    /// Copies what a step needs; `None` where a rule is one that only another architecture knows how
    /// to apply.
    pub fn new(found: &FoundRow<'_>) -> Option<Self> {
        let rules: Option<Arc<[_]>> = found.rules().collect();
        let (return_address, is_signal) = (found.return_address(), found.is_signal());
        let (cfa, covered) = (found.cfa(), found.covered);
        Some(Self { cfa, rules: rules?, return_address, is_signal, covered })
    }

    /// Itself, to be applied.
    pub fn by_ref(&self) -> RowRef<'_> {
        RowRef {
            cfa: self.cfa,
            rules: &self.rules,
            return_address: self.return_address,
            is_signal: self.is_signal,
        }
    }
}

fn convert(
    rule: &RegisterRule<usize>,
    known: &dyn Fn(gimli::Register) -> RegisterId,
    expression: &dyn Fn(&UnwindExpression<usize>) -> ExpressionRef,
) -> Option<Rule> {
    Some(match rule {
        RegisterRule::Undefined => Rule::Undefined,
        RegisterRule::SameValue => Rule::Same,
        RegisterRule::Offset(offset) => Rule::Offset(*offset),
        RegisterRule::ValOffset(offset) => Rule::ValueOffset(*offset),
        RegisterRule::Register(register) => Rule::Register(known(*register)),
        RegisterRule::Expression(from) => Rule::Expression(expression(from)),
        RegisterRule::ValExpression(from) => Rule::ValueExpression(expression(from)),
        RegisterRule::Constant(value) => Rule::Constant(*value),
        _ => return None,
    })
}
