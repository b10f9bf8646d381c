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
use crate::v8::{Function, Heap, Tagged, census::Census, heap::Object};

/// `JSBoundFunction`: what it wraps.
const BOUND_TARGET: u64 = 24;

/// A timer that is not over, and when it calls by the clock of its environment.
struct ActiveTimer {
    handle: NodeHandle,
    environment: Option<Addr>,
    expiry: Option<f64>,
    /// When the list that it is in is due, if it is one of its ends.
    list_expiry: Option<f64>,
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
    let found: Vec<ActiveTimer> = objects
        .filter_map(|object| {
            let mut found = timer(heap, object)?;
            let environment = || environments?.of_object(object);
            found.environment = *by_map.entry(object.map).or_insert_with(environment);
            Some(found)
        })
        .collect();
    with_time_left(found, environments)
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
            list_expiry: None,
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
    // The list itself is a neighbour of its ends.
    let of_list = |name| number(heap, heap.property(neighbour(name)?, "expiry")?.value);
    Some(ActiveTimer {
        handle: NodeHandle {
            state: Some(if is_listed { State::Active } else { State::Running }),
            ..NodeHandle::of_object(heap, what, object)
        },
        environment: None,
        expiry: start.zip(delay).map(|(start, delay)| start + delay).filter(|_| is_listed),
        list_expiry: of_list("_idleNext").or_else(|| of_list("_idlePrev")),
    })
}

/// Tells what is left: an environment has one timer of libuv, which calls when the first list is due.
fn with_time_left(
    found: Vec<ActiveTimer>,
    environments: Option<&Environments<'_>>,
) -> Vec<NodeHandle> {
    let mut first: HashMap<Addr, f64> = HashMap::new();
    for timer in &found {
        if let (Some(environment), Some(expiry)) = (timer.environment, timer.list_expiry) {
            let first = first.entry(environment).or_insert(expiry);
            *first = first.min(expiry);
        }
    }
    let clocks: HashMap<Addr, f64> = first
        .into_iter()
        .filter_map(|(at, first)| Some((at, environments?.timer(at)? - first)))
        .collect();
    let told = found.into_iter().map(|found| {
        let mut handle = found.handle;
        let clock = found.environment.and_then(|at| clocks.get(&at));
        if let (Awaited::Timer(timer), Some(clock), Some(expiry)) =
            (&mut handle.what, clock, found.expiry)
        {
            timer.left = Some(expiry + clock);
        }
        handle.thread = found.environment.and_then(|at| environments?.thread(at));
        handle
    });
    told.collect()
}
