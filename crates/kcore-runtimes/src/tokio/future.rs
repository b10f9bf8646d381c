//! What a future is doing: the chain of those that wait for one another, down to what the last one waits for.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};
use kcore_symbols::Type;

use super::{
    leaf,
    shape::{AWAITEE, Coroutine, Field, Parts, Shape, Shapes, VariantShape},
    wait::{Deadline, Wait, WaitKind},
};
use crate::{FrameKind, Host, LanguageFrame};

/// Futures of one chain that are followed.
const MAX_CHAIN: usize = 256;
/// Futures of one task, on all its branches.
const MAX_FUTURES: usize = 2048;
/// Values within values that are searched for futures, and members that are looked at for that.
const MAX_DEPTH: usize = 8;
const MAX_MEMBERS: usize = 4096;

/// A value of a type.
#[derive(Clone, Debug)]
pub struct Value {
    /// Where it lies.
    pub at: Addr,
    /// Its type.
    pub shape: Arc<Shape>,
}

/// What a future is doing.
#[derive(Clone, Debug, Default)]
pub struct Await {
    /// The functions that wait for one another, outermost first.
    pub frames: Vec<LanguageFrame>,
    /// What the last one waits for.
    pub end: AwaitEnd,
    /// Guards of locks that the functions hold: where each lock lies.
    pub held: Vec<Addr>,
    /// The first of the times at which a `timeout` on the way ends the wait.
    pub limit: Option<Deadline>,
}

/// What the last function of a chain waits for.
#[derive(Clone, Debug, Default)]
pub enum AwaitEnd {
    /// One thing.
    Leaf(Wait),
    /// Several futures, and it goes on when all of them, or one of them, are done.
    Branches(&'static str, Vec<Await>),
    /// It has not run yet.
    Unresumed,
    /// It is a branch of `select!` whose condition does not hold: nobody polls it.
    Disabled,
    /// It is done, or panicked.
    Ended,
    /// It cannot be told.
    #[default]
    Unknown,
}

/// The futures that were found in a value.
#[derive(Default)]
struct FoundFutures {
    futures: Vec<Value>,
    /// Whether all of them are waited for, and not the first that is done.
    joins: bool,
    /// Members that may still be looked at.
    left: usize,
}

/// Reads futures.
pub struct FutureReader<'h> {
    /// The process.
    pub host: &'h dyn Host,
    /// Types that were read.
    pub shapes: &'h Shapes,
    /// Futures that may still be followed.
    pub left: usize,
}

impl<'h> FutureReader<'h> {
    /// Reads the futures of one task.
    pub const fn new(host: &'h dyn Host, shapes: &'h Shapes) -> Self {
        Self { host, shapes, left: MAX_FUTURES }
    }

