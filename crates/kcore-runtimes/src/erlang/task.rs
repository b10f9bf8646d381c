//! A process of Erlang as a stack that belongs to no thread.

use std::{borrow::Cow, sync::Arc};

use super::{
    Erlang,
    probe::NAME,
    process::{ErlangProcess, ErlangState},
};
use crate::{Host, Task, TaskStart};

/// What is waited for.
const MESSAGE: &str = "message";
const UNTIL: &str = "message or timeout";

impl Erlang {
    /// All processes as tasks.
    pub(super) fn all_tasks(&self, host: &dyn Host) -> Vec<Task> {
        let (message, until): (Arc<str>, Arc<str>) = (MESSAGE.into(), UNTIL.into());
        let waits_on = |process: &ErlangProcess| match process.has_timeout {
            true => until.clone(),
            false => message.clone(),
        };
        let task = |process: &ErlangProcess| Task {
            runtime: NAME,
            id: process.pid.packed(),
            name: self.name(host, process),
            state: Cow::Borrowed(process.state.as_str()),
            waits_on: (process.state == ErlangState::Waiting).then(|| waits_on(process)),
            until: None,
            entry: None,
            thread: process.thread,
            stack: Some(process.stack).filter(|stack| !stack.is_empty()),
            start: start(process),
        };
        self.processes(host).all.iter().map(task).collect()
    }

    /// What a process is called in lists: the name that it is registered by, or the function that it began with.
    fn name(&self, host: &dyn Host, process: &ErlangProcess) -> Option<Arc<str>> {
        let registered = process.registered.and_then(|name| self.atom(host, name).ok());
        registered.or_else(|| self.function_name(host, process.initial?).ok())
    }
}

fn start(process: &ErlangProcess) -> TaskStart {
    match process.thread {
        Some(_) => TaskStart::Running,
        None if process.state == ErlangState::Running => {
            TaskStart::Unknown("it is not known which thread runs it".into())
        }
        None => TaskStart::Kept,
    }
}
