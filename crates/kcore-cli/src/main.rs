//! The kcore program: command line, files, terminal, exit status.
//!
//! What it does with a core is in the libraries; this crate is the edge between them and the
//! process that a user starts.

#![warn(clippy::unwrap_used, clippy::expect_used)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod args;
mod ask;
mod budget;
mod bundle;
mod catch;
mod confine;
mod cores;
mod debuginfod;
mod ends;
mod files;
mod finders;
mod folders;
mod heapdump;
mod help;
mod help_text;
mod interactive;
mod live;
mod man;
mod output;
mod profile;
mod progress;
mod run;
mod save;
mod several;
mod target;
mod terminal;
mod top;
mod tutorial;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use args::Invocation;

fn main() -> ExitCode {
    if let Err(error) = ends::fail_without_memory() {
        let _ = writeln!(io::stderr(), "kcore: cannot catch SIGABRT: {error}");
    }
    match args::parse(std::env::args_os()) {
        Ok(Invocation::Session(args)) => run::run(*args),
        Ok(Invocation::Ask(args)) => ask::run(&args),
        Ok(Invocation::Catch(args)) => catch::run(&args),
        Ok(Invocation::Save(args)) => save::run(&args),
        Ok(Invocation::Profile(args)) => profile::run(&args),
        Ok(Invocation::Bundle(args)) => bundle::run(&args),
        Ok(Invocation::Heapdump(args)) => heapdump::run(&args),
        Ok(Invocation::Top(args)) => top::run(&args),
        Ok(Invocation::Cores(args)) => cores::run(&args),
        Ok(Invocation::Tutorial(args)) => tutorial::run(&args),
        Ok(Invocation::Watch(args)) => watch::run(&args),
        Err(exit) => exit.show(),
    }
}
