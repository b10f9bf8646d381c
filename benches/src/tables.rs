//! What is measured: one line a table.

use anyhow::Result;

use crate::{
    completion, probes,
    programs::{self, Ask},
    table::Table,
    walks,
    workloads::{self, Subject},
};

/// A table that can be asked for by name.
pub struct Bench {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub shows: &'static str,
    /// Measures it.
    pub run: fn() -> Result<Table>,
}

/// All tables, in the order in which they are measured.
pub const TABLES: &[Bench] = &[
    Bench {
        name: "first-stack-small",
        shows: "the crashed thread's stack of a small core",
        run: || ask(Ask::First, workloads::small),
    },
    Bench {
        name: "first-stack-heap",
        shows: "the crashed thread's stack of a 4 GiB core with 51 threads",
        run: || ask(Ask::First, workloads::heap),
    },
    Bench {
        name: "first-stack-binary",
        shows: "the crashed thread's stack of a program of 100 MB",
        run: || ask(Ask::First, workloads::big_binary),
    },
    Bench {
        name: "first-stack-dwarf",
        shows: "the crashed thread's stack of a Rust program in debug, 320 MB with 213 MB of DWARF",
        run: || ask(Ask::First, workloads::rust_debug),
    },
    Bench {
        name: "first-stack-node",
        shows: "the crashed thread's stack of Node.js 24, 775 MB of memory; peers lose it at JavaScript",
        run: || ask(Ask::First, workloads::js_heap),
    },
    Bench {
        name: "probes",
        shows: "the first stack of a program of 100 MB without a language runtime, looked for or not",
        run: || probes::absent(&workloads::big_binary()?),
    },
    Bench {
        name: "all-threads",
        shows: "all stacks of 1,000 threads in ten kinds, C++ -O2",
        run: || ask(Ask::All, workloads::cpp_threads),
    },
    Bench {
        name: "all-dwarf",
        shows: "all stacks of 49 threads of a Rust program in debug, 320 MB with 213 MB of DWARF",
        run: || ask(Ask::All, workloads::rust_debug),
    },
    Bench {
        name: "all-modules",
        shows: "all stacks of 61 threads through 300 modules",
        run: || ask(Ask::All, workloads::modules),
    },
    Bench {
        name: "all-deep",
        shows: "a stack of 100,000 frames; drgn stops after 1,024",
        run: || ask(Ask::All, workloads::deep),
    },
    Bench {
        name: "grouped-threads",
        shows: "1,000 threads grouped by stack; no peer groups, so they print all",
        run: || ask(Ask::Grouped, workloads::cpp_threads),
    },
    Bench {
        name: "grouped-dwarf",
        shows: "49 threads of the Rust program grouped by stack",
        run: || ask(Ask::Grouped, workloads::rust_debug),
    },
    Bench {
        name: "grouped-modules",
        shows: "61 threads through 300 modules grouped by stack",
        run: || ask(Ask::Grouped, workloads::modules),
    },
    Bench {
        name: "grouped-deep",
        shows: "a stack of 100,000 frames as a group, of which 254 are shown",
        run: || ask(Ask::Grouped, workloads::deep),
    },
    Bench {
        name: "million",
        shows: "a stack of 1,000,000 frames, printed and counted; no peer prints it in minutes",
        run: || programs::million(&workloads::million()?),
    },
    Bench {
        name: "walk-threads",
        shows: "the walkers alone, 1,000 threads, on an open core",
        run: || walks::frames_a_second(&workloads::cpp_threads()?),
    },
    Bench {
        name: "walk-deep",
        shows: "the walkers alone, 100,000 frames, on an open core",
        run: || walks::frames_a_second(&workloads::deep()?),
    },
    Bench {
        name: "completion",
        shows: "the symbols that Tab offers, in a program of 100 MB: once read, and the first time",
        run: || completion::latency(&workloads::big_binary()?),
    },
    Bench {
        name: "print-types",
        shows: "a structure by name out of 112 MB of .debug_info, with and without the index cache",
        run: || programs::print(&workloads::cpp_types()?),
    },
    Bench {
        name: "search-full",
        shows: "a value that is nowhere, in all memory of a 4 GiB core without holes",
        run: || programs::search(&workloads::full_heap()?),
    },
    Bench {
        name: "search-heap",
        shows: "a value that is nowhere, in all memory of a 4 GiB core that is mostly holes",
        run: || programs::search(&workloads::heap()?),
    },
    Bench {
        name: "js-heap",
        shows: "1,200,000 JavaScript objects in a heap of 77 MB: counted, and what each class retains",
        run: || programs::js_heap(&workloads::js_heap()?),
    },
    Bench {
        name: "goroutines",
        shows: "100,000 goroutines of Go 1.27: listed, and grouped by stack",
        run: || programs::goroutines(&workloads::goroutines()?),
    },
    Bench {
        name: "py-threads",
        shows: "200 threads of CPython 3.12: their frames of Python, alone and among the native ones",
        run: || programs::python(&workloads::py_threads()?),
    },
    Bench {
        name: "py-heap",
        shows: "1,000,000 Python objects, counted by class",
        run: || programs::py_heap(&workloads::py_heap()?),
    },
];

fn ask(ask: Ask, subject: fn() -> Result<Subject>) -> Result<Table> {
    Ok(programs::all(ask, &subject()?))
}
