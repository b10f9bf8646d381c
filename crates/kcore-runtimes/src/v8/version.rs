//! The version of V8, as it says itself.

use std::fmt;

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
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.major, self.minor, self.build, self.patch)
    }
}
