//! Which tasks are shown.

use std::{collections::BTreeSet, sync::Arc};

use kcore::Task;
use kcore_dcmd::{Args, DcmdError, Result};

fn one_of(what: &str, wanted: Option<&str>, there: impl Iterator<Item = String>) -> Result<()> {
    let there: BTreeSet<String> = there.collect();
    match wanted {
        Some(wanted) if !there.is_empty() && !there.contains(wanted) => {
            let there: Vec<String> = there.into_iter().collect();
            let there = there.join(", ");
            Err(DcmdError::failed(format!("no task has the {what} `{wanted}`, but {there}")))
        }
        _ => Ok(()),
    }
}

/// The filters of one call; a task must pass all of them.
pub struct TaskFilter {
    runtime: Option<String>,
    state: Option<String>,
    waits: Option<String>,
    function: Option<String>,
}

impl TaskFilter {
    /// Reads the filters of a call.
    pub fn new(args: &Args) -> Self {
        let text = |flag| args.value(flag).map(kcore_dcmd::Arg::to_text);
        Self { runtime: text('r'), state: text('s'), waits: text('w'), function: text('c') }
    }

    /// What is wrong with the filters if no task of the process has such a runtime or such a state.
    ///
    /// # Errors
    /// If so; the error lists what there is.
    pub fn check(&self, tasks: &[Arc<Task>]) -> Result<()> {
        let runtimes = tasks.iter().map(|task| task.runtime.to_owned());
        one_of("runtime", self.runtime.as_deref(), runtimes)?;
        let is_meant =
            |task: &&Arc<Task>| self.runtime.as_ref().is_none_or(|runtime| runtime == task.runtime);
        let states = tasks.iter().filter(is_meant).map(|task| task.state.to_string());
        one_of("state", self.state.as_deref(), states)
    }

    /// Whether a task is shown, before its function is known.
    pub fn admits(&self, task: &Task) -> bool {
        let is = |wanted: &Option<String>, word: &str| wanted.as_ref().is_none_or(|it| it == word);
        let waits = task.waits_on.as_deref().unwrap_or_default();
        is(&self.runtime, task.runtime)
            && is(&self.state, &task.state)
            && self.waits.as_ref().is_none_or(|wanted| waits.contains(wanted.as_str()))
    }

    /// Whether a task with this function is shown.
    pub fn admits_function(&self, function: Option<&str>) -> bool {
        let function = function.unwrap_or_default();
        self.function.as_ref().is_none_or(|wanted| function.contains(wanted.as_str()))
    }
}
