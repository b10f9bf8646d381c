//! Which version of HotSpot a library is (`src/hotspot/share/runtime/abstract_vm_version.cpp`).

use std::sync::Arc;

use kcore_mem::AddressSpace;

use super::vm_structs::VmStructs;

/// The versions whose layouts are known.
const KNOWN: std::ops::RangeInclusive<u8> = 11..=25;
/// Bytes of a version, at most.
const MAX_LEN: usize = 128;

/// A version of HotSpot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// As it says itself: `21.0.8+9-LTS`.
    pub text: Arc<str>,
    /// The 21 in it; `None` where it is not known how such a version lays out its memory.
    pub major: Option<u8>,
}

impl Version {
    /// That which the tables of a library lead to.
    pub fn load(tables: &VmStructs, space: &dyn AddressSpace) -> Option<Self> {
        let text = space.read_addr(tables.variable("Abstract_VM_Version._s_vm_release")?).ok()?;
        let text = space.read_cstr(text, MAX_LEN).ok()?;
        Some(Self::parse(&String::from_utf8(text).ok()?))
    }

    /// Reads `17.0.15+6-Debian-1deb12u1`. JDK 8 and those before it number the virtual machine otherwise, `25.392-b08`,
    /// without a `+`.
    fn parse(text: &str) -> Self {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let major = text.get(..digits).filter(|_| text.contains('+'));
        let major =
            major.and_then(|major| major.parse().ok()).filter(|major| KNOWN.contains(major));
        Self { text: text.into(), major }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let majors = ["17.0.15+6-Debian-1deb12u1", "25+36-LTS", "25-ea+3", "11.0.13+8"];
        let majors = majors.map(|text| Version::parse(text).major);
        assert_eq!(majors, [Some(17), Some(25), Some(25), Some(11)]);
        let unknown = ["25.392-b08", "26+1", "10.0.2+13", "", "x+1"];
        assert!(unknown.iter().all(|text| Version::parse(text).major.is_none()));
    }
}
