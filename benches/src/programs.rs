//! Whole programs, from their start to their end.

use std::path::Path;

use anyhow::{Context, Error, Result};
use kcore::{AddrRange, Core, OpenOptions};

use crate::{
    measure::measure,
    peers::{self, Line},
    table::{Row, Table},
    workloads::{self, Subject},
};

/// What the programs are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// The stack of the crashed thread, with names, lines and inlined calls.
    First,
    /// The same of all threads.
    All,
    /// The same once for each group of equal stacks; the peers know no groups.
    Grouped,
}

/// drgn's stack of each thread.
const DRGN_ALL: &str = "for thread in prog.threads(): print(thread.stack_trace())";
const DRGN_FIRST: &str = "print(prog.crashed_thread().stack_trace())";

/// kcore, the floor and all peers.
pub fn all(ask: Ask, subject: &Subject) -> Table {
    let (kcore, gdb, lldb, drgn) = match ask {
        Ask::First => ("::stack -v", "bt", "bt", DRGN_FIRST),
        Ask::All => ("::walk thread | ::stack -v", "thread apply all bt", "bt all", DRGN_ALL),
        Ask::Grouped => ("::stacks", "thread apply all bt", "bt all", DRGN_ALL),
    };
    Table::new(vec![
        row(&format!("kcore {kcore}"), || peers::kcore(subject, kcore)),
        row("floor", || peers::floor(subject)),
        row(&format!("gdb {gdb}"), || peers::gdb(subject, gdb)),
        row(&format!("lldb {lldb}"), || peers::lldb(subject, lldb)),
        // Of a core it shows all threads, whatever it is asked.
        row("eu-stack --source --inlines", || peers::eu_stack(subject)),
        row("drgn", || peers::drgn(subject, drgn)),
    ])
}

/// A structure by name: the first time, when the index of all names is made, and each time after it.
pub fn print(subject: &Subject) -> Result<Table> {
    const PRINT: &str = "g_request::print Request";
    let kept = subject.exe.with_file_name("cache");
    let kcore = |cache: &Path| {
        let mut command = peers::kcore(subject, PRINT)?;
        command.env("XDG_CACHE_HOME", cache);
        Ok(command)
    };
    // On a busy machine it takes so long to fill the cache that no second run would be counted.
    kcore(&kept).map_err(Error::msg)?.output()?;
    Ok(Table::new(vec![
        row("kcore ::print, warm", || kcore(&kept)),
        row("kcore ::print, cold", || kcore(Path::new("/dev/null"))),
        row("gdb print", || peers::gdb(subject, "print g_request")),
        row("lldb print", || peers::lldb(subject, "p g_request")),
        row("drgn", || peers::drgn(subject, "print(prog['g_request'])")),
    ]))
}

/// A stack that no peer prints in a time that can be waited for.
pub fn million(subject: &Subject) -> Result<Table> {
    Ok(Table::new(vec![
        row("kcore ::stack", || peers::kcore(subject, "::stack")),
        row("kcore ::stack ! wc -l", || peers::kcore(subject, "::stack ! wc -l")),
        row("floor", || peers::floor(subject)),
        row("gdb bt -1", || peers::gdb(subject, "bt -1")),
    ]))
}

/// Who holds a value that nobody holds: all memory is read. gdb looks through the largest mapping only,
/// one after the other being more than it can.
pub fn search(subject: &Subject) -> Result<Table> {
    const NOWHERE: &str = "1badd00d5eed5eed";
    let (kcore, gdb) = (format!("{NOWHERE}::ugrep"), largest_mapping(subject)?);
    let find = format!("find /g {:#x}, {:#x}, 0x{NOWHERE}", gdb.start.get(), gdb.end.get() - 1);
    Ok(Table::new(vec![
        row("kcore ::ugrep", || peers::kcore(subject, &kcore)),
        row("floor: the sum of all memory", || peers::sum(subject)),
        row("gdb find", || peers::gdb(subject, &find)),
    ]))
}

/// All objects of JavaScript. No peer knows any; the floor reads all memory, and not the heap alone.
pub fn js_heap(subject: &Subject) -> Result<Table> {
    Ok(Table::new(vec![
        row("kcore ::findjsobjects", || peers::kcore(subject, "::findjsobjects")),
        row("kcore ::jsheap", || peers::kcore(subject, "::jsheap")),
        row("floor: the sum of all memory", || peers::sum(subject)),
    ]))
}

/// All stacks of Python, alone and among the native frames.
pub fn python(subject: &Subject) -> Result<Table> {
    const ALONE: &str = "::walk thread | ::pystack";
    const MERGED: &str = "::walk thread | ::stack";
    Ok(Table::new(vec![
        row("kcore ::pystack", || peers::kcore(subject, ALONE)),
        row("kcore ::stack", || peers::kcore(subject, MERGED)),
        row("floor", || peers::floor(subject)),
        row("pystack core", || peers::pystack(subject, false)),
        row("pystack core --native", || peers::pystack(subject, true)),
        row("py-spy dump --core", || peers::py_spy(subject)),
    ]))
}

/// All goroutines. gdb lists them by the script of Go's release, and knows no groups.
pub fn goroutines(subject: &Subject) -> Result<Table> {
    let script = workloads::gdb_script_of_goroutines().context("a release without gdb's script")?;
    let lists = format!(
        "python gdb.execute('source {}'); gdb.execute('info goroutines')",
        script.display()
    );
    Ok(Table::new(vec![
        row("kcore ::goroutines", || peers::kcore(subject, "::goroutines")),
        row("kcore ::goroutines -u", || peers::kcore(subject, "::goroutines -u")),
        row("kcore ::stacks", || peers::kcore(subject, "::stacks")),
        row("floor", || peers::floor(subject)),
        row("gdb info goroutines", || peers::gdb(subject, &lists)),
    ]))
}

/// All objects of Python. No peer counts those of a core.
pub fn py_heap(subject: &Subject) -> Result<Table> {
    Ok(Table::new(vec![
        row("kcore ::pyobjects", || peers::kcore(subject, "::pyobjects")),
        row("floor: the sum of all memory", || peers::sum(subject)),
    ]))
}

fn largest_mapping(subject: &Subject) -> Result<AddrRange> {
    let options = OpenOptions { core: Some(subject.core.clone()), ..OpenOptions::default() };
    let core = Core::open(&options)?;
    let ranges = core.mappings().iter().map(|mapping| mapping.range);
    ranges.max_by_key(AddrRange::len).context("a core without mappings")
}

fn row(name: &str, command: impl Fn() -> Line) -> Row {
    Row { name: name.to_owned(), measured: measure(command), frames: None }
}
