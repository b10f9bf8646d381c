//! Which versions of the runtimes are used, and whether one that is missing may be fetched. The environment decides, so
//! that the tests of a run, which are many processes, agree.

use std::env;

use crate::{Error, Result, Variant};

/// The environment variable that limits the versions of the runtimes: [`FEW`]; all of them if it is not set.
pub const VERSIONS: &str = "KCORE_VERSIONS";

/// The value of [`VERSIONS`] for a run that must be short.
pub const FEW: &str = "few";

/// The environment variable that forbids to fetch anything.
pub const NO_DOWNLOADS: &str = "KCORE_NO_DOWNLOADS";

/// The oldest and the newest version that is supported, and those between that people run most.
const OF_FEW: &[&str] = &[
    "node16",
    "node20",
    "node24",
    "node26",
    "python3.8",
    "python3.11",
    "python3.13",
    "debian3.11",
    "debian3.14",
];

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
    let has_all = env::var_os(VERSIONS).is_none_or(|versions| versions != FEW);
    has_all || is_of_few(word)
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
