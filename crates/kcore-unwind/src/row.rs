//! A row of call frame information: how to find the caller's registers at one pc.

use gimli::{CfaRule as GimliCfa, RegisterRule, UnwindContext, UnwindExpression, UnwindTableRow};

use crate::RegisterId;

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// All that is needed for one step, detached from gimli's context.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// How to compute the CFA.
    pub cfa: CfaRule,
    /// The registers that have a rule.
    pub rules: Box<[(RegisterId, Rule)]>,
    /// The column that holds the return address.
    pub return_address: RegisterId,
    /// Whether the frame is a signal trampoline (`S` in the augmentation).
    pub is_signal: bool,
}

pub type Context = UnwindContext<usize>;

impl Row {
    /// Copies what a step needs out of gimli's row; `None` for rules that only another
    /// architecture knows how to apply.
    pub fn new(
        row: &UnwindTableRow<usize>,
        section: CfiSectionKind,
        return_address: gimli::Register,
        is_signal: bool,
    ) -> Option<Self> {
        let expression = |from: &UnwindExpression<usize>| ExpressionRef {
            section,
            offset: from.offset,
            len: from.length,
        };
        let cfa = match row.cfa() {
            GimliCfa::RegisterAndOffset { register, offset } => {
                CfaRule::Register(RegisterId(register.0), *offset)
            }
            GimliCfa::Expression(from) => CfaRule::Expression(expression(from)),
        };
        let rules: Option<Box<[_]>> = row
            .registers()
            .map(|(register, rule)| Some((RegisterId(register.0), convert(rule, &expression)?)))
            .collect();
        let return_address = RegisterId(return_address.0);
        Some(Self { cfa, rules: rules?, return_address, is_signal })
    }
}

fn convert(
    rule: &RegisterRule<usize>,
    expression: &impl Fn(&UnwindExpression<usize>) -> ExpressionRef,
) -> Option<Rule> {
    Some(match rule {
        RegisterRule::Undefined => Rule::Undefined,
        RegisterRule::SameValue => Rule::Same,
        RegisterRule::Offset(offset) => Rule::Offset(*offset),
        RegisterRule::ValOffset(offset) => Rule::ValueOffset(*offset),
        RegisterRule::Register(register) => Rule::Register(RegisterId(register.0)),
        RegisterRule::Expression(from) => Rule::Expression(expression(from)),
        RegisterRule::ValExpression(from) => Rule::ValueExpression(expression(from)),
        RegisterRule::Constant(value) => Rule::Constant(*value),
        _ => return None,
    })
}
