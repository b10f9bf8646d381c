//! Asks kcore: commands in, JSON records out.

use std::path::PathBuf;
use std::sync::Arc;

use gen_cores::{Case, Maker, Variant};
use kcore::{Core, OpenOptions};
use kcore_commands::{DCMDS, WALKERS};
use kcore_dcmd::Sink;
use kcore_render::{Format, JsonForm, JsonSink};
use kcore_shell::{Session, SessionOptions, Source};
use serde_json::Value as Json;

/// A session on a core whose answers are JSON.
pub struct Asked {
    session: Session,
}

impl Asked {
    /// Opens the core of a case as a user does who names nothing but the core; for one of qemu, which
    /// has no record of files, also the program and where its libraries are.
    pub fn open(case: &Case) -> Self {
        let variant = Variant::parse(&case.variant).unwrap();
        let options = OpenOptions {
            core: Some(case.core.clone()),
            exe: (case.maker == Maker::Qemu).then(|| case.exe.clone()),
            sysroot: variant.sysroot().map(PathBuf::from),
            ..OpenOptions::default()
        };
        let core = Core::open(&options).unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        let options = SessionOptions {
            dcmds: DCMDS,
            walkers: WALKERS,
            declared: Some(&kcore_commands::DECLARED),
            foreign: Some(&kcore_commands::GDB),
            typed: Some(&kcore_commands::TYPED),
            format: Format::Json(JsonForm::Full),
            terminal_width: || None,
        };
        Self { session: Session::new(Arc::new(core), options) }
    }

    /// The records of a command's answer.
    ///
    /// # Errors
    /// The message of the first error that is one of them.
    pub fn records(&mut self, command: &str) -> Result<Vec<Json>, String> {
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        {
            let mut sink = JsonSink::new(&mut out, &mut errors, false);
            self.session.eval_from(Source::Text, command, &mut sink);
            sink.finish().unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        let records: Vec<Json> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let error = records.iter().find(|record| record["type"] == "error");
        match error {
            Some(error) => Err(error["message"].as_str().unwrap_or_default().to_owned()),
            None => Ok(records.into_iter().filter(|record| record["type"] != "header").collect()),
        }
    }

    /// The tree of what `::print` says of a path.
    ///
    /// # Errors
    /// kcore's message, or that it gave no record.
    pub fn print(&mut self, path: &str) -> Result<Json, String> {
        let records = self.records(&format!("::print {}", typed(path)))?;
        let mut values = records.into_iter().filter(|record| record["type"] == "print");
        values.next().map(|record| record["value"].clone()).ok_or_else(|| "no record".to_owned())
    }

    /// The frames of all threads with their variables: as records of stacks have them, each with the id of
    /// its thread.
    pub fn frames(&mut self) -> Vec<(u64, Json)> {
        let stacks = self.records("::walk thread | ::stack -v").unwrap();
        let frames = stacks.into_iter().flat_map(|mut stack| {
            let tid = stack["tid"].as_u64().unwrap();
            let frames = stack["frames"].take();
            let frames: Vec<Json> = frames.as_array().cloned().unwrap_or_default();
            frames.into_iter().map(move |frame| (tid, frame))
        });
        frames.collect()
    }

    /// The trees of all arguments and locals of the innermost frame of a function.
    ///
    /// # Errors
    /// kcore's message, or that no thread is in the function.
    pub fn locals(&mut self, function: &str) -> Result<Vec<Json>, String> {
        let stacks = self.records("::walk thread | ::stack -v")?;
        let mut frames = stacks.iter().filter_map(|stack| stack["frames"].as_array()).flatten();
        let is_it = |frame: &&Json| {
            frame["function"].as_str().is_some_and(|name| plain(name) == plain(function))
        };
        let frame = frames.find(is_it).ok_or_else(|| format!("no frame of {function}"))?;
        let all = ["args", "locals"].iter().filter_map(|key| frame[*key].as_array());
        Ok(all.flatten().cloned().collect())
    }
}

/// The path as it is typed: indices are decimal in what programs tell.
fn typed(path: &str) -> String {
    path.replace('[', "[0t")
}

/// A function's name without its parameters.
pub fn plain(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}
