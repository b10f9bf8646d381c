//! The cores that are measured. Those that no scenario of gen-cores has are built from `workloads/`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use gen_cores::Outcome;

use crate::build::{self, Workload};

/// The variant of Go that is measured.
const GOROUTINES: &str = "go1.27";

/// A program and its core.
pub struct Subject {
    /// The program.
    pub exe: PathBuf,
    /// The core.
    pub core: PathBuf,
}

/// A small dynamic program that dies in its main thread.
pub fn small() -> Result<Subject> {
    scenario("leaf", "O2-pie")
}

/// A recursion of 100,000 frames.
pub fn deep() -> Result<Subject> {
    scenario("deep-recursion", "O2-pie")
}

/// Node.js with a heap of 77 MB, in which an object of JavaScript has 48 bytes.
pub fn js_heap() -> Result<Subject> {
    scenario("node-heap", "node24")
}

/// Go with 100,000 goroutines.
pub fn goroutines() -> Result<Subject> {
    scenario("goroutines-many", GOROUTINES)
}

/// What teaches gdb those goroutines.
pub fn gdb_script_of_goroutines() -> Option<PathBuf> {
    gen_cores::gdb_script_of_go(&gen_cores::Variant::parse(GOROUTINES).ok()?)
}

/// CPython with 200 threads that wait in Python.
pub fn py_threads() -> Result<Subject> {
    scenario("python-threads", "python3.12")
}

/// CPython with 1,000,000 objects of a class.
pub fn py_heap() -> Result<Subject> {
    scenario("python-heap", "python3.12")
}

/// 4 GiB of memory that is mostly holes, and 51 threads.
pub fn heap() -> Result<Subject> {
    build::ensure(&Workload { name: "heap", build: build::c_program, ..Workload::default() })
}

/// 4 GiB of memory without a hole.
pub fn full_heap() -> Result<Subject> {
    build::ensure(&Workload { name: "full-heap", build: build::c_program, ..Workload::default() })
}

/// A program of 100 MB: 100,000 functions.
pub fn big_binary() -> Result<Subject> {
    build::ensure(&Workload { name: "big-binary", build: build::big_binary, ..Workload::default() })
}

/// Debug information of 270 MB, 49 threads.
pub fn rust_debug() -> Result<Subject> {
    build::ensure(&Workload {
        name: "rust-debug",
        build: build::cargo_project,
        ..Workload::default()
    })
}

/// Debug information of 112 MB without the names, of C++ types and nothing else.
pub fn cpp_types() -> Result<Subject> {
    build::ensure(&Workload { name: "cpp-types", build: build::cpp_types, ..Workload::default() })
}

/// 1,000 threads in ten kinds of stack.
pub fn cpp_threads() -> Result<Subject> {
    build::ensure(&Workload {
        name: "cpp-threads",
        build: build::cpp_program,
        ..Workload::default()
    })
}

/// 300 libraries, 61 threads.
pub fn modules() -> Result<Subject> {
    build::ensure(&Workload { name: "modules", build: build::libraries, ..Workload::default() })
}

/// A recursion of 1,000,000 frames.
pub fn million() -> Result<Subject> {
    build::ensure(&Workload {
        name: "deep",
        build: build::c_program,
        args: &["1000000"],
        stack_kib: 256 * 1024,
    })
}

fn scenario(scenario: &str, variant: &str) -> Result<Subject> {
    match gen_cores::ensure(scenario, variant)? {
        Outcome::Made(case) | Outcome::Fresh(case) => {
            Ok(Subject { exe: case.exe, core: case.core })
        }
        Outcome::Skipped(skipped) => bail!("{scenario}/{variant}: {}", skipped.reason),
    }
}
