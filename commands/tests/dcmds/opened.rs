//! A core that is opened with its program, and what the program told of itself.

use std::{fs, path::PathBuf, sync::Arc};

use gen_cores::{Case, Truth};
use kcore::{Core, OpenOptions};
use serde_json::Value;

use crate::harness;

/// An opened core, and what was told.
pub struct Opened {
    pub name: String,
    pub dir: PathBuf,
    pub core: Arc<Core>,
    pub truth: Truth,
}

impl Opened {
    /// Opens the core of a case.
    pub fn of(case: &Case) -> Self {
        let (core, exe) = (Some(case.core.clone()), Some(case.exe.clone()));
        let options = OpenOptions { core, exe, ..OpenOptions::default() };
        let core = Arc::new(Core::open(&options).expect("the core opens"));
        let truth = case.truth().expect("a truth");
        Self { name: case.name(), dir: case.dir.clone(), core, truth }
    }

    /// What a line shows of it.
    pub fn records(&self, line: &str) -> Vec<Value> {
        harness::json_on(&self.core, line)
    }

    /// Lines of JSON that the program left beside its core.
    pub fn told(&self, file: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join(file)).expect("lines");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}
