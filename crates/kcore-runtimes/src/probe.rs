//! How runtimes are found.

use std::sync::Arc;

use crate::{Host, Runtime, bthread, python, v8};

/// Looks for one runtime in a process.
#[derive(Clone, Copy)]
pub struct Probe {
    /// The runtime's name: `v8`.
    pub name: &'static str,
    /// Every instance that the process holds; none where it is absent, which must be found out
    /// without reading more than a few words of each module.
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
}

/// The runtimes that kcore knows.
pub const PROBES: &[Probe] = &[v8::PROBE, python::PROBE];

/// What is looked for only when somebody asks for stacks that belong to no thread, because it costs more
/// than a few words of each module.
pub const TASK_PROBES: &[Probe] = &[bthread::PROBE];
