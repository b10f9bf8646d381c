//! Which cases a run has: versions of runtimes, variants of compiled programs, and whether a runtime that is missing may
//! be fetched. The environment decides, so that the tests of a run, which are many processes, agree.

use std::env;

use crate::{Error, Result, Scenario, Variant};

/// The environment variable that limits the cases of a run: [`FEW`]; all of them if it is not set.
pub const CASES: &str = "KCORE_CASES";

/// The value of [`CASES`] for a run that must be short.
pub const FEW: &str = "few";

/// The environment variable that forbids to fetch anything.
pub const NO_DOWNLOADS: &str = "KCORE_NO_DOWNLOADS";

/// The oldest and the newest version that is supported, and those between that people run most.
const OF_FEW: &[&str] = &[
    "node16",
    "node20",
    "node24",
    "node26",
    "deno2.4",
    "deno2.9",
    "python3.8",
    "python3.11",
    "python3.13",
    "debian3.11",
    "debian3.14",
    "ruby2.7",
    "ruby3.3",
    "yjit3.1",
    "lua5.1",
    "lua5.2",
    "lua5.3",
    "lua5.4",
    "luajit2022",
    "luajit2025",
    "perl5.32",
    "perl5.42",
    "php7.4",
    "php8.4",
    "erlang25",
    "erlang27",
    "jit8.2",
    "go1.19",
    "go1.27",
    "java11",
    "java25",
];

/// The default variants that each compiled program is made in.
const OF_EACH: &[&str] = &["O0-pie", "O2-pie", "debug-pie", "release-pie"];

/// One in so many programs is made in each other default variant.
const ONE_IN: usize = 4;

/// Whether a run with [`FEW`] over all programs has a case. A recipe says which of its own variants are for long runs.
/// Programs take turns with the default variants: `turn` counts the programs of one language, so that even a short run has
/// every variant of some.
pub(crate) fn is_in_turn(scenario: &Scenario, variant: &Variant, turn: usize) -> bool {
    let recipe = &scenario.recipe;
    if recipe.variants.is_some() {
        return !recipe.long_runs.contains(&variant.name);
    }
    let takes_turns = scenario.variants.len() > ONE_IN && variant.runtime().is_none();
    if !takes_turns || OF_EACH.contains(&variant.name.as_str()) {
        return true;
    }
    let place = scenario.variants.iter().position(|own| own == variant);
    place.is_some_and(|place| place.wrapping_add(turn).is_multiple_of(ONE_IN))
}

/// Why a variant is left out of this run, if so.
pub(crate) fn why_not(variant: &Variant) -> Option<String> {
    let word = variant.runtime()?;
    (!is_meant(word)).then(|| reason(word))
}

/// Fails for a word of variants' names, such as `node20`, that is left out of this run.
pub(crate) fn check(word: &str) -> Result<()> {
    match is_meant(word) {
        true => Ok(()),
        false => Err(Error::Variant { variant: word.to_owned(), reason: reason(word) }),
    }
}

/// Fails if nothing may be fetched.
pub(crate) fn may_fetch() -> Result<()> {
    match env::var_os(NO_DOWNLOADS) {
        None => Ok(()),
        Some(_) => Err(Error::NoDownloads),
    }
}

fn is_meant(word: &str) -> bool {
    !is_short_run() || is_of_few(word)
}

/// Whether this is a run with [`FEW`], which must be short.
pub fn is_short_run() -> bool {
    env::var_os(CASES).is_some_and(|cases| cases == FEW)
}

/// Whether a run with [`FEW`] uses the version that a word of variants' names asks for.
pub(crate) fn is_of_few(word: &str) -> bool {
    OF_FEW.contains(&word)
}

fn reason(word: &str) -> String {
    format!("{word} is not among the few versions of this run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_few_versions_are_words_of_variants() {
        for word in OF_FEW {
            assert_eq!(Variant::parse(word).unwrap().runtime(), Some(*word));
        }
    }

    #[test]
    fn compiled_programs_have_no_version() {
        assert_eq!(Variant::parse("O2-pie-gcore").unwrap().runtime(), None);
        assert_eq!(Variant::parse("node24-gcore").unwrap().runtime(), Some("node24"));
    }
}
