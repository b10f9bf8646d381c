//! Futures that wait for no other one, by their types: those of tokio 1.x.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    future::{FutureReader, Value},
    shape::Parts,
    wait::{Deadline, Wait, WaitKind, WaitedFor},
};
use crate::LanguageFrame;

/// Types of futures that are waited for, by how their names begin.
const LEAVES: &[(&str, WaitKind)] = &[
    (SLEEP, WaitKind::Timer),
    ("tokio::sync::batch_semaphore::Acquire", WaitKind::Semaphore),
    ("tokio::sync::notify::Notified", WaitKind::Notify),
    ("tokio::sync::oneshot::Receiver<", WaitKind::Channel),
    ("tokio::sync::broadcast::Recv<", WaitKind::Channel),
    ("tokio::runtime::task::join::JoinHandle<", WaitKind::Task),
    ("tokio::runtime::io::scheduled_io::Readiness", WaitKind::Io),
    ("tokio::io::util::", WaitKind::Io),
    ("tokio::task::yield_now::", WaitKind::Yield),
];

/// Closures of `poll_fn` that wait for a thing of their own, by the function that they stand in.
const CLOSURES: &[(&str, WaitKind)] = &[
    ("tokio::sync::mpsc::", WaitKind::Channel),
    ("tokio::task::join_set::", WaitKind::JoinSet),
    ("tokio::net::", WaitKind::Io),
    ("tokio::runtime::io::", WaitKind::Io),
    ("tokio::time::interval::", WaitKind::Timer),
];

/// What a wait on a semaphore is for, by the function that waits.
const LOCKS: &[(&str, WaitKind)] = &[
    ("tokio::sync::mutex::", WaitKind::Mutex),
    ("tokio::sync::rwlock::", WaitKind::RwLock),
    ("tokio::sync::mpsc::", WaitKind::Channel),
];

/// The closure of `poll_fn`.
const POLL_FN: &str = "core::future::poll_fn::PollFn<";
const SLEEP: &str = "tokio::time::sleep::Sleep";
const TIMEOUT: &str = "tokio::time::timeout::Timeout<";
/// What no future is searched in: it is shared, or a collection.
const CLOSED: [&str; 6] = [
    "alloc::sync::",
    "alloc::vec::",
    "alloc::collections::",
    "alloc::string::",
    "core::task::wake::",
    "std::",
];
/// Values within values that are searched for a member.
const MAX_DEPTH: usize = 16;
const MAX_MEMBERS: usize = 1024;
/// References to references that are followed.
const MAX_REFERENCES: usize = 4;

/// Whether a type is that of a thing which is waited for.
pub fn is_leaf(name: &str) -> bool {
    kind_of(name).is_some()
}

fn kind_of(name: &str) -> Option<WaitKind> {
    if let Some(closure) = name.strip_prefix(POLL_FN) {
        return prefixed(CLOSURES, closure);
    }
    prefixed(LEAVES, name)
}

fn prefixed(table: &[(&str, WaitKind)], name: &str) -> Option<WaitKind> {
    table.iter().find(|(start, _)| name.starts_with(start)).map(|(_, kind)| *kind)
}

/// Whether futures are searched in values of a type.
pub fn may_hold(name: &str) -> bool {
    !CLOSED.iter().any(|start| name.starts_with(start))
}

/// Whether a pointer of this type owns the future that it points to, or is the one that polls it.
pub fn owns(name: &str) -> bool {
    name.starts_with("alloc::boxed::Box<") || name.starts_with("&mut ")
}

/// Whether a type is a future that waits for another one, but only up to a time.
pub fn is_limit(name: &str) -> bool {
    name.starts_with(TIMEOUT)
}

/// The future that has a time limit, and that time.
pub fn limited(reader: &FutureReader<'_>, value: &Value) -> Option<(Value, Option<Deadline>)> {
    let member = |name: &str| {
        let fields = reader.fields(value, &value.shape).into_iter();
        reader.field(value, fields.into_iter().find(|field| &*field.name == name)?)
    };
    let limit = member("delay").and_then(|delay| deadline(reader, &delay));
    Some((member("value")?, limit))
}

