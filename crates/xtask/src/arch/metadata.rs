//! The crates of the workspace and what they use, from `cargo metadata`.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::cargo;

/// A crate of the workspace.
pub struct Package {
    /// Its name.
    pub name: String,
    /// What its manifest says that it uses, whatever the features and the machine.
    pub dependencies: Vec<Dependency>,
}

/// A use of another crate.
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// Whether it is of this workspace.
    pub in_workspace: bool,
    /// What it is used for.
    pub kind: Kind,
}

/// What a crate is used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The crate itself.
    Normal,
    /// Its build script.
    Build,
    /// Its tests, examples and benchmarks.
    Dev,
}

/// The crates of the workspace.
pub fn packages() -> Result<Vec<Package>> {
    let args = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let text = cargo::output(&mut cargo::command(env!("CARGO"), &args))?;
    parse(&text).context("output of cargo metadata")
}

fn parse(text: &str) -> Result<Vec<Package>> {
    let metadata: Value = serde_json::from_str(text)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    packages.iter().map(package).collect()
}

fn package(value: &Value) -> Result<Package> {
    let dependencies = value["dependencies"].as_array().context("no dependencies")?;
    Ok(Package {
        name: name(value)?,
        dependencies: dependencies.iter().map(dependency).collect::<Result<_>>()?,
    })
}

fn dependency(value: &Value) -> Result<Dependency> {
    let kind = match value["kind"].as_str() {
        Some("dev") => Kind::Dev,
        Some("build") => Kind::Build,
        _ => Kind::Normal,
    };
    Ok(Dependency { name: name(value)?, in_workspace: value["path"].is_string(), kind })
}

fn name(value: &Value) -> Result<String> {
    Ok(value["name"].as_str().context("no name")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_read_with_their_kind() {
        let text = r#"{"packages": [{"name": "a", "dependencies": [
            {"name": "b", "kind": null, "path": "/w/b"},
            {"name": "c", "kind": "dev"},
            {"name": "d", "kind": "build"}]}]}"#;
        let packages = parse(text).unwrap();
        let edges: Vec<_> = packages[0]
            .dependencies
            .iter()
            .map(|edge| (edge.name.as_str(), edge.in_workspace, edge.kind))
            .collect();
        assert_eq!(packages[0].name, "a");
        assert_eq!(
            edges,
            [("b", true, Kind::Normal), ("c", false, Kind::Dev), ("d", false, Kind::Build)]
        );
        assert!(parse("{}").is_err());
    }
}
