//! The cores that are tested, each opened, with what its program knows of it.

use std::{path::PathBuf, sync::LazyLock};

use gen_cores::{Arch, Case, Maker, Report, Truth, Variant};
use kcore::{Core, OpenOptions};
use rayon::prelude::*;

/// All cores, made where they are missing. Made once in a test program.
static REPORT: LazyLock<Report> = LazyLock::new(make_all);

/// A core with what its program knows of it.
pub struct Known {
    /// Where it lies.
    pub case: &'static Case,
    /// What is true of it.
    pub truth: Truth,
    /// The core, opened.
    pub core: Core,
}

fn make_all() -> Report {
    let report = gen_cores::ensure_all().expect("the recipes of gen-cores");
    let failed: Vec<String> =
        report.failed.iter().map(|(name, error)| format!("{name}: {error}")).collect();
    assert!(failed.is_empty(), "cores that were not made:\n{}", failed.join("\n"));
    for skipped in &report.skipped {
        gen_cores::not_tested(skipped);
    }
    println!(
        "{} cores, {} of them made now, {} skipped",
        report.cases.len(),
        report.made,
        report.skipped.len()
    );
    report
}

/// Every case that this machine can make.
pub fn cases() -> &'static [Case] {
    &REPORT.cases
}

/// The cases of programs of this machine's own architecture: other debuggers know no other.
pub fn native_cases() -> impl Iterator<Item = &'static Case> {
    cases().iter().filter(|case| variant(case).arch == Arch::X86_64)
}

/// How a case was made.
pub fn variant(case: &Case) -> Variant {
    Variant::parse(&case.variant).expect("the name of a variant")
}

/// Opens a core as a user does who names nothing but the core; for one of qemu, which has no record
/// of files, also the program, and where the libraries of its system are.
pub fn open(case: &Case) -> Core {
    let sysroot = variant(case).sysroot().map(PathBuf::from);
    let exe = (case.maker == Maker::Qemu).then(|| case.exe.clone());
    let options =
        OpenOptions { core: Some(case.core.clone()), exe, sysroot, ..OpenOptions::default() };
    Core::open(&options).unwrap_or_else(|error| panic!("{}: {error}", case.name()))
}

/// Calls `check` with each of `cases`, some at a time, and fails with all that it finds.
pub fn check_each<'a>(
    cases: impl IntoParallelIterator<Item = &'static Case>,
    check: impl Fn(&Known) -> Vec<String> + Sync + 'a,
) {
    let found: Vec<String> = cases
        .into_par_iter()
        .flat_map_iter(|case| {
            let truth = case.truth().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
            let known = Known { case, truth, core: open(case) };
            check(&known).into_iter().map(|difference| format!("{}: {difference}", case.name()))
        })
        .collect();
    assert_none(&found);
}

/// Fails with every line of `found`.
pub fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