/// The bits of the branches that `select!` does not poll, and in how many it has: `disabled` and `futures` of
/// `tokio/src/macros/select.rs`, to which its closure refers.
pub fn disabled_branches(reader: &FutureReader<'_>, value: &Value) -> Option<(u64, usize)> {
    let referred = |name: &str| {
        let is_it = |_: &Value, field: &str| field.trim_start_matches("_ref__") == name;
        let mut found = find(reader, value, false, &mut { is_it })?;
        for _ in 0..MAX_REFERENCES {
            let Parts::Pointer(to) = &found.shape.parts else { break };
            found = reader.value(reader.space().read_addr(found.at).ok()?, to)?;
        }
        Some(found)
    };
    let (mask, futures) = (referred("disabled")?, referred("futures")?);
    let size = usize::try_from(mask.shape.size).ok().filter(|size| (1..=8).contains(size))?;
    let is_scalar = matches!(mask.shape.parts, Parts::Scalar);
    let Parts::Fields(branches, None) = &futures.shape.parts else { return None };
    let bits = reader.space().read_uint(mask.at, size).ok()?;
    is_scalar.then_some((bits, branches.len()))
}

/// Whether a type holds one of several futures that are all waited for.
pub fn is_joined(name: &str) -> bool {
    name.contains("::maybe_done::MaybeDone<")
}

/// What a future waits for, if it waits for no other one. `functions` are those around it, outermost first.
pub fn of(
    reader: &FutureReader<'_>,
    value: &Value,
    functions: &[Value],
    frames: &[LanguageFrame],
) -> Option<Wait> {
    if matches!(value.shape.parts, Parts::Coroutine(_)) {
        return None;
    }
    let future = value.shape.name.clone();
    let caller = frames.last().and_then(|frame| frame.function.clone()).unwrap_or_default();
    let kind = kind_of(&future).or_else(|| in_poll_fn(&future, &caller))?;
    let kind = match kind {
        WaitKind::Semaphore => prefixed(LOCKS, &caller).unwrap_or(kind),
        kind => kind,
    };
    let which = which(reader, value, kind, functions);
    Some(Wait { kind, which, future })
}

/// What a closure of `poll_fn` waits for, told by the function that made the closure.
fn in_poll_fn(name: &str, caller: &str) -> Option<WaitKind> {
    name.starts_with(POLL_FN).then(|| prefixed(CLOSURES, caller))?
}

fn which(
    reader: &FutureReader<'_>,
    value: &Value,
    kind: WaitKind,
    functions: &[Value],
) -> Option<WaitedFor> {
    let object = |name: &str| word_named(reader, value, name).map(WaitedFor::Object);
    match kind {
        WaitKind::Timer => timer(reader, value).map(WaitedFor::Deadline),
        WaitKind::Mutex => mutex(reader, functions).map(WaitedFor::Object),
        WaitKind::RwLock | WaitKind::Semaphore => object("semaphore"),
        WaitKind::Notify => object("notify"),
        WaitKind::Channel => channel(reader, value).map(WaitedFor::Object),
        WaitKind::Task => object("ptr").or_else(|| object("raw")),
        WaitKind::Io => {
            let around = functions.iter().rev().take(4);
            let mut all = std::iter::once(value).chain(around);
            all.find_map(|value| fd(reader, value)).map(WaitedFor::Fd)
        }
        WaitKind::JoinSet | WaitKind::Yield | WaitKind::Other => None,
    }
}

/// When a timer, or the next tick of an interval to which a closure refers, is over.
fn timer(reader: &FutureReader<'_>, value: &Value) -> Option<Deadline> {
    deadline(reader, value).or_else(|| {
        let is_sleep = |value: &Value, _: &str| value.shape.name.starts_with(SLEEP);
        deadline(reader, &find(reader, value, true, &mut { is_sleep })?)
    })
}

