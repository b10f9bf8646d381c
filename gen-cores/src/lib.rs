//! Programs that die in known ways, cores of them, and the truth about each core.
//!
//! A *scenario* is a folder with a program and its `recipe.toml`; a *variant* is a way to compile and
//! dump it; both together are a *case*, a folder in `target/cores/` with the program, its core and
//! `truth.json`, which the program itself wrote before it died. Tests of other crates ask [`ensure_all`]
//! or [`ensure`] for cases, read [`Case::truth`], and hold their stacks against it with [`compare`].
//!
//! The crate prints nothing and changes nothing outside of the target folder, but for the kernel's core
//! pattern where it must and may, and that is put back.

mod account;
mod apt;
mod cache;
mod cargo;
mod command;
mod compare;
mod compile;
mod core_pattern;
mod debian;
mod debug_form;
mod downloads;
pub mod elfutils;
mod ensure;
mod erlang;
mod error;
mod few;
mod gcore;
pub mod gdb;
mod golang;
mod java;
mod kernel;
mod lock;
mod lua;
mod make;
mod node;
mod not_tested;
mod packages;
mod paths;
mod perl;
mod php;
mod pinned_wheel;
mod program;
mod python;
mod qemu;
mod recipe;
mod ruby;
mod run;
mod scripts;
mod sparse;
pub mod testdata;
mod tools;
mod truth;
mod unpacked;
mod variant;
mod wheel;

pub use compare::{Seen, bare_name, compare};
pub use debug_form::{DebugForm, Store};
pub use downloads::{Download, downloads};
pub use ensure::{
    Event, Extent, Report, Selection, cases, ensure, ensure_all, ensure_language, ensure_scenarios,
    ensure_selected,
};
pub use error::{Error, Result};
pub use few::{CASES, FEW, NO_DOWNLOADS, is_short_run};
pub use golang::gdb_script as gdb_script_of_go;
pub use make::{Case, Outcome, Skipped};
pub use node::node;
pub use not_tested::{NOT_TESTED, not_tested};
pub use paths::{cores_dir, scenarios_dir, workspace_dir};
pub use program::{Program, core_of};
pub use recipe::{Language, Lib, Panic, Recipe, Scenario, When, scenario, scenarios};
pub use tools::{TOOLS, Tool, missing_tools};
pub use truth::{Call, End, Facts, Frame, Mark, Match, SCHEMA, Thread, Truth};
pub use variant::{Arch, Libc, Link, Maker, Opt, Toolchain, Variant};
