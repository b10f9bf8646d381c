//! Gives an expression what it asks for.

use std::sync::Arc;

use gimli::{DieReference, EndianArcSlice, EvaluationResult, UnitOffset, Value, ValueType};
use kcore_mem::{Addr, Svma};
use kcore_symbols::{DieId, Expression, VariableLocation};

use super::{
    bytes,
    evaluate::{Evaluator, Reader, damaged, unreadable},
};
use crate::Absent;

type Evaluation = gimli::Evaluation<Reader>;
type State = EvaluationResult<Reader>;

impl Evaluator<'_> {
    /// Answers one question, so that the evaluation goes on.
    pub fn answer(
        &self,
        evaluation: &mut Evaluation,
        expression: &Expression,
        question: State,
    ) -> Result<State, Absent> {
        let next = match question {
            EvaluationResult::Complete => Ok(EvaluationResult::Complete),
            EvaluationResult::RequiresMemory { space: Some(_), .. } => {
                return Err(unreadable("it names an address space"));
            }
            EvaluationResult::RequiresMemory { address, size, base_type, .. } => {
                let ty = base_type_of(expression, base_type)?;
                let value = self.memory(Addr::new(address), usize::from(size), ty)?;
                evaluation.resume_with_memory(value)
            }
            EvaluationResult::RequiresRegister { register, base_type } => {
                let ty = base_type_of(expression, base_type)?;
                evaluation.resume_with_register(self.register(register.0, ty)?)
            }
            EvaluationResult::RequiresFrameBase => {
                evaluation.resume_with_frame_base(self.frame_base()?)
            }
            EvaluationResult::RequiresTls(offset) => {
                evaluation.resume_with_tls(self.frame.thread_local(offset)?.get())
            }
            EvaluationResult::RequiresCallFrameCfa => {
                let cfa = self.frame.cfa().ok_or_else(|| unreadable("the CFA is not known"))?;
                evaluation.resume_with_call_frame_cfa(cfa.get())
            }
            EvaluationResult::RequiresAtLocation(of) => {
                evaluation.resume_with_at_location(self.called(expression, of)?)
            }
            EvaluationResult::RequiresEntryValue(entry) => {
                let entry = expression.beside(bytes::of_reader(&entry.0));
                evaluation.resume_with_entry_value(self.entry_value(&entry)?)
            }
            EvaluationResult::RequiresParameterRef(parameter) => {
                let id = expression.entry_in_unit(parameter.0);
                let passed = self.passed(id)?.to_u64(self.address_mask()).map_err(damaged)?;
                evaluation.resume_with_parameter_ref(passed)
            }
            EvaluationResult::RequiresRelocatedAddress(at) => {
                evaluation.resume_with_relocated_address(self.relocated(at)?)
            }
            EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                let at = expression.indexed_address(index.0);
                let at = at.ok_or_else(|| unreadable("there is no such address"))?;
                let at = if relocate { self.relocated(at)? } else { at };
                evaluation.resume_with_indexed_address(at)
            }
            EvaluationResult::RequiresBaseType(offset) => {
                evaluation.resume_with_base_type(base_type_of(expression, offset)?)
            }
        };
        next.map_err(damaged)
    }

    /// What a register held, as an unsigned number.
    pub fn register_number(&self, number: u16) -> Result<u64, Absent> {
        let bytes = self.frame.register(number).ok_or(Absent::OptimizedOut)?;
        Ok(bytes::to_number(&bytes, self.target().endian))
    }

    fn register(&self, number: u16, ty: ValueType) -> Result<Value, Absent> {
        let bytes = self.frame.register(number).ok_or(Absent::OptimizedOut)?;
        self.typed(&bytes, ty)
    }

    fn memory(&self, at: Addr, size: usize, ty: ValueType) -> Result<Value, Absent> {
        if ty == ValueType::Generic {
            return Ok(Value::Generic(self.frame.space().read_uint(at, size)?));
        }
        let mut bytes = [0; 8];
        let bytes = bytes.get_mut(..size).ok_or_else(|| unreadable("it reads too much"))?;
        self.frame.space().read(at, bytes)?;
        self.typed(bytes, ty)
    }

    /// Bytes as a value of a type.
    fn typed(&self, bytes: &[u8], ty: ValueType) -> Result<Value, Absent> {
        if ty == ValueType::Generic {
            return Ok(Value::Generic(bytes::to_number(bytes, self.target().endian)));
        }
        Value::parse(ty, EndianArcSlice::new(Arc::from(bytes), self.order())).map_err(damaged)
    }

    /// Where an address of the file lies. A variable that the linker dropped has address 0, where a file has its header.
    fn relocated(&self, at: u64) -> Result<u64, Absent> {
        if at == 0 {
            return Err(Absent::OptimizedOut);
        }
        let found = self.frame.relocated(Svma::new(at));
        found.map(Addr::get).ok_or_else(|| unreadable("the module's place is not known"))
    }

    /// The expression by which another entry says where it lies; none if it does not.
    fn called(&self, expression: &Expression, of: DieReference<usize>) -> Result<Reader, Absent> {
        let id = match of {
            DieReference::UnitRef(offset) => expression.entry_in_unit(offset.0),
            DieReference::DebugInfoRef(offset) => expression.entry(offset.0),
        };
        match self.location_at(expression, id)? {
            VariableLocation::Expression(called) => self.reader(called.bytes()),
            VariableLocation::Damaged(error) => Err(damaged(error)),
            VariableLocation::OptimizedOut | VariableLocation::Constant(_) => self.reader(&[]),
        }
    }

    fn location_at(
        &self,
        expression: &Expression,
        id: Option<DieId>,
    ) -> Result<VariableLocation, Absent> {
        let found = expression.debug_info().zip(id);
        let (info, id) = found.ok_or_else(|| unreadable("there is no such entry"))?;
        let variable = info.variable_at(id, self.frame.pc());
        variable.map(|variable| variable.location).map_err(|error| unreadable(&error.to_string()))
    }
}

/// The type of numbers at an offset in an expression's unit; 0 is that of addresses.
fn base_type_of(expression: &Expression, offset: UnitOffset<usize>) -> Result<ValueType, Absent> {
    if offset.0 == 0 {
        return Ok(ValueType::Generic);
    }
    let ty = expression.base_type(offset.0);
    ty.ok_or_else(|| unreadable("it has a type of numbers that is not known"))
}
