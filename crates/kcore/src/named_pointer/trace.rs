//! Following a register back to what it was loaded from, and to the caller that passed it.

use std::cell::Cell;

use kcore_disasm::{Disassembler, Flow, Instruction, RegisterWrite};
use kcore_mem::Addr;
use kcore_unwind::RegisterId;

use super::{NamedPointer, argument::ArgumentHome, path, straight_code::StraightCode};
use crate::{Core, Frame, KnownFrames, Stack, arch::facts};

/// Pointers that are followed one behind the other, moves from register to register among them.
pub const MAX_STEPS: usize = 16;
/// Terms of sums that are evaluated for one stack.
const MAX_TERMS: usize = 128;
/// Callers whose names for an argument are told.
pub const MAX_CALLERS: usize = 8;

/// The frames of a stack, and what reads their code.
pub struct Trace<'c> {
    pub(super) core: &'c Core,
    stack: &'c Stack,
    pub(super) frames: &'c KnownFrames<'c>,
    pub(super) disassembler: Option<Disassembler>,
    /// Terms that may still be evaluated.
    terms: Cell<usize>,
}

/// A register right before an instruction of straight code.
#[derive(Clone, Copy)]
pub struct HeldRegister<'a> {
    pub(super) frame: usize,
    pub(super) code: &'a StraightCode,
    /// Instructions of that code that ran before.
    before: usize,
    /// The address of the instruction behind them.
    at: Addr,
    pub(super) register: &'a str,
}

impl<'c> Trace<'c> {
    pub fn new(core: &'c Core, stack: &'c Stack, frames: &'c KnownFrames<'c>) -> Self {
        let disassembler = Disassembler::new(core.target()).ok();
        Self { core, stack, frames, disassembler, terms: Cell::new(MAX_TERMS) }
    }

    /// Counts a term; `None` if there were too many.
    pub(super) fn spend(&self) -> Option<()> {
        self.terms.set(self.terms.get().checked_sub(1)?);
        Some(())
    }

    /// The names that a frame, and its callers, have for what a register held, each with the index of its frame.
    pub fn names(&self, frame: usize, register: &str) -> Vec<(usize, NamedPointer)> {
        let mut names = Vec::new();
        let value = self.register(register).and_then(|it| self.frames.register(frame, it));
        let Some(value) = value.map(Addr::new) else { return names };
        let (mut frame, mut register) = (frame, register.to_owned());
        for _ in 0..MAX_CALLERS {
            let Some(code) = self.code_before(frame) else { break };
            let held = self.held(frame, &code, &register);
            let named = self.name(held, Some(value), MAX_STEPS);
            let named = named.filter(|named| path::is_pointer(&named.ty));
            names.extend(named.map(|named| (frame, named)));
            let Some(passed_in) = self.argument(held) else { break };
            (frame, register) = (frame.saturating_add(1), passed_in);
        }
        names
    }

    /// The word in memory that a register was loaded from last, in the frame or by the caller that passed what it held;
    /// `None` if the code does not tell, or nothing holds the address any more.
    pub fn source(&self, frame: usize, register: &str) -> Option<Addr> {
        let (mut frame, mut register) = (frame, register.to_owned());
        for _ in 0..MAX_CALLERS {
            let code = self.code_before(frame)?;
            let held = self.held(frame, &code, &register);
            if let Some(at) = self.loaded_from(held, MAX_STEPS) {
                return Some(at);
            }
            let passed_in = self.argument(held)?;
            (frame, register) = (frame.saturating_add(1), passed_in);
        }
        None
    }

    fn loaded_from(&self, held: HeldRegister<'_>, steps: usize) -> Option<Addr> {
        let steps = steps.checked_sub(1)?;
        let (index, write) = self.write(held)?;
        match write {
            RegisterWrite::Copied(from) => self.loaded_from(held.earlier(index, &from)?, steps),
            RegisterWrite::LoadedFrom(at) => Some(at),
            RegisterWrite::Loaded { base, displacement } => {
                let base = self.kept_value(held.earlier(index, &base)?)?;
                Some(base.wrapping_offset(displacement))
            }
            RegisterWrite::Other => None,
        }
    }

