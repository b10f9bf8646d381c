//! The contexts of a process: objects of the heap that are known to be some, what interfaces on the stacks of goroutines
//! hold, and their parents.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    ContextKind, INTERFACE,
    shape::{ContextShape, Shapes},
};
use crate::{
    Host,
    go::{Go, TimerAction, goroutine::Goroutine, type_shape::Shape},
};

/// Contexts, and words of stacks that are looked at, at most.
const MAX_CONTEXTS: usize = 1 << 20;
const MAX_WORDS: u64 = 1 << 24;
/// Words of one stack, at most.
const MAX_STACK: u64 = 1 << 16;

/// What begins the names of functions of package `context`.
const OF_CONTEXT: &str = "context.";
/// Where a closure has what it holds, of which the context is one.
const CAPTURED: [u64; 3] = [8, 16, 24];
/// Where a `time.Timer` has the timer of the runtime: to 1.22, and since (`runtime/time.go`, `timeTimer`).
const IN_TIMER: [u64; 2] = [8, 16];

/// Contexts by where they lie.
type FoundContexts = FxHashMap<Addr, Arc<ContextShape>>;

/// All of them.
pub fn all(go: &Go, host: &dyn Host, shapes: &Shapes<'_>) -> FoundContexts {
    let mut found = FoundContexts::default();
    // A structure of a program may lie there without the context that makes it one.
    let is_used = |at: Addr, shape: &ContextShape| {
        shape.kind != ContextKind::Own || has_parent(go, host, at, shape).is_some()
    };
    for (at, ty) in go.values_of(host, &|ty| shapes.of(ty).is_some()) {
        found.extend(shapes.of(ty).filter(|shape| is_used(at, shape)).map(|shape| (at, shape)));
    }
    let mut left = MAX_WORDS;
    for goroutine in go.goroutines(host).iter() {
        let halted = host.budget().is_some_and(|budget| budget.is_halted());
        if left == 0 || halted {
            break;
        }
        on_stack(go, host, shapes, &goroutine, &mut left, &mut found);
    }
    add_parents(go, host, shapes, &mut found);
    of_timers(go, host, &mut found);
    add_parents(go, host, shapes, &mut found);
    found
}

/// Those that timers will end, once one of them was found otherwise, which tells where their fields lie. What such a timer
/// calls was made by a function of package `context`, and holds the context, which in turn has the timer.
fn of_timers(go: &Go, host: &dyn Host, found: &mut FoundContexts) {
    let known = found.values().find(|shape| shape.timer.is_some()).cloned();
    let Some((shape, offset)) = known.and_then(|shape| Some((shape.clone(), shape.timer?))) else {
        return;
    };
    for timer in go.timers(host).map(|timers| timers.all).unwrap_or_default() {
        let TimerAction::Calls { closure, function: Some(function) } = &timer.action else {
            continue;
        };
        let word = |at: Addr, offset: u64| host.space().read_addr(at.checked_add(offset)?).ok();
        let ends = |at: &Addr| {
            let own = word(*at, offset);
            own.is_some_and(|own| {
                IN_TIMER.iter().any(|into| own.checked_add(*into) == Some(timer.at))
            })
        };
        let is_of_context = function.starts_with(OF_CONTEXT) && found.len() < MAX_CONTEXTS;
        let held = CAPTURED.iter().filter(|_| is_of_context).filter_map(|at| word(*closure, *at));
        found.extend(held.into_iter().find(ends).map(|at| (at, shape.clone())));
    }
}

/// Those that interfaces on the used part of a stack hold.
fn on_stack(
    go: &Go,
    host: &dyn Host,
    shapes: &Shapes<'_>,
    goroutine: &Goroutine,
    left: &mut u64,
    found: &mut FoundContexts,
) {
    let Some(start) = used_from(host, goroutine) else { return };
    let words = goroutine.stack.end.offset_from(start).unwrap_or_default() / 8;
    let words = words.min(MAX_STACK).min(*left);
    *left = left.saturating_sub(words);
    let mut before = None;
    for at in (0..words).map(|number| start.saturating_add(number.saturating_mul(8))) {
        let Ok(word) = host.space().read_addr(at) else { return };
        let known =
            before.replace(word).filter(|_| word.get() & 7 == 0 && go.has_object(host, word));
        let shape = known.and_then(|tab| held(go, host, shapes, tab));
        if let Some(shape) = shape.filter(|shape| is_one(go, host, word, shape)) {
            // A word that is left over on a stack may stand before one that is another context's.
            found.entry(word).or_insert(shape);
        }
    }
}

/// The innermost word of the stack of a goroutine that is in use.
fn used_from(host: &dyn Host, goroutine: &Goroutine) -> Option<Addr> {
    let running = goroutine.thread.and_then(|thread| host.stack_pointer(thread));
    let saved = [goroutine.system_call.and_then(|call| call.sp), goroutine.saved.sp];
    let within = |sp: &Addr| goroutine.stack.contains(*sp);
    let sp = running.into_iter().chain(saved.into_iter().flatten()).find(within)?;
    Some(Addr::new(sp.get() & !7))
}

/// The context that a pointer in an interface leads to whose first word is given.
fn held(go: &Go, host: &dyn Host, shapes: &Shapes<'_>, first: Addr) -> Option<Arc<ContextShape>> {
    let kind = |at: Addr| shapes.reader.shaped(at).map(|shaped| shaped.ty.kind);
    shapes.behind(go.dynamic_type(host.space(), first, &kind)?)
}

/// Whether the object at an address is a context of a shape: words that stand side by side on a stack need not belong
/// together. It has the size of that, no other known type, and a parent.
fn is_one(go: &Go, host: &dyn Host, at: Addr, shape: &ContextShape) -> bool {
    let is_of_type = go.type_name_of(host, at).is_none_or(|name| name == shape.ty.name);
    is_of_type
        && go.has_object_of_size(host, at, shape.ty.size)
        && has_parent(go, host, at, shape).is_some()
}

fn has_parent(go: &Go, host: &dyn Host, at: Addr, shape: &ContextShape) -> Option<()> {
    let parent = at.checked_add(shape.parent)?;
    let table = host.space().read_addr(parent).ok()?;
    let interface = host.space().read_addr(table).ok()?;
    (&*go.type_name(host, interface)? == INTERFACE).then_some(())?;
    go.held_by_interface(host, parent).map(|_| ())
}

fn add_parents(go: &Go, host: &dyn Host, shapes: &Shapes<'_>, found: &mut FoundContexts) {
    let mut next: Vec<(Addr, Arc<ContextShape>)> =
        found.iter().map(|(at, shape)| (*at, shape.clone())).collect();
    while let Some((at, shape)) = next.pop() {
        let parent = || {
            let held = go.held_by_interface(host, at.checked_add(shape.parent)?)?;
            match shapes.reader.shaped(held.ty)?.shape {
                Shape::Pointer(to) => Some((host.space().read_addr(held.at).ok()?, shapes.of(to)?)),
                _ => Some((held.at, shapes.of(held.ty)?)),
            }
        };
        if let Some((at, shape)) = parent()
            && found.len() < MAX_CONTEXTS
            && found.insert(at, shape.clone()).is_none()
        {
            next.push((at, shape));
        }
    }
}
