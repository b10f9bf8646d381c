//! Threads and frames of Java, held against what Java itself said of them right before.

mod crashes;
mod cut;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
mod heap;
mod heap_dump;
mod live;
mod locals;
mod locks;
#[path = "../dcmds/made.rs"]
mod made;
mod stacks;
mod threads;
mod trace;
mod virtual_threads;

use std::{fs, path::Path, sync::Arc};

use gen_cores::{Case, Outcome, scenario};
use kcore::{Core, OpenOptions};
use made::made;
use serde_json::Value;
use trace::Told;

/// An opened core, and what was told.
struct Opened {
    name: String,
    core: Arc<Core>,
    told: Vec<Told>,
}

impl Opened {
    fn of(case: &Case) -> Self {
        Self { told: told_in(&case.dir), ..Self::untold(case) }
    }

    /// That of a program that tells nothing of its threads.
    fn untold(case: &Case) -> Self {
        let options = OpenOptions { core: Some(case.core.clone()), ..OpenOptions::default() };
        let core = Arc::new(Core::open(&options).expect("the core opens"));
        Self { name: case.name(), core, told: Vec::new() }
    }

    /// The bytes of an object with an int and a reference.
    fn size_of_node(&self) -> u64 {
        match () {
            () if self.has("compact") => 16,
            () if self.has("wide") => 32,
            () => 24,
        }
    }

    fn records(&self, line: &str) -> Vec<Value> {
        let records = harness::json_on(&self.core, line);
        for record in &records {
            assert_ne!(record["type"], "error", "{} {line}: {record}", self.name);
        }
        records
    }

    /// The threads of Java that kcore lists.
    fn listed(&self) -> Vec<Value> {
        let records = self.records("::javathreads");
        records.into_iter().filter(|record| record["type"] == "java_thread").collect()
    }

    fn has(&self, word: &str) -> bool {
        self.name.split(['-', '/']).any(|own| own == word)
    }
}

/// What a program told in its folder.
fn told_in(dir: &Path) -> Vec<Told> {
    trace::parse(&fs::read_to_string(dir.join("trace.txt")).expect("threads told"))
}

/// All cases of a scenario that this run has; of a short one without those on demand.
fn cases(name: &str) -> Vec<Case> {
    let scenario = scenario(name).expect("a scenario");
    let short = gen_cores::is_short_run();
    let long_runs = &scenario.recipe.long_runs;
    let meant = |variant: &&gen_cores::Variant| {
        let word = variant.name.split('-').next().unwrap_or_default();
        !short || (matches!(word, "java11" | "java25") && !long_runs.contains(&variant.name))
    };
    let variants = scenario.variants.iter().filter(meant);
    let on_demand = scenario.on_demand.iter().filter(|_| !short);
    variants.chain(on_demand).filter_map(|variant| made(name, &variant.name)).collect()
}

/// A frame of Java in a record of a stack: the method, the file with the line, and how it is run.
#[derive(Debug, PartialEq, Eq)]
struct JavaFrame {
    function: String,
    place: String,
    tier: String,
    inline: bool,
}

/// The frames of Java in a record of a stack, but those that some versions leave out of their traces: of classes that
/// Java makes for lambdas.
fn java_frames(record: &Value) -> Vec<JavaFrame> {
    let frames = record["frames"].as_array().expect("frames").iter();
    let java = frames.filter(|frame| frame["kind"] == "java");
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let of = |frame: &Value| JavaFrame {
        function: text(&frame["function"]),
        place: format!("{}:{}", text(&frame["file"]), frame["line"]),
        tier: text(&frame["tier"]),
        inline: frame["inline"] == true,
    };
    let all = java.map(of);
    all.filter(|frame| !is_hidden(&frame.function)).collect()
}

fn is_hidden(function: &str) -> bool {
    function.contains("$$Lambda") || function.contains("LambdaForm") || function.contains("/0x")
}

#[test]
fn there_are_cases() {
    let case = gen_cores::ensure("java-threads", "java11").expect("a case");
    assert!(!matches!(case, Outcome::Skipped(_)), "{case:?}");
}
