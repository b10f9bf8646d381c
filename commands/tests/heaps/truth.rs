//! What the programs know of their own blocks.

use std::{fs, path::Path, path::PathBuf, sync::Arc};

use gen_cores::scenario;
use kcore::{Core, OpenOptions};
use serde_json::Value;

use crate::{harness, made::made};

/// An opened core.
pub struct Opened {
    /// Its case.
    pub name: String,
    /// Where its files lie.
    pub dir: PathBuf,
    /// The core.
    pub core: Arc<Core>,
}

impl Opened {
    /// What a line of the language emits.
    pub fn records(&self, line: &str) -> Vec<Value> {
        harness::json_on(&self.core, line)
    }
}

/// All cores of a scenario that this run has.
pub fn opened(name: &str) -> Vec<Opened> {
    let scenario = scenario(name).expect("a scenario");
    // Of machines whose layouts are not known there are programs on demand alone.
    let variants = scenario.variants.iter().map(|variant| variant.name.clone());
    let cases = variants.filter_map(|variant| made(name, &variant));
    let open = |case: gen_cores::Case| {
        let options = OpenOptions { core: Some(case.core.clone()), ..OpenOptions::default() };
        let core = Arc::new(Core::open(&options).expect("the core opens"));
        Opened { name: case.name(), dir: case.dir.clone(), core }
    };
    cases.map(open).collect()
}

/// The blocks of a program, and what its allocator said.
pub struct HeapTruth {
    /// Blocks in use: where, and how many bytes are usable.
    pub used: Vec<(u64, u64)>,
    /// Addresses that were freed and are not in use again.
    pub freed: Vec<u64>,
    /// Figures of the allocator by their names.
    pub figures: Vec<(String, u64)>,
}

impl HeapTruth {
    /// Reads what the program wrote beside its core.
    pub fn read(dir: &Path) -> Self {
        let text = fs::read_to_string(dir.join("blocks.txt")).expect("the blocks");
        let (mut used, mut freed, mut figures) = (Vec::new(), Vec::new(), Vec::new());
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |index: usize| u64::from_str_radix(words[index], 16).expect("a number");
            match words[0] {
                "used" => used.push((number(1), number(3))),
                "freed" => freed.push(number(1)),
                name => figures.push((name.to_owned(), number(1))),
            }
        }
        assert!(used.len() > 1000 && !figures.is_empty());
        Self { used, freed, figures }
    }
}
