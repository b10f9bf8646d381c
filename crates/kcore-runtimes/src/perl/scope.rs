//! The variables that calls see.

use kcore_mem::Addr;

use super::{
    code::Variable,
    context::{Callee, Chain},
    memory::Memory,
    value::Teller,
};
use crate::{ScriptNode, ScriptScalar, ScriptVariable};

/// What is needed to tell the variables of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The call: its context, or of the program its code.
    pub call: Addr,
    /// The code whose variables it sees, and the depth of its recursion.
    code: Option<(Addr, u64)>,
    /// The number of the statement that it executes.
    sequence: u64,
    /// Of a block of `eval`, the number of the statement around: what is seen there is not its own.
    around: Option<u64>,
    /// Whether it has a `@_` of its own.
    has_arguments: bool,
}

impl Scope {
    /// Those of all calls of a chain whose innermost one executes a statement, and of the program.
    pub fn of_calls(
        memory: &Memory<'_>,
        chain: &Chain,
        statement: Option<Addr>,
        main: Option<Addr>,
    ) -> Vec<Self> {
        let number = |statement: Addr| memory.sequence(statement).unwrap_or_default();
        let mut sequence = statement.map_or(0, number);
        let mut scopes: Vec<Self> = Vec::new();
        for call in chain.calls() {
            let around = number(call.caller);
            let (code, has_arguments) = match call.callee {
                Callee::Sub { code, depth, has_arguments } => {
                    (Some((code, depth.saturating_add(1))), has_arguments)
                }
                Callee::Text(code) | Callee::File(code) => (code.map(|code| (code, 1)), false),
                Callee::Block => (None, false),
            };
            let is_block = call.callee == Callee::Block;
            let around_block = is_block.then_some(around);
            scopes.push(Self {
                call: call.at,
                code,
                sequence,
                around: around_block,
                has_arguments,
            });
            sequence = around;
        }
        if let Some(main) = main {
            let code = Some((main, 1));
            scopes.push(Self { call: main, code, sequence, around: None, has_arguments: false });
        }
        // A block has the code of what is around it.
        let mut outer = None;
        for scope in scopes.iter_mut().rev() {
            match scope.around {
                Some(_) => scope.code = outer,
                None => outer = scope.code,
            }
        }
        scopes
    }

    /// The variables of the call: the elements of `@_`, then those that `my` and its like made.
    pub fn variables(
        &self,
        memory: &Memory<'_>,
        teller: &Teller<'_>,
        with_locals: bool,
        most: u64,
    ) -> Option<Vec<ScriptVariable>> {
        let (code, depth) = self.code?;
        let mut told = Vec::new();
        if self.has_arguments {
            told.extend(arguments(memory, teller, code, depth, most).unwrap_or_default());
        }
        if with_locals {
            let seen = memory.variables(code, depth, self.sequence)?;
            let around = self.around.and_then(|around| memory.variables(code, depth, around));
            let around = around.unwrap_or_default();
            let own = seen.into_iter().filter(|variable| !around.contains(variable));
            told.extend(own.map(|Variable { name, value }| ScriptVariable {
                name,
                is_argument: false,
                value: teller.variable(value),
            }));
        }
        Some(told)
    }
}

/// The elements of `@_`, as the sub numbers them now: what it has shifted is told by number alone, since that may be gone.
fn arguments(
    memory: &Memory<'_>,
    teller: &Teller<'_>,
    code: Addr,
    depth: u64,
    most: u64,
) -> Option<Vec<ScriptVariable>> {
    let passed = memory.arguments(code, depth)?;
    let (first, count) = memory.elements(passed)?;
    let argument = |index: u64| {
        let value = memory.pointer(first, index.checked_mul(8)?)?;
        let value = teller.value(value);
        Some(ScriptVariable { name: format!("$_[{index}]").into(), is_argument: true, value })
    };
    let all = |note: ScriptScalar| ScriptVariable {
        name: "@_".into(),
        is_argument: true,
        value: ScriptNode::scalar("list", note),
    };
    let mut told: Vec<ScriptVariable> = (0..count.min(most)).filter_map(argument).collect();
    if count > most {
        told.push(all(ScriptScalar::Elided));
    }
    if let Some(shifted) = memory.shifted(passed).filter(|shifted| *shifted > 0) {
        told.push(all(ScriptScalar::Note(format!("{shifted} shifted").into())));
    }
    Some(told)
}