    /// The memory.
    pub fn space(&self) -> &'h dyn AddressSpace {
        self.host.space()
    }

    /// The value of a type at a place.
    pub fn value(&self, at: Addr, ty: &Type) -> Option<Value> {
        Some(Value { at, shape: self.shapes.of(ty)? })
    }

    /// The value of a member.
    pub fn field(&self, of: &Value, field: &Field) -> Option<Value> {
        self.value(of.at.checked_add(field.offset)?, &field.ty)
    }

    /// The members that a value has, those of its variant among them.
    pub fn fields<'s>(&self, value: &Value, shape: &'s Shape) -> Vec<&'s Field> {
        let Parts::Fields(fields, variants) = &shape.parts else { return Vec::new() };
        let chosen = variants.as_ref().and_then(|variants| {
            let number = self.discriminant(value.at, variants.discriminant)?;
            variants.chosen(number)
        });
        fields.iter().chain(chosen.into_iter().flat_map(|variant| &variant.fields)).collect()
    }

    /// The locals that a function has where it waits, without the future that it waits for.
    pub fn locals<'s>(&self, value: &Value, shape: &'s Shape) -> Vec<&'s Field> {
        let Parts::Coroutine(coroutine) = &shape.parts else { return Vec::new() };
        let state = self
            .discriminant(value.at, coroutine.states.discriminant)
            .and_then(|number| coroutine.states.chosen(number));
        let fields = state.into_iter().flat_map(|state| &state.fields);
        fields.filter(|field| &*field.name != AWAITEE).collect()
    }

    fn discriminant(&self, at: Addr, place: Option<(u64, u64)>) -> Option<u64> {
        let Some((offset, size)) = place else { return Some(0) };
        let size = usize::try_from(size).ok().filter(|size| *size <= 8)?;
        self.space().read_uint(at.checked_add(offset)?, size).ok()
    }

    /// What a future is doing.
    pub fn follow(&mut self, future: &Value) -> Await {
        let mut chain = Await::default();
        let mut functions: Vec<Value> = Vec::new();
        let mut next = Some(future.clone());
        for _ in 0..MAX_CHAIN {
            let Some(value) = next.take() else { return chain };
            let Some(left) = self.left.checked_sub(1) else { return chain };
            self.left = left;
            if let Some(wait) = leaf::of(self, &value, &functions, &chain.frames) {
                chain.frames.push(leaf_frame(&value));
                chain.end = AwaitEnd::Leaf(wait);
                return chain;
            }
            match &value.shape.parts {
                Parts::Coroutine(coroutine) => {
                    next = self.enter(&value, coroutine, &mut chain);
                    functions.push(value.clone());
                }
                Parts::Fields(..) if leaf::is_limit(&value.shape.name) => {
                    next = self.limited(&value, &mut chain);
                }
                _ => next = self.inner(&value, &mut chain),
            }
        }
        chain
    }

    /// Adds a function to a chain; gives the future that it waits for.
    fn enter(&self, value: &Value, coroutine: &Coroutine, chain: &mut Await) -> Option<Value> {
        let state = self
            .discriminant(value.at, coroutine.states.discriminant)
            .and_then(|number| coroutine.states.chosen(number));
        chain.frames.push(frame(value.at, &coroutine.function, state));
        let state = state?;
        match &*state.name {
            "Unresumed" => chain.end = AwaitEnd::Unresumed,
            "Returned" | "Panicked" => chain.end = AwaitEnd::Ended,
            _ => {
                let guards = state.fields.iter().filter_map(|field| self.guarded(value, field));
                chain.held.extend(guards);
                return self.field(value, state.awaitee()?);
            }
        }
        None
    }

    /// Adds a time limit to a chain; gives the future that has it.
    fn limited(&self, value: &Value, chain: &mut Await) -> Option<Value> {
        let (inner, limit) = leaf::limited(self, value)?;
        let until = limit.map(|limit| format!(" {limit}")).unwrap_or_default();
        chain.frames.push(LanguageFrame {
            function: Some(format!("{{timeout{until}}}").into()),
            ..leaf_frame(value)
        });
        chain.limit = [chain.limit, limit].into_iter().flatten().min();
        Some(inner)
    }

    /// The lock that a local is the guard of.
    fn guarded(&self, value: &Value, field: &Field) -> Option<Addr> {
        if !field.ty.name()?.contains("MutexGuard<") {
            return None;
        }
        let guard = self.field(value, field)?;
        if !guard.shape.name.starts_with("tokio::sync::mutex::") {
            return None;
        }
        leaf::word_named(self, &guard, "lock")
    }

    /// The future that one of another kind stands for, or its branches.
    fn inner(&mut self, value: &Value, chain: &mut Await) -> Option<Value> {
        let mut found = FoundFutures { left: MAX_MEMBERS, ..FoundFutures::default() };
        self.search(value, MAX_DEPTH, false, &mut found);
        let FoundFutures { futures: mut inner, joins, .. } = found;
        inner.retain(|found| found.at != value.at || found.shape.name != value.shape.name);
        if inner.len() <= 1 {
            let only = inner.pop();
            if only.is_none() {
                chain.frames.push(leaf_frame(value));
                chain.end = AwaitEnd::Leaf(Wait {
                    kind: WaitKind::Other,
                    which: None,
                    future: value.shape.name.clone(),
                });
            }
            return only;
        }
        let kind = if joins { "all" } else { "any" };
        chain.frames.push(leaf_frame(value));
        let disabled = leaf::disabled_branches(self, value);
        let disabled = disabled.filter(|(_, count)| *count == inner.len());
        let mut branches: Vec<Await> = inner.iter().map(|branch| self.follow(branch)).collect();
        for (index, branch) in branches.iter_mut().enumerate() {
            if disabled
                .is_some_and(|(bits, _)| bits.checked_shr(index as u32).unwrap_or(0) & 1 == 1)
            {
                branch.end = AwaitEnd::Disabled;
            }
        }
        chain.end = AwaitEnd::Branches(kind, branches);
        None
    }

    /// The futures in a value: what is a function, or a thing that is waited for, or may be one.
    fn search(&self, value: &Value, depth: usize, in_closure: bool, found: &mut FoundFutures) {
        let Some((depth, left)) = depth.checked_sub(1).zip(found.left.checked_sub(1)) else {
            return;
        };
        found.left = left;
        match &value.shape.parts {
            Parts::Coroutine(_) => found.futures.push(value.clone()),
            _ if leaf::is_leaf(&value.shape.name) || leaf::is_limit(&value.shape.name) => {
                found.futures.push(value.clone());
            }
            Parts::Dyn(..) => found.futures.extend(self.object(value)),
            Parts::Pointer(to) => {
                let target = (in_closure || leaf::owns(&value.shape.name))
                    .then(|| self.value(self.space().read_addr(value.at).ok()?, to));
                if let Some(target) = target.flatten() {
                    self.search(&target, depth, false, found);
                }
            }
            Parts::Fields(..) if !leaf::may_hold(&value.shape.name) => {}
            Parts::Fields(..) => self.search_fields(value, depth, in_closure, found),
            Parts::Scalar => {}
        }
    }

    fn search_fields(
        &self,
        value: &Value,
        depth: usize,
        in_closure: bool,
        found: &mut FoundFutures,
    ) {
        let shape = value.shape.clone();
        found.joins |= leaf::is_joined(&shape.name);
        let in_closure = in_closure || shape.name.contains("{closure_env#");
        for field in self.fields(value, &shape) {
            if let Some(inner) = self.field(value, field) {
                self.search(&inner, depth, in_closure, found);
            }
        }
    }

    /// The future behind a pointer to a trait object.
    fn object(&self, value: &Value) -> Option<Value> {
        let Parts::Dyn(data, table) = value.shape.parts else { return None };
        if !value.shape.name.contains("Future<") {
            return None;
        }
        let word = |offset: u64| self.space().read_addr(value.at.checked_add(offset)?).ok();
        let (data, table) = (word(data)?, word(table)?);
        let module = self.host.module_at(table)?;
        let ty = module.symbols().debug_info()?.type_of_vtable(module.svma(table)?)?;
        self.value(data, &ty)
    }
}

