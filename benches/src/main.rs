//! How fast kcore is beside gdb, eu-stack and framehop, on cores that gen-cores makes.
//!
//! Everything is measured in one run on one machine, and shown as ratios to kcore: see README.md.

mod framehop;
mod programs;
mod sample;
mod table;
mod walks;

use anyhow::{Result, bail};
use gen_cores::{Case, Outcome};

fn main() -> Result<()> {
    let (small, threads, deep) = (
        case("leaf", "O2-pie")?,
        case("threads-1000", "O2-pie")?,
        case("deep-recursion", "O2-pie")?,
    );
    // Each is shown when it is done: some peers take minutes.
    println!("{}", programs::first_stack(&small));
    println!("{}", programs::all_stacks(&threads));
    println!("{}", programs::deep_stack(&deep));
    println!("{}", walks::all_threads(&threads)?);
    println!("{}", walks::deep_stack(&deep)?);
    Ok(())
}

/// A core, made if it is not there.
fn case(scenario: &str, variant: &str) -> Result<Case> {
    match gen_cores::ensure(scenario, variant)? {
        Outcome::Made(case) | Outcome::Fresh(case) => Ok(case),
        Outcome::Skipped(skipped) => bail!("{scenario}/{variant}: {}", skipped.reason),
    }
}
