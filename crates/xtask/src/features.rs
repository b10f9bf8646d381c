//! The features of the library: a program may take none, or any single one.

use anyhow::Result;

use crate::cargo::cargo;

/// Features of `kcore`, as its manifest has them, but for the default ones together.
const FEATURES: [&str; 6] =
    ["compression", "zstd-sections", "disassembly", "debuginfod", "minidump", "live"];

/// Checks the library without features and with each feature alone, and runs the tests of a build without compression.
/// All other checks use the default features.
pub fn check() -> Result<()> {
    for feature in [""].into_iter().chain(FEATURES) {
        let features = format!("--features={feature}");
        let with = ["clippy", "-p", "kcore", "--lib", "--no-default-features", &features];
        cargo(&[&with[..], &["--", "-D", "warnings"]].concat())?;
    }
    cargo(&["test", "-p", "kcore-files", "-p", "kcore-elf", "--no-default-features", "--tests"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_the_manifest_is_checked() {
        let manifest = gen_cores::workspace_dir().join("crates/kcore/Cargo.toml");
        let text = std::fs::read_to_string(manifest).expect("the manifest");
        let behind = text.split("[features]\n").nth(1).expect("features");
        let lines = behind.lines().take_while(|line| !line.is_empty());
        let names: Vec<&str> = lines.filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
        assert_eq!(names, [&["default"], &FEATURES[..]].concat());
    }
}