/// The frame of a function that waits.
fn frame(at: Addr, function: &Arc<str>, state: Option<&VariantShape>) -> LanguageFrame {
    let declared = state.and_then(|state| state.at.as_ref());
    // The compiler gives what a macro of tokio awaits the line in the macro: that of the program is not known then.
    let declared = declared.filter(|at| !at.file.as_deref().is_some_and(is_macro_of_tokio));
    let doubt = state.is_none().then(|| "its state cannot be read".into());
    LanguageFrame {
        kind: FrameKind::Async,
        function: Some(function.clone()),
        file: declared.and_then(|at| at.file.clone()),
        line: declared.map(|at| at.line),
        language: Some("rust"),
        object: Some(at),
        doubt,
        ..LanguageFrame::default()
    }
}

/// Whether a file has macros of tokio: `tokio-1.54.1/src/macros/select.rs`.
fn is_macro_of_tokio(file: &str) -> bool {
    let package = file.rsplit_once("/src/macros/").map(|(package, _)| package);
    let package = package.and_then(|package| package.rsplit('/').next());
    package.is_some_and(|package| package == "tokio" || package.starts_with("tokio-"))
}

/// The frame of a future that is no function.
fn leaf_frame(value: &Value) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Async,
        function: Some(value.shape.name.clone()),
        language: Some("rust"),
        object: Some(value.at),
        ..LanguageFrame::default()
    }
}

#[cfg(test)]
mod tests {
    use super::is_macro_of_tokio;

    #[test]
    fn a_line_in_a_macro_is_not_the_programs() {
        assert!(is_macro_of_tokio("/src/tokio-1.54.1/src/macros/select.rs"));
        assert!(is_macro_of_tokio("/vendor/tokio/src/macros/try_join.rs"));
        assert!(!is_macro_of_tokio("/src/tokio-1.54.1/src/sync/mutex.rs"));
        assert!(!is_macro_of_tokio("/home/app/src/macros/select.rs"));
    }
}
