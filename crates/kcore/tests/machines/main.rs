//! kcore against cores of other machines: programs of a cross compiler, which the kernel or qemu dumped, held against
//! what they know of themselves.
//!
//! What this machine cannot make, since a compiler or an emulator is missing, is said and left out.

mod stacks;
mod state;
mod x32;

use gen_cores::{Case, Outcome};
use kcore::{Core, OpenOptions};

/// Machines with a static program of each optimisation: their word in the names of variants.
const MACHINES: [&str; 8] =
    ["i386", "arm", "ppc64le", "ppc64", "s390x", "mips", "mips64el", "mipsn32el"];

/// A core of another machine.
struct Opened {
    case: Case,
    core: Core,
}

/// Makes and opens a core; `None` where this machine cannot make it.
fn open(scenario: &str, variant: &str) -> Option<Opened> {
    let case = match gen_cores::ensure(scenario, variant) {
        Ok(Outcome::Made(case) | Outcome::Fresh(case)) => case,
        Ok(Outcome::Skipped(skipped)) => {
            gen_cores::not_tested(&skipped);
            return None;
        }
        Err(error) => panic!("{scenario}/{variant}: {error}"),
    };
    let sysroot = case.truth().expect("a truth").sysroot.map(Into::into);
    let options = OpenOptions {
        core: Some(case.core.clone()),
        exe: Some(case.exe.clone()),
        sysroot,
        ..OpenOptions::default()
    };
    let core = Core::open(&options).unwrap_or_else(|error| panic!("{}: {error}", case.name()));
    Some(Opened { case, core })
}

/// The variants of a kind (`O0`, `O2`) of all machines, each a static program.
fn variants(kind: &str) -> impl Iterator<Item = String> {
    MACHINES.iter().map(move |machine| format!("{kind}-{machine}-static"))
}
