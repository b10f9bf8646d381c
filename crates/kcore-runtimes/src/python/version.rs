//! Versions of CPython.

use std::fmt;

/// A version, as `PY_VERSION_HEX` packs it (`Include/patchlevel.h`): major, minor, micro, level and serial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version(pub u32);

impl Version {
    /// From a number of the process; `None` of what is no version of Python 3.
    pub fn parse(hex: u64) -> Option<Self> {
        let version = Self(u32::try_from(hex).ok()?);
        (version.major() == 3).then_some(version)
    }

    /// 3.
    pub const fn major(self) -> u8 {
        self.0.to_be_bytes()[0]
    }

    /// 14 of 3.14.
    pub const fn minor(self) -> u8 {
        self.0.to_be_bytes()[1]
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, micro, release] = self.0.to_be_bytes();
        write!(f, "{major}.{minor}.{micro}")?;
        let serial = release & 15;
        match release >> 4 {
            0xa => write!(f, "a{serial}"),
            0xb => write!(f, "b{serial}"),
            0xc => write!(f, "rc{serial}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_spelled_as_python_does() {
        let spelled = |hex| Version::parse(hex).unwrap().to_string();
        assert_eq!([spelled(0x030e_0af0), spelled(0x030f_00b2)], ["3.14.10", "3.15.0b2"]);
        assert_eq!((Version::parse(0x0207_12f0), Version::parse(1 << 40)), (None, None));
    }
}
