//! The machines that packages are made for.

use std::env::consts::ARCH;

use anyhow::{Context, Result};

/// A machine, by the names that others have for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// Rust's name of the machine and its C library.
    pub triple: &'static str,
    /// The name that Rust and RPM have for its processor.
    pub processor: &'static str,
    /// Debian's name.
    pub debian: &'static str,
    /// What runs its programs on another machine: it runs in an empty root too.
    pub emulator: &'static str,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        triple: "x86_64-unknown-linux-musl",
        processor: "x86_64",
        debian: "amd64",
        emulator: "qemu-x86_64-static",
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        processor: "aarch64",
        debian: "arm64",
        emulator: "qemu-aarch64-static",
    },
];

impl Target {
    /// The one with that triple.
    pub fn named(triple: &str) -> Result<&'static Self> {
        let known = || TARGETS.iter().map(|target| target.triple).collect::<Vec<_>>().join(", ");
        let found = TARGETS.iter().find(|target| target.triple == triple);
        found.with_context(|| format!("{triple} is none of the targets: {}", known()))
    }

    /// The one whose programs run here.
    pub fn of_this_machine() -> Result<&'static Self> {
        let found = TARGETS.iter().find(|target| target.runs_here());
        found.with_context(|| format!("kcore is not made for {ARCH}"))
    }

    /// Whether its programs run here without an emulator.
    pub fn runs_here(&self) -> bool {
        self.processor == ARCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_known_by_its_triple() {
        for target in TARGETS {
            assert_eq!(Target::named(target.triple).unwrap(), target);
            assert!(target.triple.starts_with(target.processor), "{target:?}");
        }
        let error = Target::named("riscv64").unwrap_err().to_string();
        assert!(error.starts_with("riscv64 is none of the targets: x86_64-"), "{error}");
    }
}
