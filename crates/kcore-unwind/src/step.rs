//! One step by call frame information: a row applied to registers and memory.

use kcore_mem::{Addr, AddressSpace, Fault};

use crate::{
    Cfi, End, Machine, RegisterId, Regs,
    expression::{EvalError, evaluate},
    row::{CfaRule, ExpressionRef, RowRef, Rule},
};

/// What a step found.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// CFA of the frame that was left.
    pub cfa: Addr,
    /// Whether there is a caller.
    pub has_caller: bool,
}

/// Applies `row` to `regs`, and leaves the registers of the caller in `caller`. `cfi` says where the
/// row's expressions lie; few rows have any.
///
/// # Errors
/// Why the rule cannot be followed: memory without bytes, a register that is unknown.
pub fn step_by_row<'a>(
    cfi: &dyn Fn() -> Option<&'a Cfi>,
    row: RowRef<'_>,
    regs: &Regs,
    caller: &mut Regs,
    space: &dyn AddressSpace,
    machine: &dyn Machine,
) -> Result<Step, End> {
    let applied = Applied { cfi, row, regs, space, program_counter: machine.program_counter() };
    let cfa = applied.cfa()?;
    applied.inherit(caller, machine);
    if machine.stack_pointer_is_cfa() {
        caller.set(machine.stack_pointer(), Some(cfa));
    }
    // The return address is most often one of the rules, and then read once.
    let mut return_address = None;
    for (register, rule) in row.rules {
        let value = applied.value(*register, *rule, cfa);
        // The others stay usable when one register's slot was not dumped.
        caller.set(*register, value.as_ref().ok().copied().flatten());
        if *register == row.return_address {
            return_address = Some((*rule, value));
        }
    }
    let pc = applied.return_address(machine, return_address)?;
    if let Some(pc) = pc {
        caller.set_pc(machine.returns_to(pc));
    }
    Ok(Step { cfa: Addr::new(cfa), has_caller: pc.is_some() })
}

struct Applied<'a, 'c> {
    cfi: &'a dyn Fn() -> Option<&'c Cfi>,
    row: RowRef<'a>,
    regs: &'a Regs,
    space: &'a dyn AddressSpace,
    program_counter: RegisterId,
}

impl Applied<'_, '_> {
    fn cfa(&self) -> Result<u64, End> {
        match self.row.cfa {
            CfaRule::Register(register, offset) => {
                // Assembly with conventions of its own may keep its CFA where a callee need not
                // preserve it. That its unwind information says so at a call is the promise that
                // the callee does.
                let base = self.register(register).or_else(|| self.regs.left_by_callee(register));
                let base = base.ok_or_else(|| self.unknown(register))?;
                Ok(base.wrapping_add_signed(offset))
            }
            CfaRule::Expression(expression) => self.evaluate(expression, None),
        }
    }

    /// A register of the frame. Rules may ask for the program counter too.
    fn register(&self, register: RegisterId) -> Option<u64> {
        if register == self.program_counter {
            return Some(self.regs.pc().get());
        }
        self.regs.get(register)
    }

    /// What the caller has of registers without a rule: those that a callee must preserve; all of
    /// them above a signal.
    fn inherit(&self, caller: &mut Regs, machine: &dyn Machine) {
        caller.clone_from(self.regs);
        caller.set(self.program_counter, None);
        if !self.row.is_signal {
            machine.forget_scratch(caller);
        }
    }

    /// The return address, `None` where the rule says that there is no caller. `found` is its rule
    /// and what that gave.
    fn return_address(
        &self,
        machine: &dyn Machine,
        found: Option<(Rule, Result<Option<u64>, End>)>,
    ) -> Result<Option<Addr>, End> {
        let register = self.row.return_address;
        let value = match found {
            Some((Rule::Undefined, _)) => return Ok(None),
            Some((_, value)) => value?,
            None if machine.link_register().is_some() => self.register(register),
            None => return Ok(None),
        };
        value.map(Addr::new).map(Some).ok_or_else(|| self.unknown(register))
    }

    fn value(&self, register: RegisterId, rule: Rule, cfa: u64) -> Result<Option<u64>, End> {
        let read = |at: u64| self.space.read_register(Addr::new(at)).map_err(End::Fault);
        let run = |expression| self.evaluate(expression, Some(cfa));
        Ok(match rule {
            Rule::Undefined => None,
            Rule::Same => self.register(register),
            Rule::Offset(offset) => Some(read(cfa.wrapping_add_signed(offset))?),
            Rule::ValueOffset(offset) => Some(cfa.wrapping_add_signed(offset)),
            Rule::Register(other) => self.register(other),
            Rule::Expression(expression) => Some(read(run(expression)?)?),
            Rule::ValueExpression(expression) => Some(run(expression)?),
            Rule::Constant(value) => Some(value),
        })
    }

    fn evaluate(&self, expression: ExpressionRef, initial: Option<u64>) -> Result<u64, End> {
        let cfi = (self.cfi)().ok_or(End::NoRule(self.regs.pc()))?;
        let mut regs = *self.regs;
        regs.set(self.program_counter, Some(self.regs.pc().get()));
        evaluate(cfi, expression, initial, &regs, self.space).map_err(|error| self.end(error))
    }

    fn unknown(&self, register: RegisterId) -> End {
        End::UnknownRegister { register: register.0, at: self.regs.pc() }
    }

    fn end(&self, error: EvalError) -> End {
        match error {
            EvalError::Fault(fault) => End::Fault(fault),
            EvalError::UnknownRegister(register) => self.unknown(register),
            EvalError::Malformed => End::BadRule(self.regs.pc()),
        }
    }
}

/// The end of a walk at a frame whose stack has no bytes, if that is why.
pub fn stack_fault(space: &dyn AddressSpace, sp: Addr) -> Option<Fault> {
    space.read_register(sp).err()
}
