//! Versions that their authors withdrew ("yanked"), most often because of a defect.
//!
//! Cargo still uses a withdrawn version that stands in a lock file, but never chooses one anew. So a probe crate that
//! requires each locked version exactly, without a lock file, fails to resolve if one was withdrawn.

use std::{fmt::Write, fs, path::PathBuf};

use anyhow::{Context, Result, bail};

use super::Supplied;
use crate::cargo;

/// A description of each withdrawn version.
pub fn withdrawn(supplied: &[Supplied]) -> Result<Vec<String>> {
    let manifest = probe(supplied)?;
    let output = cargo::command(env!("CARGO"), &["generate-lockfile", "--manifest-path"])
        .arg(&manifest)
        .output()
        .context("cannot run cargo generate-lockfile")?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(Vec::new()),
        false if said.contains("is yanked") => Ok(vec![said.trim().to_owned()]),
        false => bail!("versions that were withdrawn cannot be told: {}", said.trim()),
    }
}

/// Writes the probe crate, and returns the path of its manifest.
fn probe(supplied: &[Supplied]) -> Result<PathBuf> {
    let folder = gen_cores::workspace_dir().join("target/supply");
    fs::create_dir_all(folder.join("src")).context("a folder for a crate")?;
    fs::write(folder.join("src/lib.rs"), "").context("a crate")?;
    // A lock file of an earlier run would let cargo keep a withdrawn version.
    let _ = fs::remove_file(folder.join("Cargo.lock"));
    let manifest = folder.join("Cargo.toml");
    fs::write(&manifest, text(supplied)).context("a manifest")?;
    Ok(manifest)
}

fn text(supplied: &[Supplied]) -> String {
    let head =
        "[package]\nname = \"supply\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n";
    let mut text = format!("{head}[dependencies]\n");
    for (number, Supplied { name, version, .. }) in supplied.iter().enumerate() {
        // Two versions of one crate need different names.
        let wanted = format!("package = \"{name}\", version = \"={version}\"");
        let _ = writeln!(text, "crate-{number} = {{ {wanted}, default-features = false }}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_is_asked_for_by_a_name_of_its_own() {
        let crate_of = |version: &str| Supplied {
            name: "a".to_owned(),
            version: version.to_owned(),
            licence: None,
            source: "registry+there".to_owned(),
        };
        let text = text(&[crate_of("1.0.0"), crate_of("2.0.0")]);
        let lines: Vec<&str> = text.lines().rev().take(2).collect();
        let line = |number, version| {
            format!(
                "crate-{number} = {{ package = \"a\", version = \"={version}\", default-features = false }}"
            )
        };
        assert_eq!(lines, [line(1, "2.0.0"), line(0, "1.0.0")]);
    }
}
