//! What waits for promises and is on no stack: async functions, and functions that `then` was given.
//!
//! A promise that is pending has a list of reactions, `src/objects/promise.tq`; each says who goes on once
//! it is settled.

use std::collections::HashSet;

use kcore_mem::Addr;

use super::{Awaits, MAX_AWAITS, PROMISE_FLAGS, REACTIONS, reaction_next};
use crate::{
    FrameKind, Host, LanguageFrame,
    objects::{Stopped, Watch},
    v8::{Function, Heap, V8, heap::Object},
};

/// Reactions of one promise, at most.
const MAX_REACTIONS: usize = 1 << 16;
/// Functions that wait, with those that wait for them, at most.
const MAX_FRAMES: usize = 1 << 22;

/// A function that waits for a promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The promise, without tag.
    pub promise: Addr,
    /// What goes on: the object of an async function that waits, or a function that `then` was given;
    /// without tag.
    pub waiter: Addr,
    /// Whether it is a function that `then` was given.
    pub is_then: bool,
    /// It, and the functions that wait for it, the nearest first.
    pub frames: Vec<LanguageFrame>,
}

impl V8 {
    /// The functions that wait for promises, without those that wait for another one of them.
    ///
    /// # Errors
    /// When whoever watches the heap being searched stopped it.
    pub fn waiting(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Vec<Waiting>, Stopped> {
        let (Some(heap), Some(census)) = (self.decodable(host), self.census(host, watch)?) else {
            return Ok(Vec::new());
        };
        let promise = heap.layout.types.promise;
        let maps: HashSet<u64> = census
            .maps()
            .iter()
            .filter(|map| map.example().kind == promise)
            .map(|map| map.map.get() | 1)
            .collect();
        let of_map = |at: &Addr| heap.word(*at, 0).is_some_and(|map| maps.contains(&map));
        let promises = census.objects().filter(of_map).filter_map(|at| heap.object_at(at));
        let mut found = Vec::new();
        let mut rest = MAX_FRAMES;
        for waiting in promises.flat_map(|promise| waiting_for(heap, promise)) {
            let Some(less) = rest.checked_sub(waiting.frames.len()) else { break };
            rest = less;
            found.push(waiting);
        }
        Ok(without_followed(found))
    }
}

/// Leaves out those that are told behind others, which they wait for.
fn without_followed(mut found: Vec<Waiting>) -> Vec<Waiting> {
    let followed: HashSet<Addr> = found
        .iter()
        .flat_map(|waiting| waiting.frames.iter().skip(1))
        .filter_map(|frame| frame.object)
        .collect();
    found.retain(|waiting| !followed.contains(&waiting.waiter));
    found
}

/// Who waits for a promise.
fn waiting_for(heap: Heap<'_>, promise: Object) -> Vec<Waiting> {
    let types = &heap.layout.types;
    let is_pending = heap.smi(promise.at, PROMISE_FLAGS).is_some_and(|flags| flags & 3 == 0);
    let first = heap.field_of(promise.at, REACTIONS, types.promise_reaction);
    let next = |reaction: &Object| {
        heap.field_of(reaction.at, reaction_next(&heap, *reaction)?, types.promise_reaction)
    };
    let reactions = std::iter::successors(first.filter(|_| is_pending), next);
    let waiting = reactions.take(MAX_REACTIONS);
    let mut found: Vec<Waiting> =
        waiting.filter_map(|reaction| waiter(heap, promise, reaction)).collect();
    // V8 puts each before those that came earlier.
    found.reverse();
    found
}

fn waiter(heap: Heap<'_>, promise: Object, reaction: Object) -> Option<Waiting> {
    let next = reaction_next(&heap, reaction)?;
    // Fulfilled or not: `catch` gives one only.
    let handlers = [16, 8].map(|behind| heap.field(reaction.at, next.checked_add(behind)?));
    let mut handlers = handlers.into_iter().flatten().filter(|it| heap.is_function(*it));
    let handler = handlers.next()?;
    let derived = heap.field(reaction.at, next.checked_add(24)?);
    let mut awaits = Awaits::of_promise(heap, None);
    let (waiter, own) = match awaits.awaiter(handler) {
        Some(generator) => {
            awaits.promise = super::promise_of(&heap, generator);
            (generator, awaits.frame(generator)?)
        }
        None => {
            awaits.promise = derived.and_then(|derived| awaits.promise_in(derived));
            (handler, given_to_then(&heap, handler)?)
        }
    };
    let others = awaits.frames().into_iter().take(MAX_AWAITS);
    Some(Waiting {
        promise: promise.at,
        waiter: waiter.at,
        is_then: waiter == handler,
        frames: std::iter::once(own).chain(others).collect(),
    })
}

/// A function of the program that goes on; V8's own closures only pass it on.
fn given_to_then(heap: &Heap<'_>, handler: Object) -> Option<LanguageFrame> {
    let function = Function::load(heap, heap.object_or_tagged(handler.at))?;
    let script = function.shared.script(heap)?;
    let place = function.shared.first_place(heap);
    let frame = LanguageFrame {
        kind: FrameKind::Async,
        function: Some(function.name(heap).unwrap_or_else(|| "<anonymous>".to_owned()).into()),
        file: script.shown_name(heap).map(Into::into),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        language: Some("javascript"),
        object: Some(handler.at),
        ..LanguageFrame::default()
    };
    Some(heap.original(frame, function.shared, Some(function)))
}