    /// The code before the instruction at which a frame stopped: before its call, of a caller.
    pub(super) fn code_before(&self, frame: usize) -> Option<StraightCode> {
        let pc = self.stack.frames.get(frame).filter(|frame| !frame.guess)?.pc;
        let mut code = self.core.crash().straight_code_in(
            self.disassembler.as_ref()?,
            pc.lookup(),
            pc.addr(),
        )?;
        // Of a caller the last instruction is the call.
        if pc.lookup() != pc.addr() {
            code.instructions.pop().filter(|call| call.flow.is_call())?;
        }
        Some(code)
    }

    pub(super) fn held<'a>(
        &self,
        frame: usize,
        code: &'a StraightCode,
        register: &'a str,
    ) -> HeldRegister<'a> {
        let stopped = self.stack.frames.get(frame).map(|frame| frame.pc.lookup());
        let last = code.instructions.last().map(Instruction::end);
        let at = last.or(stopped).unwrap_or(Addr::new(0));
        HeldRegister { frame, code, before: code.instructions.len(), at, register }
    }

    /// The last instruction that wrote to a register, and what it left there.
    pub(super) fn write(&self, held: HeldRegister<'_>) -> Option<(usize, RegisterWrite)> {
        let disassembler = self.disassembler.as_ref()?;
        let before = held.code.instructions.get(..held.before)?;
        before.iter().enumerate().rev().find_map(|(index, instruction)| {
            let write = disassembler.write_to(instruction.addr, &instruction.bytes, held.register);
            write.map(|write| (index, write))
        })
    }

    /// What the program calls what a register holds. The name has its meaning where the frame stopped: a variable or
    /// member that has another value by then is none. `value` is what the register held, if that is known.
    pub(super) fn name(
        &self,
        held: HeldRegister<'_>,
        value: Option<Addr>,
        steps: usize,
    ) -> Option<NamedPointer> {
        let steps = steps.checked_sub(1)?;
        let value = value.or_else(|| self.kept_value(held));
        let named = self.variable(held, value).or_else(|| {
            let (index, write) = self.write(held)?;
            let named = match write {
                RegisterWrite::Copied(from) => self.name(held.earlier(index, &from)?, value, steps),
                RegisterWrite::LoadedFrom(at) => self.named_at(held.frame, at),
                RegisterWrite::Loaded { base, displacement } => {
                    self.name_of_loaded(held.earlier(index, &base)?, displacement, steps)
                }
                RegisterWrite::Other => None,
            };
            named.or_else(|| self.element(held, index))
        });
        named.filter(|named| value.is_none_or(|value| value == named.value))
    }

    /// What the program calls the pointer that lies so many bytes behind what a register holds.
    fn name_of_loaded(
        &self,
        base: HeldRegister<'_>,
        displacement: i64,
        steps: usize,
    ) -> Option<NamedPointer> {
        let kept = self.kept_value(base);
        let pointer = self.variable(base, kept);
        let place = kept.filter(|_| pointer.is_none());
        let place = place.map(|value| value.wrapping_offset(displacement));
        if let Some(named) = place.and_then(|at| self.named_at(base.frame, at)) {
            return Some(named);
        }
        let pointer = pointer.or_else(|| self.name(base, kept, steps))?;
        path::behind(self.core, &pointer, displacement)
    }

    /// The variable that is in the register, and has its value still where the frame stopped.
    fn variable(&self, held: HeldRegister<'_>, value: Option<Addr>) -> Option<NamedPointer> {
        let register = self.register(held.register)?;
        let mut found =
            self.frames.variables_in_register(held.frame, held.at, register).into_iter();
        found.find_map(|variable| {
            let is_last = held.before == held.code.instructions.len();
            let now = variable.value.or(value.filter(|_| is_last))?;
            let name = variable.name.to_string();
            let (ty, depth) = (variable.ty, variable.depth);
            let named = NamedPointer { name, ty, at: None, value: now, depth };
            value.is_none_or(|value| value == now).then_some(named)
        })
    }

    pub(super) fn named_at(&self, frame: usize, at: Addr) -> Option<NamedPointer> {
        path::named_at(self.core, self.frames, frame, at)
    }

    /// The value of a register there, if nothing wrote to it until the frame stopped.
    pub(super) fn kept_value(&self, held: HeldRegister<'_>) -> Option<Addr> {
        let register = self.register(held.register).filter(|_| !self.changes_later(held))?;
        self.frames.register(held.frame, register).map(Addr::new)
    }

    /// Whether an instruction between there and where the frame stopped writes to the register.
    fn changes_later(&self, held: HeldRegister<'_>) -> bool {
        let Some(disassembler) = self.disassembler.as_ref() else { return true };
        let later = held.code.instructions.get(held.before..).unwrap_or_default();
        later.iter().any(|it| disassembler.write_to(it.addr, &it.bytes, held.register).is_some())
    }

    /// The register in which a caller passed what the register holds, if it did so.
    pub(super) fn argument(&self, held: HeldRegister<'_>) -> Option<String> {
        let (mut held, mut name) = (held, held.register.to_owned());
        for _ in 0..MAX_STEPS {
            match self.write(HeldRegister { register: &name, ..held }) {
                None if self.is_called(held) => return Some(name),
                None => return self.argument_in(held.frame, &ArgumentHome::Register(name)),
                Some((index, RegisterWrite::Copied(from))) => {
                    held = HeldRegister { before: index, ..held };
                    name = from;
                }
                Some((_, write)) => {
                    return self.argument_in(held.frame, &ArgumentHome::loaded_from(&write)?);
                }
            }
        }
        None
    }

    /// Whether the code begins the function that the next frame called.
    fn is_called(&self, held: HeldRegister<'_>) -> bool {
        let begins = held.code.begins;
        begins.is_some() && self.called_at(held.frame) == begins
    }

    /// Where the function of a frame begins, if the next frame called it there. Without debug information, the call must state
    /// that, and the function have no way out but its returns: else it may have come there again by another function.
    pub(super) fn called_at(&self, frame: usize) -> Option<Addr> {
        self.frames.called_at(frame).or_else(|| {
            let (own, caller) = (self.certain(frame)?, self.certain(frame.checked_add(1)?)?);
            let callee = facts(self.core.target()).calls.as_ref()?.callee;
            let called = callee(caller.pc.addr(), self.core.space())?;
            let symbol = self.core.symbols().at(own.pc.lookup())?;
            let is_it = symbol.start == called && !symbol.is_only_nearest();
            let code = self.core.crash().whole_code(self.disassembler.as_ref()?, called)?;
            let range = called..called.saturating_add(symbol.size);
            let stays = code.iter().all(|it| match it.flow {
                Flow::Jump(to) => to.is_some_and(|to| range.contains(&to)),
                _ => true,
            });
            (is_it && stays).then_some(called)
        })
    }

    fn certain(&self, frame: usize) -> Option<&Frame> {
        self.stack.frames.get(frame).filter(|frame| !frame.guess)
    }

    fn register(&self, name: &str) -> Option<RegisterId> {
        let names = self.core.machine()?.register_names();
        names.iter().find(|(known, _)| *known == name).map(|(_, register)| *register)
    }
}

impl<'a> HeldRegister<'a> {
    /// Another register, before an earlier instruction.
    pub(super) fn earlier<'b>(&self, index: usize, register: &'b str) -> Option<HeldRegister<'b>>
    where
        'a: 'b,
    {
        let at = self.code.instructions.get(index)?.addr;
        Some(HeldRegister { frame: self.frame, code: self.code, before: index, at, register })
    }
}
