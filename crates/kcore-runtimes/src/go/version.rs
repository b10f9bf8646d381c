//! Which version of Go made a module (`debug/buildinfo`, `runtime.modinfo`).

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::bytes::Bytes;

/// The section that says it, and how it begins.
pub const SECTION: &str = ".go.buildinfo";
const MAGIC: &[u8] = b"\xff Go buildinf:";
/// Where its flags lie, that which says that text follows, since Go 1.18, and where that lies.
const FLAGS: u64 = 15;
const HAS_TEXT: u8 = 2;
const TEXT: u64 = 32;
/// Bytes of a version, at most: those of experiments and private builds are long.
const MAX_LEN: u32 = 256;

/// A version of Go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// As it says itself, without `go`: `1.27.3`.
    pub text: Arc<str>,
    /// The 27 in it; `None` of one that is between releases.
    pub minor: Option<u8>,
}

impl Version {
    /// That of the module whose section lies at an address; `None` where it does not say.
    pub fn load(space: &dyn AddressSpace, section: Addr) -> Option<Self> {
        let held = space.read_held(section, MAGIC.len() as u64);
        (held == MAGIC).then_some(())?;
        let mut flags = [0];
        space.read(section.checked_add(FLAGS)?, &mut flags).ok()?;
        (flags[0] & HAS_TEXT != 0).then_some(())?;
        let mut bytes = Bytes::new(space, section.checked_add(TEXT)?);
        let len = bytes.varint().filter(|len| *len <= MAX_LEN)?;
        let text: Option<Vec<u8>> = (0..len).map(|_| bytes.byte()).collect();
        Some(Self::parse(&String::from_utf8_lossy(&text?)))
    }

    /// Reads `go1.27.3`, `go1.27rc1 X:nocoverageredesign`.
    fn parse(text: &str) -> Self {
        let number = text.strip_prefix("go1.").unwrap_or_default();
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let minor = number.get(..digits).and_then(|minor| minor.parse().ok());
        Self { text: text.strip_prefix("go").unwrap_or(text).into(), minor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, anchor::made_host::MadeHost};

    const AT: u64 = 0x1000;

    fn section(flags: u8, text: &[u8]) -> Option<Version> {
        let mut host = MadeHost::new(&[AT]);
        host.put(AT, MAGIC);
        host.put(AT + FLAGS, &[flags]);
        host.put(AT + TEXT, text);
        Version::load(host.space(), Addr::new(AT))
    }

    #[test]
    fn a_version_is_read() {
        let version = section(2, b"\x08go1.27.3").unwrap();
        assert_eq!((&*version.text, version.minor), ("1.27.3", Some(27)));
        assert_eq!(section(0, b"\x08go1.27.3"), None, "before Go 1.18");
        assert_eq!(section(2, b"\xff\x7fgo1.27.3"), None, "too long");
        assert_eq!(Version::load(MadeHost::new(&[AT]).space(), Addr::new(AT)), None);
    }

    #[test]
    fn what_is_between_releases_has_no_number() {
        let minors = ["go1.27rc1", "go1.19 X:boring", "devel go1.28-8f2a", "go2"];
        let minors = minors.map(|text| Version::parse(text).minor);
        assert_eq!(minors, [Some(27), Some(19), None, None]);
    }
}
