//! Versions of MRI.

use std::fmt;

/// The major and minor version, which layouts depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 3 of 3.4.
    pub major: u8,
    /// 4 of 3.4.
    pub minor: u8,
}

impl Version {
    /// One of its major and minor number.
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// Parses the beginning of `3.4.1`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let mut next = || parts.next()?.parse().ok();
        Some(Self { major: next()?, minor: next()? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_numbers_count() {
        assert_eq!(Version::parse("3.1.2"), Some(Version::new(3, 1)));
        assert_eq!(Version::parse("3.4.0-preview1"), Some(Version::new(3, 4)));
        assert!(Version::new(2, 7) < Version::new(3, 0) && Version::new(3, 0) < Version::new(3, 4));
        assert_eq!(
            (Version::parse("3"), Version::parse("so"), Version::parse("")),
            (None, None, None)
        );
    }
}
