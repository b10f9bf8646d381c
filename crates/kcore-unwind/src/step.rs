//! One step by call frame information: a row applied to registers and memory.

use kcore_mem::{Addr, AddressSpace, Fault};

use crate::{
    Cfi, End, Machine, RegisterId, Regs,
    expression::{EvalError, evaluate},
    row::{CfaRule, Row, Rule},
};

/// What a step found.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// CFA of the frame that was left.
    pub cfa: Addr,
    /// Registers of the caller, its pc among them; `None` where there is no caller.
    pub caller: Option<Regs>,
}

/// Applies `row` of `cfi` to `regs`.
///
/// # Errors
/// Why the rule cannot be followed: memory without bytes, a register that is unknown.
pub fn step_by_row(
    cfi: &Cfi,
    row: &Row,
    regs: &Regs,
    space: &dyn AddressSpace,
    machine: &dyn Machine,
) -> Result<Step, End> {
    let mut with_pc = *regs;
    with_pc.set(machine.program_counter(), Some(regs.pc().get()));
    let applied = Applied { cfi, row, regs: &with_pc, space };
    let cfa = applied.cfa()?;
    let mut caller = applied.inherited(machine);
    caller.set(machine.stack_pointer(), Some(cfa));
    for (register, rule) in &row.rules {
        // The others stay usable when one register's slot was not dumped.
        caller.set(*register, applied.value(*register, *rule, cfa).ok().flatten());
    }
    let pc = applied.return_address(machine, cfa)?;
    let caller = pc.map(|pc| caller.with_pc(machine.strip_code(pc)));
    Ok(Step { cfa: Addr::new(cfa), caller })
}

struct Applied<'a> {
    cfi: &'a Cfi,
    row: &'a Row,
    regs: &'a Regs,
    space: &'a dyn AddressSpace,
}

impl Applied<'_> {
    fn cfa(&self) -> Result<u64, End> {
        match self.row.cfa {
            CfaRule::Register(register, offset) => {
                // Assembly with conventions of its own may keep its CFA where a callee need not
                // preserve it. That its unwind information says so at a call is the promise that
                // the callee does.
                let base = self.regs.get(register).or_else(|| self.regs.left_by_callee(register));
                let base = base.ok_or_else(|| self.unknown(register))?;
                Ok(base.wrapping_add_signed(offset))
            }
            CfaRule::Expression(expression) => {
                evaluate(self.cfi, expression, None, self.regs, self.space)
                    .map_err(|error| self.end(error))
            }
        }
    }

    /// What the caller has of registers without a rule: those that a callee must preserve; all of
    /// them above a signal.
    fn inherited(&self, machine: &dyn Machine) -> Regs {
        let mut regs = *self.regs;
        regs.set(machine.program_counter(), None);
        if !self.row.is_signal {
            machine.forget_scratch(&mut regs);
        }
        regs
    }

    /// The return address, `None` where the rule says that there is no caller.
    fn return_address(&self, machine: &dyn Machine, cfa: u64) -> Result<Option<Addr>, End> {
        let register = self.row.return_address;
        let rule = match self.row.rule(register) {
            Some(rule) => rule,
            None if machine.returns_by_register() => Rule::Same,
            None => return Ok(None),
        };
        if rule == Rule::Undefined {
            return Ok(None);
        }
        let value = self.value(register, rule, cfa)?;
        value.map(Addr::new).map(Some).ok_or_else(|| self.unknown(register))
    }

    fn value(&self, register: RegisterId, rule: Rule, cfa: u64) -> Result<Option<u64>, End> {
        let read = |at: u64| self.space.read_word(Addr::new(at)).map_err(End::Fault);
        let run = |expression| {
            evaluate(self.cfi, expression, Some(cfa), self.regs, self.space)
                .map_err(|error| self.end(error))
        };
        Ok(match rule {
            Rule::Undefined => None,
            Rule::Same => self.regs.get(register),
            Rule::Offset(offset) => Some(read(cfa.wrapping_add_signed(offset))?),
            Rule::ValueOffset(offset) => Some(cfa.wrapping_add_signed(offset)),
            Rule::Register(other) => self.regs.get(other),
            Rule::Expression(expression) => Some(read(run(expression)?)?),
            Rule::ValueExpression(expression) => Some(run(expression)?),
            Rule::Constant(value) => Some(value),
        })
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
    space.read_word(sp).err()
}
