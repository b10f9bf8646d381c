//! `supply`: checks the third-party crates that kcore is built of: their licences, their origin, withdrawn versions,
//! and security advisories where a database of them is at hand.

mod licences;
mod withdrawn;

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo;

/// A third-party crate.
#[derive(Debug, PartialEq, Eq)]
struct Supplied {
    name: String,
    version: String,
    /// An expression in the words of SPDX, as its manifest has it.
    licence: Option<String>,
    /// Where it comes from: `registry+…`, `git+…`.
    source: String,
}

/// Fails with a list of the crates that may not be used.
pub fn run(_args: &[String]) -> Result<()> {
    let args = ["metadata", "--format-version", "1", "--locked"];
    let supplied = parse(&cargo::output(&mut cargo::command(env!("CARGO"), &args))?)?;
    let mut found: Vec<String> = supplied.iter().filter_map(licences::refusal).collect();
    found.extend(supplied.iter().filter_map(elsewhere));
    found.extend(withdrawn::withdrawn(&supplied)?);
    if !found.is_empty() {
        bail!("may not be used:\n  {}", found.join("\n  "));
    }
    println!("{} crates of others may be used", supplied.len());
    advisories()
}

/// A crate from outside the registry could change from one build to the next.
fn elsewhere(supplied: &Supplied) -> Option<String> {
    let Supplied { name, version, source, .. } = supplied;
    (!source.starts_with("registry+")).then(|| format!("{name} {version}: comes from {source}"))
}

/// The registry has no advisories. `cargo deny` fetches them, where it is installed and allowed to.
fn advisories() -> Result<()> {
    let mut asked = cargo::command(env!("CARGO"), &["deny", "--version"]);
    if !is_there(&mut asked) {
        println!("not checked: advisories, since there is no cargo-deny");
        return Ok(());
    }
    cargo::cargo(&["deny", "check", "advisories"])
}

fn is_there(asked: &mut Command) -> bool {
    asked.output().is_ok_and(|output| output.status.success())
}

fn parse(metadata: &str) -> Result<Vec<Supplied>> {
    let metadata: Value = serde_json::from_str(metadata).context("output of cargo metadata")?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let supplied = packages.iter().filter_map(|package| {
        Some(Supplied {
            // Crates of this tree have no source.
            source: text(&package["source"])?,
            name: text(&package["name"])?,
            version: text(&package["version"])?,
            licence: text(&package["license"]),
        })
    });
    Ok(supplied.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_crates_are_not_supplied_and_others_come_from_the_registry() {
        let text = r#"{"packages": [
            {"name": "own", "version": "1.0.0", "license": null, "source": null},
            {"name": "a", "version": "1.0.0", "license": "MIT", "source": "registry+there"},
            {"name": "b", "version": "2.0.0", "license": null, "source": "git+elsewhere"}]}"#;
        let supplied = parse(text).unwrap();
        let found: Vec<_> = supplied.iter().filter_map(elsewhere).collect();
        assert_eq!(
            (supplied.len(), found),
            (2, vec!["b 2.0.0: comes from git+elsewhere".to_owned()])
        );
    }
}
