//! How fast kcore is beside gdb, lldb, eu-stack, drgn and framehop, and above what no program can do without.
//!
//! Everything is measured in one run on one machine, and shown as ratios to kcore: see README.md.

mod build;
mod completion;
mod framehop;
mod measure;
mod peers;
mod probes;
mod programs;
mod sample;
mod table;
mod tables;
mod walks;
mod workloads;

use anyhow::{Result, bail};

use tables::{Bench, TABLES};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--list") {
        TABLES.iter().for_each(|bench| println!("{:24} {}", bench.name, bench.shows));
        return Ok(());
    }
    let chosen = chosen(&words)?;
    println!("{}", machine());
    for bench in chosen {
        // Each is shown when it is done: some peers take minutes. One that cannot be measured does
        // not keep the others from it.
        match (bench.run)() {
            Ok(table) => println!("{}: {}\n{table}", bench.name, bench.shows),
            Err(error) => println!("{}: not measured: {error:#}\n", bench.name),
        }
    }
    println!("{}", machine());
    Ok(())
}

/// The tables whose names begin with one of the words; without words, all.
fn chosen(words: &[String]) -> Result<Vec<&'static Bench>> {
    let fits = |name: &str| words.is_empty() || words.iter().any(|word| name.starts_with(word));
    if let Some(word) = words.iter().find(|word| !TABLES.iter().any(|b| b.name.starts_with(*word)))
    {
        bail!("no table is named {word}: see --list");
    }
    Ok(TABLES.iter().filter(|bench| fits(bench.name)).collect())
}

/// What else the machine had to do: times measured beside other work are no times.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    format!("{cores} processors, load {load}\n")
}
