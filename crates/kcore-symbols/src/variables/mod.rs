//! Variables: the arguments and locals of the functions that hold an address, and how each is found.
//!
//! - [`model`] says what a variable is, [`expression`] what a DWARF expression refers to around it.
//! - [`function`] reads the functions at an address with the blocks that hold it; [`instance`] joins what
//!   a concrete instance says with what the abstract one does, which has the names.
//! - [`variable`] reads one entry, [`location`] where it lies at an address, [`location_list`] a list of
//!   such places.
//! - [`call_site`] says what a caller knows of the arguments that it passed; [`tail_calls`] by which calls a
//!   function may end as another one.
//!
//! Nothing here is evaluated: there are neither registers nor memory in this room.

mod call_site;
mod expression;
mod function;
mod instance;
mod location;
mod location_list;
mod model;
mod tail_calls;
mod variable;

pub use call_site::{CallParameter, CallSite, CallTarget, FunctionCode};
pub use expression::Expression;
pub use model::{ConstantValue, FunctionScope, Scopes, Variable, VariableKind, VariableLocation};
pub use tail_calls::{CallPlace, TailCall, TailCalls};

use std::{rc::Rc, sync::Arc};

use kcore_mem::{Budget, Svma};

use crate::{DebugInfo, DieId, ModuleSymbols, Type, TypeError, meter::Meter};

impl ModuleSymbols {
    /// The functions that hold `svma` with their variables, as far as debug information tells. For a
    /// return address ask for the byte before it. The entries that are read are charged to `budget`.
    ///
    /// # Errors
    /// When the debug information is damaged there, or the budget is exhausted.
    pub fn scopes_at(&self, svma: Svma, budget: &Budget) -> Result<Option<Scopes>, TypeError> {
        let Some((info, id)) = self.lines().function_at(svma)? else { return Ok(None) };
        let meter = Rc::new(Meter::new(budget.clone()));
        function::scopes(info, id, svma, &meter)
            .map(Some)
            .map_err(|error| TypeError::reading(id, error))
    }

    /// The call that returns to `svma`, with what its caller knows of the arguments. The entries that are read are
    /// charged to `budget`.
    ///
    /// # Errors
    /// When the debug information is damaged there, or the budget is exhausted.
    pub fn call_returning_to(
        &self,
        svma: Svma,
        budget: &Budget,
    ) -> Result<Option<CallSite>, TypeError> {
        let before = Svma::new(svma.get().wrapping_sub(1));
        let Some((info, id)) = self.lines().function_at(before)? else { return Ok(None) };
        let meter = Rc::new(Meter::new(budget.clone()));
        call_site::returning_to(info, id, svma, &meter)
            .map_err(|error| TypeError::reading(id, error))
    }

    /// Where the function begins that the machine runs at `svma`, whatever is inlined there, as debug information
    /// tells; also in a part of it that lies elsewhere. For a return address ask for the byte before it.
    pub fn entry_at(&self, svma: Svma) -> Option<Svma> {
        let (info, id) = self.lines().function_at(svma).ok()??;
        call_site::start_of(info, id).ok()?
    }

    /// The calls by which the function at `svma` may end as another one; `None` of one without debug information. The
    /// entries that are read are charged to `budget`.
    ///
    /// # Errors
    /// When the debug information is damaged there, or the budget is exhausted.
    pub fn tail_calls_at(
        &self,
        svma: Svma,
        budget: &Budget,
    ) -> Result<Option<TailCalls>, TypeError> {
        let Some((info, id)) = self.lines().function_at(svma)? else { return Ok(None) };
        let meter = Rc::new(Meter::new(budget.clone()));
        tail_calls::of(info, id, &meter).map(Some).map_err(|error| TypeError::reading(id, error))
    }
}

impl DebugInfo {
    /// The variable that an entry describes, and where it lies while code at `pc` runs.
    ///
    /// # Errors
    /// When there is no such entry, or it is damaged.
    pub fn variable_at(
        self: &Arc<Self>,
        id: DieId,
        pc: Option<Svma>,
    ) -> Result<Variable, TypeError> {
        variable::read(self, id, pc).map_err(|error| TypeError::reading(id, error))
    }

    /// The type of one of its variables; `void` of one without a type.
    ///
    /// # Errors
    /// When the type cannot be read.
    pub fn type_of(self: &Arc<Self>, variable: &Variable) -> Result<Type, TypeError> {
        variable.ty.map_or_else(|| Ok(Type::void()), |id| self.type_at(id))
    }

    /// The call that an entry describes. The entries that are read are charged to `budget`.
    ///
    /// # Errors
    /// When the debug information is damaged there, or the budget is exhausted.
    pub fn call_site(self: &Arc<Self>, id: DieId, budget: &Budget) -> Result<CallSite, TypeError> {
        let meter = Rc::new(Meter::new(budget.clone()));
        call_site::read(self, id, &meter).map_err(|error| TypeError::reading(id, error))
    }

    /// Where the code of a function begins, and how it is called.
    ///
    /// # Errors
    /// When the debug information is damaged there.
    pub fn code_of(&self, function: DieId) -> Result<FunctionCode, TypeError> {
        call_site::code_of(self, function).map_err(|error| TypeError::reading(function, error))
    }
}
