//! Operations of Asio: objects with the function that completes them.

use std::sync::Arc;

use kcore_mem::{Addr, Budget, CodeAddr};
use kcore_symbols::Type;
use rustc_hash::FxHashMap;

use super::members;
use crate::Host;

/// What functions that complete operations call the operation: it is a variable of theirs.
const NAMES: [&str; 3] = ["o", "h", "p"];
/// The type of promises of Asio's coroutines (`asio/impl/awaitable.hpp`).
const PROMISE: &str = "awaitable_frame";

/// What all operations with the same function have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// The function, demangled and without parameters.
    pub function: Option<Arc<str>>,
    /// Its type without scopes and arguments: `reactive_socket_accept_op`.
    pub kind: Option<Arc<str>>,
    /// Where an operation has the promise of the outermost of the coroutines that go on when it is complete, in bytes from
    /// its `scheduler_operation`.
    pub promise: Option<u64>,
}

/// Operations by their functions, each looked at once.
pub struct Operations<'a> {
    host: &'a dyn Host,
    budget: &'a Budget,
    /// `scheduler_operation::func_`.
    function: u64,
    known: FxHashMap<Addr, Operation>,
}

impl<'a> Operations<'a> {
    /// None is known yet.
    pub fn new(host: &'a dyn Host, budget: &'a Budget, function: u64) -> Self {
        Self { host, budget, function, known: FxHashMap::default() }
    }

    /// What the operations have in common that a function completes.
    pub fn of(&mut self, function: Addr) -> Operation {
        if let Some(known) = self.known.get(&function) {
            return known.clone();
        }
        let ty = self.type_of(function);
        let kind = ty.as_ref().and_then(|ty| ty.name()?.split('<').next().map(Arc::from));
        let found = Operation {
            function: self.host.function_at(CodeAddr::Pc(function)),
            kind,
            promise: ty.as_ref().and_then(|ty| self.promise(ty)),
        };
        self.known.insert(function, found.clone());
        found
    }

    /// An operation that moves a socket has that as its first base class, and lies behind it.
    fn promise(&self, ty: &Type) -> Option<u64> {
        let before = members::offset(ty, &["func_"])?.checked_sub(self.function)?;
        members::pointer_to(ty, PROMISE)?.checked_sub(before)
    }

    /// The type that a function casts the operation to.
    fn type_of(&self, function: Addr) -> Option<Type> {
        let module = self.host.module_at(function)?;
        let symbols = module.symbols();
        let info = symbols.debug_info()?;
        let scopes = symbols.scopes_at(module.svma(function)?, self.budget).ok()??;
        let variables = scopes.functions.iter().flat_map(|function| &function.variables);
        let is_one = |name: &str| NAMES.contains(&name);
        let mut meant = variables.filter(|it| it.name.as_deref().is_some_and(is_one));
        meant.find_map(|variable| {
            let ty = info.type_of(variable).ok()?.stripped().ok()?;
            members::pointee(&ty).filter(|to| members::offset(to, &["func_"]).is_some())
        })
    }
}
