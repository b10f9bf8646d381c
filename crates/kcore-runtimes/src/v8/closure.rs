//! What a function sees.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Function, Heap, Tagged, V8,
    context_slots::variable_slots,
    heap::Object,
    value::{Limits, Reader, Value},
};
use crate::Host;

/// Scopes around a function, at most.
const MAX_SCOPES: usize = 64;
/// Variables of a scope that are read, at most.
const MAX_VARIABLES: u64 = 1 << 16;
/// Names are read to this many units.
const MAX_NAME: u64 = 1024;
/// Native contexts, which end the chain, have more slots than any scope of a program needs.
const NATIVE_SLOTS: u64 = 200;
/// The slot of the context around a context.
const OUTER: u64 = 1;

/// A scope around a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Its context, without tag.
    pub context: Addr,
    /// Its variables, in the order of the source.
    pub variables: Vec<Variable>,
}

/// A variable of a scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub value: Value,
}

impl V8 {
    /// The scopes that a function, or one that waits to run, sees; the innermost first. Those without
    /// variables are left out.
    pub fn scopes(&self, host: &dyn Host, function: Addr, limits: Limits) -> Option<Vec<Scope>> {
        let heap = self.decodable(host)?;
        let function = Function::load(&heap, heap.object_or_tagged(function))?;
        let scopes = contexts(&heap, function).filter_map(|context| scope(&heap, context, limits));
        Some(scopes.collect())
    }
}

/// The value of a variable that a function captured.
pub(super) fn captured(heap: &Heap<'_>, function: Function, name: &str) -> Option<Tagged> {
    contexts(heap, function).find_map(|context| {
        let is_wanted =
            |found: &Object| heap.text(*found, MAX_NAME).is_some_and(|found| found == name);
        variables(heap, context)
            .into_iter()
            .find(|(found, _)| is_wanted(found))
            .map(|(_, value)| value)
    })
}

/// The contexts of the scopes around a function, the innermost first, without the native one.
fn contexts<'a>(heap: &'a Heap<'_>, function: Function) -> impl Iterator<Item = Object> + 'a {
    let contexts = std::iter::successors(function.context(heap), |context| {
        heap.object(heap.element(*context, OUTER)?).filter(|outer| heap.is_context(*outer))
    });
    contexts
        .take_while(|context| heap.length(*context).is_some_and(|slots| slots < NATIVE_SLOTS))
        .take(MAX_SCOPES)
}

fn scope(heap: &Heap<'_>, context: Object, limits: Limits) -> Option<Scope> {
    let variables = variables(heap, context).into_iter().filter_map(|(name, value)| {
        Some(Variable {
            name: heap.text(name, MAX_NAME)?.into(),
            value: Reader::new(*heap, limits).value(value, limits.depth),
        })
    });
    let variables: Vec<_> = variables.collect();
    (!variables.is_empty()).then_some(Scope { context: context.at, variables })
}

/// The names of a context's variables, and what they hold.
fn variables(heap: &Heap<'_>, context: Object) -> Vec<(Object, Tagged)> {
    let slots = variable_slots(heap, context, MAX_VARIABLES).into_iter();
    slots.filter_map(|(name, slot)| Some((name, heap.element(context, slot)?))).collect()
}
