//! What arguments were when a function began: what its caller passed, as far as the caller still knows.

use gimli::{EndianSlice, Operation, RunTimeEndian, Value};
use kcore_symbols::{CallParameter, DieId, Expression};

use super::evaluate::{Evaluator, damaged};
use crate::Absent;

/// What of the beginning of a function is asked for.
enum EntryQuestion {
    /// A register.
    Register(u16),
    /// What a register pointed to.
    Pointee(u16),
}

impl Evaluator<'_> {
    /// The value that an expression had when the function began.
    pub fn entry_value(&self, entry: &Expression) -> Result<Value, Absent> {
        match self.wanted(entry)?.ok_or(Absent::OptimizedOut)? {
            EntryQuestion::Register(register) => self.passed_as(|parameter| {
                self.is_in(parameter, register).then_some(parameter.value.as_ref())?
            }),
            EntryQuestion::Pointee(register) => self.passed_as(|parameter| {
                self.is_in(parameter, register).then_some(parameter.data_value.as_ref())?
            }),
        }
    }

    /// The value that was passed for a parameter, by its entry.
    pub fn passed(&self, parameter: Option<DieId>) -> Result<Value, Absent> {
        let wanted = parameter.ok_or(Absent::OptimizedOut)?;
        self.passed_as(|parameter| {
            (parameter.parameter == Some(wanted)).then_some(parameter.value.as_ref())?
        })
    }

    /// The value of what the call says of the argument that `find` chooses, in the caller's frame.
    fn passed_as(
        &self,
        find: impl Fn(&CallParameter) -> Option<&Expression>,
    ) -> Result<Value, Absent> {
        let call = self.frame.call().ok_or(Absent::OptimizedOut)?;
        let value = call.site.parameters.iter().find_map(find).ok_or(Absent::OptimizedOut)?;
        self.within(&*call.frame)?.value(value)
    }

    fn is_in(&self, parameter: &CallParameter, register: u16) -> bool {
        let location = parameter.location.as_ref();
        let found = location.and_then(|location| self.wanted(location).ok().flatten());
        matches!(found, Some(EntryQuestion::Register(found)) if found == register)
    }

    /// What an expression asks for: one register alone, or what it points to.
    fn wanted(&self, entry: &Expression) -> Result<Option<EntryQuestion>, Absent> {
        let bytes = EndianSlice::new(entry.bytes(), self.order());
        if self.reader(entry.bytes()).is_err() {
            return Ok(None);
        }
        let mut operations = gimli::Expression(bytes).operations(entry.encoding());
        let mut next = || operations.next().map_err(damaged);
        Ok(match (next()?, next()?) {
            (Some(Operation::Register { register }), None) => {
                Some(EntryQuestion::Register(register.0))
            }
            (
                Some(Operation::<EndianSlice<'_, RunTimeEndian>>::RegisterOffset {
                    register,
                    offset: 0,
                    ..
                }),
                after,
            ) => match after {
                None => Some(EntryQuestion::Register(register.0)),
                Some(Operation::Deref { .. }) => Some(EntryQuestion::Pointee(register.0)),
                Some(_) => None,
            },
            _ => None,
        })
    }
}