fn deadline(reader: &FutureReader<'_>, value: &Value) -> Option<Deadline> {
    let at = named(reader, value, "deadline")?;
    let seconds = named(reader, &at, "tv_sec")?;
    let nanos = named(reader, &at, "tv_nsec")?;
    let seconds = reader.space().read_uint(seconds.at, 8).ok()?.cast_signed();
    let nanos = u32::try_from(reader.space().read_uint(nanos.at, 4).ok()?).ok()?;
    Some(Deadline { seconds, nanos })
}

/// The shared half of a channel.
fn channel(reader: &FutureReader<'_>, value: &Value) -> Option<Addr> {
    let ends = |name: &str| {
        name.starts_with("tokio::sync::mpsc::chan::Rx<")
            || name.starts_with("tokio::sync::mpsc::chan::Tx<")
            || name.starts_with("tokio::sync::oneshot::Receiver<")
            || name.starts_with("tokio::sync::broadcast::Receiver<")
    };
    let end = find(reader, value, true, &mut |value, _| ends(&value.shape.name))?;
    word_named(reader, &end, "pointer")
}

/// The file descriptor of what a value owns or refers to.
fn fd(reader: &FutureReader<'_>, value: &Value) -> Option<i32> {
    let owned = find(reader, value, true, &mut |value, _| {
        &*value.shape.name == "std::os::fd::owned::OwnedFd"
    })?;
    let bits = reader.space().read_uint(owned.at, 4).ok()?;
    u32::try_from(bits).ok().map(u32::cast_signed).filter(|fd| *fd >= 0)
}

/// The word that a member of a name holds, somewhere in a value.
pub fn word_named(reader: &FutureReader<'_>, value: &Value, name: &str) -> Option<Addr> {
    let member = named(reader, value, name)?;
    reader.space().read_addr(member.at).ok().filter(|at| at.get() != 0)
}

fn named(reader: &FutureReader<'_>, value: &Value, name: &str) -> Option<Value> {
    find(reader, value, false, &mut |_, field| field == name)
}

/// The first value within one that somebody looks for, nearer ones before those deeper in.
fn find(
    reader: &FutureReader<'_>,
    value: &Value,
    through_pointers: bool,
    is_it: &mut dyn FnMut(&Value, &str) -> bool,
) -> Option<Value> {
    let mut level = vec![value.clone()];
    let mut left = MAX_MEMBERS;
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for value in &level {
            for (name, inner) in parts(reader, value, through_pointers) {
                left = left.checked_sub(1)?;
                if is_it(&inner, &name) {
                    return Some(inner);
                }
                next.push(inner);
            }
        }
        level = next;
    }
    None
}

/// What leads to the runtime, and from there to all that it has.
fn is_foreign(name: &str) -> bool {
    name.starts_with("tokio::runtime::")
        || (name.starts_with("alloc::sync::Arc<") && !name.contains("tokio::net::"))
}

/// The values that one consists of, with their names; with what it refers to.
fn parts(
    reader: &FutureReader<'_>,
    value: &Value,
    through_pointers: bool,
) -> Vec<(Arc<str>, Value)> {
    let shape = value.shape.clone();
    match &shape.parts {
        Parts::Fields(..) if through_pointers && is_foreign(&shape.name) => Vec::new(),
        Parts::Fields(..) => {
            let fields = reader.fields(value, &shape).into_iter();
            fields.filter_map(|it| Some((it.name.clone(), reader.field(value, it)?))).collect()
        }
        Parts::Coroutine(_) => {
            let fields = reader.locals(value, &shape).into_iter();
            fields.filter_map(|it| Some((it.name.clone(), reader.field(value, it)?))).collect()
        }
        Parts::Pointer(to) if through_pointers => {
            let target = reader.space().read_addr(value.at).ok();
            let target = target.and_then(|at| reader.value(at, to));
            target.map(|target| ("".into(), target)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The mutex whose method waits, which is its first argument.
fn mutex(reader: &FutureReader<'_>, functions: &[Value]) -> Option<Addr> {
    let method = functions.last()?;
    let shape = method.shape.clone();
    let locals = reader.locals(method, &shape);
    let own = locals.into_iter().find(|field| &*field.name == "self")?;
    reader.space().read_addr(method.at.checked_add(own.offset)?).ok()
}
