//! Pointers to variables that were optimized away, whose values are known all the same
//! (`DW_OP_implicit_pointer`).

use std::sync::Arc;

use kcore_symbols::{DebugInfo, Expression, Type, TypeError, Variable};

use super::evaluate::{Evaluator, unreadable};
use crate::{Absent, Object, ObjectPlace};

impl Evaluator<'_> {
    /// What a pointer of type `ty` leads to: the variable at an offset of `.debug_info`, and so many
    /// bytes behind its beginning.
    pub fn pointee(
        &self,
        expression: &Expression,
        offset: usize,
        bytes: i64,
        ty: &Type,
    ) -> Result<Arc<Object>, Absent> {
        let found = expression.debug_info().zip(expression.entry(offset));
        let (info, id) = found.ok_or_else(|| unreadable("there is no such entry"))?;
        let told = |error: TypeError| unreadable(&error.to_string());
        let variable = info.variable_at(id, self.frame.pc()).map_err(told)?;
        let target = type_of(info, &variable, ty).map_err(told)?;
        let inner = self.within(self.frame)?;
        let place = inner.place(&variable.location, &target).unwrap_or_else(ObjectPlace::nowhere);
        let place = u64::try_from(bytes).map_or_else(
            |_| ObjectPlace::nowhere(unreadable("it lies before what it points to")),
            |bytes| if bytes == 0 { place.clone() } else { place.part(bytes) },
        );
        Ok(Arc::new(Object { ty: target, place }))
    }
}

/// The type of what is pointed to: the variable's own, else what the pointer says.
fn type_of(info: &Arc<DebugInfo>, variable: &Variable, pointer: &Type) -> Result<Type, TypeError> {
    match variable.ty {
        None => Ok(pointer.stripped()?.target()?.unwrap_or_else(Type::void)),
        Some(_) => info.type_of(variable),
    }
}
