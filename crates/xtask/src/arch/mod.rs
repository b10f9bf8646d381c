//! `arch`: whether the house is still built as planned.
//!
//! [`table`] says which crate may use which; `cargo metadata` says which crate uses which.
//! [`source`] looks for words that belong in few rooms, [`messages`] for dcmds in rooms that know none, and [`names`]
//! for types whose names fit any type.

mod lexer;
mod messages;
mod metadata;
mod names;
mod source;
mod table;

use anyhow::{Result, bail};

pub use lexer::code_only;
use metadata::{Kind, Package};

/// Fails with everything that is not as planned.
pub fn run(_args: &[String]) -> Result<()> {
    let packages = metadata::packages()?;
    let mut found: Vec<String> = packages.iter().flat_map(edges_off_plan).collect();
    found.extend(rooms_off_plan(&packages));
    let sources = source::sources(&gen_cores::workspace_dir())?;
    found.extend(source::words_off_plan(&sources));
    found.extend(messages::dcmds_named(&sources));
    found.extend(names::vague(&sources));
    if !found.is_empty() {
        bail!("not as planned in crates/xtask/src/arch:\n  {}", found.join("\n  "));
    }
    println!("{} crates are built as planned", packages.len());
    Ok(())
}

/// Dependencies that the plan does not allow.
fn edges_off_plan(package: &Package) -> Vec<String> {
    let Some(room) = table::ROOMS.iter().find(|room| room.name == package.name) else {
        return vec![format!("{} is not in the plan", package.name)];
    };
    let edges = package.dependencies.iter().filter(|edge| !is_planned(room, edge));
    edges
        .map(|edge| {
            let what = if edge.in_workspace { "" } else { "third-party " };
            format!("{} must not use {what}{}", room.name, edge.name)
        })
        .collect()
}

/// Tests may use what they like: what is only for tests cannot be built into kcore.
fn is_planned(room: &table::Room, edge: &metadata::Dependency) -> bool {
    let allowed = if edge.in_workspace { room.uses } else { room.third_party };
    edge.kind == Kind::Dev || allowed.contains(&edge.name.as_str())
}

/// Rooms of the plan that are not there.
fn rooms_off_plan(packages: &[Package]) -> Vec<String> {
    let missing = table::ROOMS
        .iter()
        .filter(|room| !packages.iter().any(|package| package.name == room.name));
    missing.map(|room| format!("{} is in the plan and not in the workspace", room.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use metadata::Dependency;

    fn package(name: &str, uses: &str, in_workspace: bool, kind: Kind) -> Package {
        let dependency = Dependency { name: uses.to_owned(), in_workspace, kind };
        Package { name: name.to_owned(), dependencies: vec![dependency] }
    }

    #[test]
    fn a_door_that_is_not_in_the_plan_is_named() {
        let wrong = package("kcore-mem", "kcore-elf", true, Kind::Normal);
        assert_eq!(edges_off_plan(&wrong), ["kcore-mem must not use kcore-elf"]);
        let wrong = package("kcore", "gimli", false, Kind::Normal);
        assert_eq!(edges_off_plan(&wrong), ["kcore must not use third-party gimli"]);
        let wrong = package("kcore", "gen-cores", true, Kind::Build);
        assert_eq!(edges_off_plan(&wrong), ["kcore must not use gen-cores"]);
    }

    #[test]
    fn tests_may_use_what_they_like() {
        assert!(edges_off_plan(&package("kcore", "gen-cores", true, Kind::Dev)).is_empty());
        assert!(edges_off_plan(&package("kcore-elf", "kcore-mem", true, Kind::Normal)).is_empty());
    }

    #[test]
    fn an_unknown_crate_is_named() {
        let unknown = package("kcore-cloud", "kcore", true, Kind::Normal);
        assert_eq!(edges_off_plan(&unknown), ["kcore-cloud is not in the plan"]);
    }
}
