//! The version of V8, as it says itself.

use std::{collections::BTreeSet, fmt};

/// Versions are looked for in so many texts of the constants of a program.
const MAX_TEXTS: usize = 1 << 20;
/// The longest text of a version, with what the embedder adds to it: `15.0.245.2-rusty`.
const MAX_TEXT: usize = 40;
/// The first version whose layouts were ever known.
const FIRST: u64 = 9;
/// No version of V8 has a second number beyond this: the next one counts up the first.
const MAX_MINOR: u64 = 9;

/// A version of V8. Layouts change with the first two numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version {
    /// Such as the 11 of 11.3.244.8.
    pub major: u64,
    /// Such as its 3.
    pub minor: u64,
    /// Such as its 244.
    pub build: u64,
    /// Such as its 8.
    pub patch: u64,
}

impl Version {
    /// The symbols of its four parts, `src/utils/version.h`.
    pub const SYMBOLS: [&'static str; 4] = [
        "_ZN2v88internal7Version6major_E",
        "_ZN2v88internal7Version6minor_E",
        "_ZN2v88internal7Version6build_E",
        "_ZN2v88internal7Version6patch_E",
    ];

    /// The version of four parts.
    pub const fn new([major, minor, build, patch]: [u64; 4]) -> Self {
        Self { major, minor, build, patch }
    }

    /// The versions that constants of a program may be those of V8: texts of four numbers, and perhaps what the
    /// embedder adds, `Version::GetString` in `src/utils/version.cc`.
    pub fn in_constants(constants: &[u8]) -> BTreeSet<Self> {
        let dots = memchr::memchr_iter(b'.', constants).take(MAX_TEXTS);
        dots.filter_map(|dot| Self::around(constants, dot)).collect()
    }

    /// The version whose first dot is at `dot`.
    fn around(constants: &[u8], dot: usize) -> Option<Self> {
        let before = constants.get(..dot)?;
        let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let start = dot.checked_sub(digits).filter(|_| (1..=2).contains(&digits))?;
        let is_whole = start.checked_sub(1).is_none_or(|at| constants.get(at) == Some(&0));
        let text = constants.get(start..)?.split(|byte| *byte == 0).next()?;
        let text = std::str::from_utf8(text.get(..text.len().min(MAX_TEXT))?).ok()?;
        is_whole.then(|| Self::parse(text))?
    }

    /// The version that a text is, perhaps with what the embedder adds.
    fn parse(text: &str) -> Option<Self> {
        let (numbers, added) = match text.split_once('-') {
            Some((numbers, added)) => (numbers, Some(added)),
            None => (text, None),
        };
        let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let parts: Option<Vec<u64>> = numbers.split('.').map(|part| part.parse().ok()).collect();
        let version = Self::new(*parts?.first_chunk().filter(|_| numbers.split('.').count() == 4)?);
        (added.is_none_or(is_word) && version.major >= FIRST && version.minor <= MAX_MINOR)
            .then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.major, self.minor, self.build, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(constants: &str) -> Vec<String> {
        let versions = Version::in_constants(constants.as_bytes());
        versions.iter().map(Version::to_string).collect()
    }

    #[test]
    fn a_version_is_a_whole_text_of_four_numbers() {
        assert_eq!(found("x\x0015.0.245.2-rusty\0"), ["15.0.245.2"]);
        assert_eq!(found("14.6.202.34\0"), ["14.6.202.34"]);
        for text in
            ["v15.0.245.2\0", "1.15.0.245.2\0", "15.0.245\0", "15.0.245.2.1\0", "15.0.245.2-a b\0"]
        {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn addresses_of_the_network_are_no_versions() {
        assert_eq!(found("\x00127.0.0.1\x008.8.8.8\x000.0.0.0\x0010.96.0.1\x00"), [""; 0]);
    }
}
