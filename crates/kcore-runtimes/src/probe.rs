//! How runtimes are found.

use std::sync::Arc;

use crate::{
    Host, Runtime, StandIn, bthread, coroutine, erlang, fiber, go, java, lua, luajit, perl, php,
    python, ruby, tokio, v8,
};

/// Looks for one runtime in a process.
#[derive(Clone, Copy)]
pub struct Probe {
    /// The runtime's name: `v8`.
    pub name: &'static str,
    /// Every instance that the process holds; none where it is absent, which must be found out
    /// without reading more than a few words of each module. Its host shows frames that no runtime had a part
    /// in: see [`Host::frames`].
    pub find: fn(&dyn Host) -> Vec<Finding>,
}

/// An instance that was found, or what is left of one.
pub enum Finding {
    /// It can be decoded, if not in all parts: its identity says which cannot.
    Found(Box<dyn Runtime>),
    /// It is there and nothing of it can be decoded.
    Damaged(Damage),
}

/// A runtime of which nothing can be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The runtime's name.
    pub name: &'static str,
    /// Its version, as far as it is known.
    pub version: Option<Arc<str>>,
    /// What cannot be decoded and why, for people.
    pub why: Arc<str>,
    /// The native frames that stand for those of its language, where they are known.
    pub stand_in: Option<StandIn>,
}

/// The runtimes that kcore knows.
pub const PROBES: &[Probe] = &[
    v8::PROBE,
    python::PROBE,
    go::PROBE,
    java::PROBE,
    ruby::PROBE,
    php::PROBE,
    lua::PROBE,
    luajit::PROBE,
    perl::PROBE,
    erlang::PROBE,
];

/// Looks for a library that keeps stacks and has no language.
#[derive(Clone, Copy)]
pub struct TaskProbe {
    /// How it is found. That may cost more than a few words of each module: it is looked for when somebody
    /// first asks for stacks that belong to no thread.
    pub probe: Probe,
    /// Whether a function of this name, demangled and without parameters, begins the stacks of its tasks: who
    /// looks at the stack of a thread that begins so, is told of the task without asking for tasks.
    pub begins_task: fn(&str) -> bool,
}

/// The libraries of stacks that kcore knows.
pub const TASK_PROBES: &[TaskProbe] = &[
    bthread::PROBE,
    fiber::PROBE,
    python::greenlet::PROBE,
    python::trio::PROBE,
    tokio::PROBE,
    coroutine::PROBE,
];
