//! Timers and immediates, `lib/internal/timers.js`.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kcore_mem::Addr;

use super::{
    Awaited, NodeHandle, State, Timer, environment::Environments, is_oddball, number,
    symbol_property,
};
use crate::v8::{Function, Heap, Tagged, census::Census, closure::captured, heap::Object};

/// `JSBoundFunction`: what it wraps.
const BOUND_TARGET: u64 = 24;

/// A timer that is not over, and when it calls by the clock of its environment.
struct ActiveTimer {
    handle: NodeHandle,
    environment: Option<Addr>,
    expiry: Option<f64>,
}

/// The timers and immediates that are still to come.
pub fn timers(
    heap: &Heap<'_>,
    census: &Census,
    environments: Option<&Environments<'_>>,
) -> Vec<NodeHandle> {
    let has = |object: Object, name: &str| heap.property(object, name).is_some();
    let maps: HashSet<u64> = census
        .maps()
        .iter()
        .filter(|map| {
            let example = map.example();
            heap.is_receiver(example)
                && (has(example, "_onTimeout") || has(example, "_onImmediate"))
        })
        .map(|map| map.map.get() | 1)
        .collect();
    let of_map = |at: &Addr| heap.word(*at, 0).is_some_and(|map| maps.contains(&map));
    let objects = census.objects().filter(of_map).filter_map(|at| heap.object_at(at));
    let mut by_map = HashMap::new();
    let mut clocks = HashMap::new();
    let told = objects.filter_map(|object| {
        let mut found = timer(heap, object)?;
        let environment = || environments?.of_object(object);
        found.environment = *by_map.entry(object.map).or_insert_with(environment);
        if let (Some(environment), Some(_)) = (found.environment, found.expiry) {
            let clock = || Some(environments?.timer(environment)? - next_expiry(heap, object)?);
            clocks.entry(environment).or_insert_with(clock);
        }
        Some(found)
    });
    let told: Vec<ActiveTimer> = told.collect();
    told.into_iter().map(|timer| with_time_left(timer, &clocks, environments)).collect()
}

/// When the timer of libuv calls that an environment has for all of its timers, by the clock of the environment. It is not
/// set anew when the first of them is cleared.
fn next_expiry(heap: &Heap<'_>, timer: Object) -> Option<f64> {
    let class = heap.constructor(timer).filter(|class| heap.is_function(*class))?;
    let class = Function::load(heap, heap.object_or_tagged(class.at))?;
    number(heap, captured(heap, class, "nextExpiry")?).filter(|expiry| expiry.is_finite())
}

/// A timer; `None` of one that is over.
fn timer(heap: &Heap<'_>, object: Object) -> Option<ActiveTimer> {
    let value = |name: &str| Some(heap.property(object, name)?.value);
    is_oddball(heap, value("_destroyed")?, "false").then_some(())?;
    let callback = |name: &str| callback(heap, value(name)?);
    let timeout = callback("_onTimeout");
    let called = timeout.clone().or_else(|| callback("_onImmediate"))?;
    let mut found = match timeout {
        Some(_) => timed(heap, object)?,
        None => ActiveTimer {
            handle: NodeHandle::of_object(heap, Awaited::Immediate, object),
            environment: None,
            expiry: None,
        },
    };
    let referenced = symbol_property(heap, object, "refed");
    found.handle.referenced = referenced.map(|value| is_oddball(heap, value, "true"));
    found.handle.callback = called.0;
    Some(found)
}

/// What is called: its name, of a bound function that of what it wraps.
#[derive(Clone)]
struct Callback(Option<Arc<str>>);

fn callback(heap: &Heap<'_>, value: Tagged) -> Option<Callback> {
    let object = heap.object(value)?;
    if object.kind == heap.layout.types.bound_function {
        let target = Function::load(heap, heap.tagged(object.at, BOUND_TARGET)?)?;
        let name = target.name(heap);
        return Some(Callback(name.map(|name| format!("bound {name}").into())));
    }
    Function::load(heap, value).map(|function| Callback(function.name(heap).map(Arc::from)))
}

fn timed(heap: &Heap<'_>, object: Object) -> Option<ActiveTimer> {
    let value = |name: &str| Some(heap.property(object, name)?.value);
    let delay = value("_idleTimeout").and_then(|delay| number(heap, delay));
    // What was never started, or stopped, has no delay.
    delay.is_some_and(|delay| delay >= 0.0).then_some(())?;
    let neighbour = |name| Some(heap.object(value(name)?)?).filter(|it| heap.is_receiver(*it));
    // What is called now was taken out of its list.
    let is_listed = neighbour("_idleNext").is_some();
    let repeats = value("_repeat").is_some_and(|repeat| !is_oddball(heap, repeat, "null"));
    let what = Awaited::Timer(Timer { delay, repeats, left: None });
    let start = value("_idleStart").and_then(|start| number(heap, start));
    Some(ActiveTimer {
        handle: NodeHandle {
            state: Some(if is_listed { State::Active } else { State::Running }),
            ..NodeHandle::of_object(heap, what, object)
        },
        environment: None,
        expiry: start.zip(delay).map(|(start, delay)| start + delay).filter(|_| is_listed),
    })
}

/// Says how much time is left to a timer. `clocks` say for each environment what makes a time of its clock the time that
/// is left, in milliseconds.
fn with_time_left(
    timer: ActiveTimer,
    clocks: &HashMap<Addr, Option<f64>>,
    environments: Option<&Environments<'_>>,
) -> NodeHandle {
    let mut handle = timer.handle;
    let clock = timer.environment.and_then(|at| *clocks.get(&at)?);
    if let (Awaited::Timer(what), Some(clock), Some(expiry)) =
        (&mut handle.what, clock, timer.expiry)
    {
        what.left = Some(expiry + clock);
    }
    handle.thread = timer.environment.and_then(|at| environments?.thread(at));
    handle
}
