//! Checks and chores of the tree: `cargo xtask NAME`.
//!
//! Each task is a line in [`TASKS`] and a file. What runs on a developer's machine and what runs
//! for a change are the same thing: `.ci/run` does what `cargo xtask ci` does and nothing else.

mod api;
mod arch;
mod cargo;
mod ci;
mod dist;
mod docs;
mod features;
mod fuzz;
mod install_agent;
mod supply;
mod test;

use std::process::ExitCode;

use anyhow::Result;

/// Something that can be asked for by name.
struct Task {
    name: &'static str,
    shows: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const TASKS: &[Task] = &[
    Task {
        name: "test",
        shows: "install what is missing, make the cores, run all tests: [--all] [--no-install]",
        run: test::run,
    },
    Task {
        name: "ci",
        shows: "everything that a change has to pass; options are those of test",
        run: ci::run,
    },
    Task {
        name: "arch",
        shows: "hold dependencies, `unsafe`, printing and messages against the plan of the house",
        run: arch::run,
    },
    Task {
        name: "api",
        shows: "write what the library promises to others into crates/kcore/api.txt; --check: compare it",
        run: api::run,
    },
    Task {
        name: "supply",
        shows: "hold what others made against the licences that are allowed, and find withdrawn versions",
        run: supply::run,
    },
    Task {
        name: "fuzz",
        shows: "run the fuzz targets: [--seconds N] [TARGET...], 5 seconds each when not said",
        run: fuzz::run,
    },
    Task {
        name: "docs",
        shows: "write the generated parts of the documentation; --check: compare them, and check links and prose",
        run: docs::run,
    },
    Task {
        name: "dist",
        shows: "make the packages of a release: [--target T]... [--out DIR] [--test]; for all machines and in \
                target/dist when not said; --test installs each into an empty root and runs it on a core",
        run: dist::run,
    },
    Task {
        name: "install-agent",
        shows: "build the agent and install it: [--prefix DIR] [--libdir DIR] [--destdir DIR] [--from DIR], below \
                /usr/local when not said; DIR of --from holds libraries that were built before",
        run: install_agent::run,
    },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, args)) = words.split_first() else { return usage() };
    let Some(task) = TASKS.iter().find(|task| task.name == name) else { return usage() };
    match (task.run)(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: cargo xtask TASK");
    for task in TASKS {
        eprintln!("  {:13} {}", task.name, task.shows);
    }
    ExitCode::from(2)
}
