//! gdb's opinion of a core, as a check of the truth itself.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::command::Line;
use crate::run::signal_name;
use crate::variant::Libc;
use crate::{Case, Error, Facts, Result, Seen, compare, paths};

/// Why gdb may be wrong in every scenario with musl.
const MUSL: &str = "musl is built without CFI, gdb guesses the callers of its functions";

#[derive(Deserialize)]
struct ThreadLine {
    tid: u32,
    frames: Vec<FrameLine>,
}

#[derive(Deserialize)]
struct SignalLine {
    signal: Option<SignalRecord>,
}

#[derive(Deserialize)]
struct SignalRecord {
    number: i32,
    code: i32,
    address: u64,
}

#[derive(Deserialize)]
struct FrameLine {
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    inline: bool,
    tail: bool,
    pc: u64,
}

impl From<FrameLine> for Seen {
    fn from(frame: FrameLine) -> Seen {
        Seen {
            function: frame.function,
            file: frame.file,
            line: frame.line,
            inline: frame.inline && !frame.tail,
            pc: Some(frame.pc),
        }
    }
}

/// What gdb says of a core.
#[derive(Debug, Default)]
pub struct Opinion {
    /// Names of the signal and its code, and the address that faulted, as far as gdb knows them.
    pub signal: Option<(String, String, String)>,
    /// The stacks of all threads, by thread id.
    pub stacks: BTreeMap<u32, Vec<Seen>>,
}

/// Asks gdb.
///
/// # Errors
/// gdb cannot be run, or does not know the core.
pub fn opinion(case: &Case) -> Result<Opinion> {
    let script = paths::package_dir().join("src/gdb_frames.py");
    // The script needs the core open, so the files come as commands before it.
    let mut line = Line::new("gdb");
    line.args(["-batch", "-nx", "-ex", "set debuginfod enabled off"]);
    line.args(["-ex", "set backtrace limit unlimited"]);
    line.arg("-ex").arg(format!("file {}", case.exe.display()));
    line.arg("-ex").arg(format!("core-file {}", case.core.display()));
    line.arg("-x").path(&script);
    parse(&line.run(&case.dir)?, &case.core)
}

fn parse(text: &str, core: &Path) -> Result<Opinion> {
    let wrong = |error: serde_json::Error| Error::Truth {
        path: core.to_owned(),
        reason: error.to_string(),
    };
    let mut opinion = Opinion::default();
    for line in text.lines() {
        if line.starts_with("{\"tid\"") {
            let thread: ThreadLine = serde_json::from_str(line).map_err(wrong)?;
            let frames = thread.frames.into_iter().map(Seen::from).collect();
            opinion.stacks.insert(thread.tid, frames);
        } else if line.starts_with("{\"signal\"") {
            let line: SignalLine = serde_json::from_str(line).map_err(wrong)?;
            opinion.signal = line.signal.map(|signal| signal.named());
        }
    }
    Ok(opinion)
}

impl SignalRecord {
    /// The names that truths use.
    fn named(&self) -> (String, String, String) {
        let code = match (self.number, self.code) {
            (_, 0) => "SI_USER",
            (_, -6) => "SI_TKILL",
            (_, 0x80) => "SI_KERNEL",
            (11, 1) => "SEGV_MAPERR",
            (11, 2) => "SEGV_ACCERR",
            _ => "another code",
        };
        let signal = signal_name(self.number).unwrap_or("another signal");
        (signal.to_owned(), code.to_owned(), format!("{:#x}", self.address))
    }
}

/// Facts about the signal in which gdb and the truth differ.
fn signal_differences(facts: &Facts, opinion: &Opinion) -> Vec<String> {
    let Some((signal, code, address)) = &opinion.signal else { return Vec::new() };
    let pairs = [
        ("signal", &facts.signal, signal),
        ("code", &facts.code, code),
        ("fault address", &facts.fault_address, address),
    ];
    let wrong = pairs.iter().filter(|(_, fact, seen)| fact.as_ref().is_some_and(|f| f != *seen));
    wrong.map(|(what, fact, seen)| format!("{what} {seen}, should be {fact:?}")).collect()
}

/// Where gdb and the truth of a case differ.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Differences {
    /// About the signal; gdb reads these facts from the core, so it is right.
    pub facts: Vec<String>,
    /// About threads and stacks; gdb may be wrong, see [`known_difference`].
    pub stacks: Vec<String>,
}

/// Where gdb and the truth of a case differ; empty if nowhere.
///
/// # Errors
/// gdb cannot be run, or the truth cannot be read.
pub fn differences(case: &Case) -> Result<Differences> {
    let truth = case.truth()?;
    let opinion = opinion(case)?;
    let stacks = &opinion.stacks;
    let mut found = Vec::new();
    for thread in &truth.threads {
        match stacks.get(&thread.tid) {
            None => found.push(format!("gdb has no thread {} ({})", thread.tid, thread.role)),
            Some(seen) => found.extend(compare(thread, seen).err()),
        }
    }
    if truth.facts.thread_count.is_some_and(|count| count as usize != stacks.len()) {
        found.push(format!(
            "gdb has {} threads, the truth {:?}",
            stacks.len(),
            truth.facts.thread_count
        ));
    }
    Ok(Differences { facts: signal_differences(&truth.facts, &opinion), stacks: found })
}

/// Why gdb's stacks of a case are known to differ from the truth, as its recipe says.
///
/// # Errors
/// The recipe cannot be read.
pub fn known_difference(case: &Case) -> Result<Option<String>> {
    let scenario = crate::scenario(&case.scenario)?;
    let variant = scenario.variant(&case.variant)?;
    let here = scenario.recipe.when_for(variant).find_map(|when| when.gdb_differs.clone());
    let musl = || (variant.libc == Libc::Musl).then(|| MUSL.to_owned());
    Ok(here.or_else(|| scenario.recipe.gdb_differs.clone()).or_else(musl))
}
