//! The test programs of the workspace, as cargo builds them.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result};
use serde_json::Value;

use super::Options;
use crate::cargo::{command, shown};

/// Programs whose tests compare times, count samples, or let time run out: they run with nothing beside them.
const ALONE: &[&str] = &["kcore-cli doubling", "kcore-cli profile"];

/// Programs that run for minutes, the longest first: they begin first, so that none runs on when all others are done.
const LONG: &[&str] = &[
    "kcore-agent agent",
    "kcore javascript",
    "kcore cores",
    "kcore-commands bthreads",
    "kcore hurt_javascript",
    "kcore-commands goroutines",
    "kcore python",
];

/// A test program, or the tests in the documentation of all libraries.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// `kcore-unwind walk`.
    pub name: String,
    /// What runs it alone, behind `cargo test`: `-p kcore-unwind --test walk`.
    pub words: String,
    /// The program and the folder of its package; none for documentation, which cargo itself runs.
    program: Option<(PathBuf, PathBuf)>,
}

impl Target {
    fn documentation() -> Self {
        let words = "--workspace --doc".to_owned();
        Self { name: "documentation".to_owned(), words, program: None }
    }

    /// The test program that a message of cargo tells of; `None` for a message about anything else.
    fn of(message: &Value) -> Option<Self> {
        let program =
            message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
        let package = package(message["package_id"].as_str()?);
        let (name, word) = named(&message["target"]);
        Some(Self {
            name: format!("{package} {name}"),
            words: format!("-p {package} {word}"),
            program: Some((program.into(), folder.into())),
        })
    }

    /// Its turn: the long ones first, the others by their names, since cargo names them in no order.
    fn turn(&self) -> (usize, String) {
        let long = LONG.iter().position(|name| *name == self.name);
        (long.unwrap_or(LONG.len()), self.name.clone())
    }

    /// Whether nothing may run beside it.
    pub fn is_alone(&self) -> bool {
        ALONE.contains(&self.name.as_str())
    }

    /// What runs it as `cargo test` does: in the folder of its package.
    pub fn command(&self, options: Options) -> Command {
        let mut run = match &self.program {
            Some((program, folder)) => {
                let mut run = Command::new(program);
                run.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).stdin(Stdio::null());
                run
            }
            None => command(env!("CARGO"), &["test", "--workspace", "--doc", "--no-fail-fast"]),
        };
        run.envs(options.environment());
        run
    }
}

/// How a target is called, and what names it to cargo.
fn named(target: &Value) -> (&str, String) {
    let name = target["name"].as_str().unwrap_or_default();
    match target["kind"][0].as_str() {
        Some("test") => (name, format!("--test {name}")),
        Some("bin") => ("its program", format!("--bin {name}")),
        Some("example") => ("an example", format!("--example {name}")),
        _ => ("its own tests", "--lib".to_owned()),
    }
}

/// Builds all tests, and answers which there are; those that do not compile are missing, and the result says so.
pub fn build() -> (Vec<Target>, Result<()>) {
    let words = ["test", "--workspace", "--no-run", "--no-fail-fast"];
    let mut build = command(env!("CARGO"), &words);
    println!("+ {}", shown(&build));
    build.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    match build.output().with_context(|| format!("cannot run {}", shown(&build))) {
        Ok(output) => {
            let status = output.status;
            let built = status.success().then_some(());
            let built = built.with_context(|| format!("not all tests compile: {status}"));
            (of_messages(&String::from_utf8_lossy(&output.stdout)), built)
        }
        Err(error) => (Vec::new(), Err(error)),
    }
}

/// Those that cargo's messages name, and the documentation, in the order in which they begin.
fn of_messages(messages: &str) -> Vec<Target> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut targets: Vec<Target> = messages.filter_map(|message| Target::of(&message)).collect();
    targets.push(Target::documentation());
    targets.sort_by_key(Target::turn);
    targets
}

/// The package that one of cargo's package ids names: `path+file:///src/NAME#1.0.0`, or `path+file:///src/x#NAME@1.0.0`.
fn package(id: &str) -> &str {
    let (folder, rest) = id.split_once('#').unwrap_or((id, ""));
    match rest.split_once('@') {
        Some((name, _)) => name,
        None => folder.rsplit('/').next().unwrap_or(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
{"reason":"compiler-artifact","package_id":"path+file:///t/crates/a#0.1.0","manifest_path":"/t/crates/a/Cargo.toml","target":{"kind":["test"],"name":"walk"},"profile":{"test":true},"executable":"/t/target/debug/deps/walk-1"}
{"reason":"compiler-artifact","package_id":"path+file:///t/commands#a-commands@0.1.0","manifest_path":"/t/commands/Cargo.toml","target":{"kind":["lib"],"name":"a_commands"},"profile":{"test":true},"executable":"/t/target/debug/deps/a_commands-2"}
{"reason":"compiler-artifact","package_id":"path+file:///t/crates/a#0.1.0","manifest_path":"/t/crates/a/Cargo.toml","target":{"kind":["bin"],"name":"a"},"profile":{"test":false},"executable":"/t/target/debug/a"}
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn programs_are_named_as_people_and_cargo_name_them() {
        let targets =
            of_messages(&MESSAGES.replace("#0.1.0", "#kcore@0.1.0").replace("walk", "javascript"));
        assert_eq!(targets[0].name, "kcore javascript", "a long one begins");
        let targets = of_messages(MESSAGES);
        let names: Vec<(&str, &str)> =
            targets.iter().map(|target| (target.name.as_str(), target.words.as_str())).collect();
        assert_eq!(
            names,
            [
                ("a walk", "-p a --test walk"),
                ("a-commands its own tests", "-p a-commands --lib"),
                ("documentation", "--workspace --doc"),
            ]
        );
    }

    #[test]
    fn a_program_runs_in_the_folder_of_its_package_with_the_options() {
        let targets = of_messages(MESSAGES);
        let library = targets.iter().find(|target| target.words.ends_with("--lib")).unwrap();
        let run = library.command(Options::default());
        assert_eq!(run.get_program(), "/t/target/debug/deps/a_commands-2");
        assert_eq!(run.get_current_dir(), Some(Path::new("/t/commands")));
        let few = run.get_envs().any(|(name, value)| {
            name == gen_cores::CASES && value.is_some_and(|value| value == gen_cores::FEW)
        });
        assert!(few);
    }

    #[test]
    fn those_that_measure_are_alone() {
        let alone = MESSAGES.replace("\"walk\"", "\"doubling\"").replace("a#", "kcore-cli#");
        let targets = of_messages(&alone);
        let alone = targets.iter().filter(|target| target.is_alone());
        let names: Vec<&str> = alone.map(|target| target.name.as_str()).collect();
        assert_eq!(names, ["kcore-cli doubling"]);
    }
}
