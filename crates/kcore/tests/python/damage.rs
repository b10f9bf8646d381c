//! What is left where modules have no files, and where memory is missing.

use std::fs;

use gen_cores::{Case, Truth};
use kcore::{Core, MAX_FRAMES, OpenOptions, Tid};
use tempfile::TempDir;

use crate::{CASES, frames, open};

fn cases(scenario: &str) -> impl Iterator<Item = &'static (Case, Truth)> {
    CASES.iter().filter(move |(case, _)| case.scenario == scenario)
}

/// A copy of a core in which no module has the name of a file that is there.
fn without_files(case: &Case) -> (TempDir, Core) {
    let mut bytes = fs::read(&case.core).expect("a core");
    for module in open(case).modules().all().iter().filter(|module| module.image().is_some()) {
        let path = module.path();
        let mut rest = bytes.as_mut_slice();
        while let Some(at) = find(rest, path.as_bytes()) {
            rest[at + 1..][..3].copy_from_slice(b"not");
            rest = &mut rest[at + path.len()..];
        }
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let core = dir.path().join("core");
    fs::write(&core, bytes).expect("a core");
    let options = OpenOptions { core: Some(core), ..OpenOptions::default() };
    (dir, Core::open(&options).expect("the core opens"))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted[0];
    let mut from = 0;
    while let Some(next) = bytes[from..].iter().position(|byte| *byte == first) {
        if bytes[from + next..].starts_with(wanted) {
            return Some(from + next);
        }
        from += next + 1;
    }
    None
}

#[test]
fn frames_need_no_file_of_a_module() {
    for (case, truth) in cases("python-stack") {
        let (_dir, core) = without_files(case);
        let python = |name: &str| name.contains("python");
        let modules = core.modules().all().iter().filter(|module| python(module.name()));
        assert!(modules.clone().count() > 0 && modules.clone().all(|it| it.image().is_none()));
        let version = core.runtimes().identities().next().expect("CPython").version.clone();
        let version = version.expect("a version");
        assert!(case.variant.contains(version.rsplit_once('.').unwrap().0), "{version}");
        for thread in &truth.threads {
            let stack = core.stack(Tid::new(thread.tid), MAX_FRAMES);
            let shown = frames(&core, &stack);
            let shown: Vec<_> = shown
                .iter()
                .map(|it| (it.location.function.as_deref(), it.location.line))
                .collect();
            let told: Vec<_> =
                thread.calls().map(|call| (call.function.as_deref(), call.line)).collect();
            assert_eq!(shown, told, "{} {}", case.name(), thread.role);
        }
    }
}
