//! What making cores would fetch, so that a user can be asked before.

use std::collections::BTreeMap;

use crate::{Result, Scenario, Variant, apt, debian, few, packages, scenarios, wheel};

/// Something that is fetched once, and kept beside the cores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Download {
    /// Its name and version.
    pub name: String,
    /// Megabytes that are fetched, as measured for one of its kind.
    pub megabytes: u32,
    /// Megabytes that it then needs on disk.
    pub on_disk: u32,
}

/// What is missing of what the recipes want, each once; of all versions, or of those of a run with [`FEW`](crate::FEW).
///
/// # Errors
/// A recipe cannot be read.
pub fn downloads(is_few: bool) -> Result<Vec<Download>> {
    let mut found = BTreeMap::new();
    for scenario in scenarios()? {
        let meant = scenario.all_variants().filter(|variant| is_meant(variant, is_few));
        let meant = meant
            .flat_map(|variant| of_variant(variant).chain(packages::downloads(&scenario, variant)));
        for download in meant.chain(of_scenario(&scenario)?) {
            found.insert(download.name.clone(), download);
        }
    }
    Ok(found.into_values().collect())
}

fn is_meant(variant: &Variant, is_few: bool) -> bool {
    variant.runtime().is_some_and(|word| !is_few || few::is_of_few(word))
}

/// The runtime of a variant, and what is needed to fetch it.
fn of_variant(variant: &Variant) -> impl Iterator<Item = Download> + use<> {
    let node = variant.node.and_then(|release| release.download());
    let python = variant.python.and_then(|interpreter| interpreter.download());
    let ruby = variant.ruby.and_then(|interpreter| interpreter.download());
    let lua = variant.lua.and_then(|interpreter| interpreter.download());
    let perl = variant.perl.and_then(|interpreter| interpreter.download());
    let php = variant.php.and_then(|interpreter| interpreter.download());
    let debian = python.as_ref().or(ruby.as_ref()).or(lua.as_ref());
    let erlang = variant.erlang.and_then(|machine| machine.download());
    let debian = debian.or(perl.as_ref()).or(php.as_ref()).or(erlang.as_ref());
    let lists = debian.and_then(|_| apt::download());
    let go = variant.go.and_then(|release| release.download());
    let java = variant.java.and_then(|release| release.download());
    [node, python, ruby, lua, perl, php, erlang, lists, go, java].into_iter().flatten()
}

/// The packages of a scenario that must be fetched.
fn of_scenario(scenario: &Scenario) -> Result<impl Iterator<Item = Download> + use<>> {
    let packages = debian::download(scenario);
    let lists = packages.as_ref().and_then(|_| apt::download());
    Ok([wheel::download(scenario)?, packages, lists].into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_versions_want_a_part_of_what_all_want() {
        let (few, all) = (downloads(true).unwrap(), downloads(false).unwrap());
        assert!(few.iter().all(|download| all.contains(download)), "{few:?}");
        // Either may be here already.
        assert!(few.len() <= all.len());
        assert!(all.is_sorted(), "each once: {all:?}");
    }
}
