//! Reads the account that a program wrote of itself (JSON Lines) and makes the case's truth of it.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::AtPath;
use crate::truth::{SCHEMA, Thread};
use crate::{Error, Facts, Maker, Result, Scenario, Truth, Variant};

/// What a program said before it died.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pid: u32,
    argv: Vec<String>,
    threads: Vec<Thread>,
    facts: Map<String, Value>,
    done: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Pid(u32),
    Argv(Vec<String>),
    Thread(Thread),
    Fact(Map<String, Value>),
    Done(bool),
}

impl Account {
    /// Reads a complete account.
    pub(crate) fn load(path: &Path) -> Result<Account> {
        let wrong = |reason: String| Error::Truth { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).at(path)?;
        let mut account = Account::default();
        for line in text.lines() {
            let line =
                serde_json::from_str(line).map_err(|error| wrong(format!("{error}: {line}")))?;
            account.add(line);
        }
        match account.done {
            true => Ok(account),
            false => Err(wrong("the program died while it wrote its account".to_owned())),
        }
    }

    /// Whether the account is there and complete.
    pub(crate) fn is_complete(path: &Path) -> bool {
        std::fs::read_to_string(path).is_ok_and(|text| text.ends_with("{\"done\":true}\n"))
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Pid(pid) => self.pid = pid,
            Line::Argv(argv) => self.argv = argv,
            Line::Thread(thread) => self.threads.push(thread),
            Line::Fact(facts) => self.facts.extend(facts),
            Line::Done(done) => self.done = done,
        }
    }

    /// Puts the depth that the program counted into the frame that waits for it.
    pub(crate) fn set_depth(&mut self, depth: u32) {
        let frames = self.threads.iter_mut().flat_map(|thread| &mut thread.frames);
        for frame in frames {
            if let crate::Frame::Call(call) = frame
                && call.repeat > 1
            {
                call.repeat = depth;
            }
        }
    }

    /// The truth of a case: the recipe's facts, then those of the variant, then the program's own.
    pub(crate) fn into_truth(
        mut self,
        scenario: &Scenario,
        variant: &Variant,
        maker: Maker,
    ) -> Result<Truth> {
        let mut facts = static_facts(scenario, variant)?.merged(&self.own_facts(scenario)?);
        if facts.thread_count.is_none() && facts.open_threads != Some(true) {
            facts.thread_count = u32::try_from(self.threads.len()).ok();
        }
        if maker == Maker::Qemu {
            facts.forget_details_of_signal();
        }
        if scenario.recipe.kill.is_some() && maker != Maker::Gcore {
            self.threads.iter_mut().for_each(|thread| thread.crashed = thread.tid == self.pid);
        }
        let crashed = self.threads.iter().find(|thread| thread.crashed);
        Ok(Truth {
            schema: SCHEMA,
            scenario: scenario.name.clone(),
            variant: variant.name.clone(),
            shows: scenario.recipe.shows.clone(),
            language: scenario.recipe.language,
            maker,
            arch: variant.arch,
            sysroot: variant.sysroot().map(str::to_owned),
            is_static: variant.link.is_static(),
            pid: self.pid,
            argv: self.argv,
            env: format!("KCORE_SCENARIO={}", scenario.name),
            crashed_tid: crashed.map(|thread| thread.tid),
            facts,
            threads: self.threads,
        })
    }

    fn own_facts(&mut self, scenario: &Scenario) -> Result<Facts> {
        let facts = Value::Object(std::mem::take(&mut self.facts));
        serde_json::from_value(facts).map_err(|error| Error::Truth {
            path: scenario.source(),
            reason: format!("a fact of the program: {error}"),
        })
    }
}

/// The facts of the recipe as they are in one variant.
fn static_facts(scenario: &Scenario, variant: &Variant) -> Result<Facts> {
    let mut facts = scenario.recipe.facts.clone();
    for when in scenario.recipe.when_for(variant) {
        for name in &when.unset {
            if !facts.unset(name) {
                let reason = format!("`unset` names no fact: {name}");
                return Err(Error::Recipe { path: scenario.dir.join("recipe.toml"), reason });
            }
        }
        facts = facts.merged(&when.facts);
    }
    Ok(facts)
}
