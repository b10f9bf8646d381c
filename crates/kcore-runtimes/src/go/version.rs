//! Which version of Go made a module (`debug/buildinfo`, `runtime.modinfo`).

use std::{collections::BTreeSet, sync::Arc};

use kcore_mem::{Addr, AddressSpace};

use super::{bytes::Bytes, roots};
use crate::{Host, HostModule};

/// The section that says it, and how it begins.
pub const SECTION: &str = ".go.buildinfo";
const MAGIC: &[u8] = b"\xff Go buildinf:";
/// Where its flags lie, that which says that text follows, since Go 1.18, and where that lies.
const FLAGS: u64 = 15;
const HAS_TEXT: u8 = 2;
const TEXT: u64 = 32;
/// Bytes of a version, at most: those of experiments and private builds are long.
const MAX_LEN: u32 = 256;

/// How releases begin.
const PREFIX: &str = "go1.";
/// The variable that has it too.
const VARIABLE: &str = "runtime.buildVersion";
/// Dots of a whole version, since each first release has the third number: 1.21.0. Constants of programs often have two.
const WHOLE: usize = 2;

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

    /// The one that `runtime.buildVersion` holds, in a module that was made without that section: without symbols, the one
    /// version of Go that a text variable of its data has.
    pub fn of_variable(host: &dyn Host, module: &dyn HostModule) -> Option<Self> {
        if let Some(text) = roots::symbol(module, VARIABLE).and_then(|at| text_at(host, module, at))
        {
            return Some(Self::parse(&text));
        }
        let mut texts = BTreeSet::new();
        roots::each_word(host, module, &mut |at| texts.extend(text_at(host, module, at)));
        let is_whole = |text: &&String| text.matches('.').count() == WHOLE;
        let mut known = texts.iter().filter(is_whole);
        let first = known.next();
        let only = match (first, known.next()) {
            (None, _) => texts.first().filter(|_| texts.len() == 1),
            (first, None) => first,
            _ => None,
        };
        only.map(|text| Self::parse(text))
    }

    /// Reads `go1.27.3`, `go1.27rc1 X:nocoverageredesign`.
    fn parse(text: &str) -> Self {
        let number = text.strip_prefix("go1.").unwrap_or_default();
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let minor = number.get(..digits).and_then(|minor| minor.parse().ok());
        Self { text: text.strip_prefix("go").unwrap_or(text).into(), minor }
    }
}

/// The version of Go that the text variable at an address has, if it is one that has such a text of its module.
fn text_at(host: &dyn Host, module: &dyn HostModule, at: Addr) -> Option<String> {
    let space = host.space();
    let text = space.read_addr(at).ok().filter(|text| module.span().contains(*text))?;
    let len = space.read_word(at.checked_add(8)?).ok()?;
    let is_short = (PREFIX.len() as u64..=u64::from(MAX_LEN)).contains(&len);
    let bytes = is_short.then(|| space.read_held(text, len))?;
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() as u64 == len)?;
    let number = text.strip_prefix(PREFIX)?;
    let is_one = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_one && number.bytes().next().is_some_and(|byte| byte.is_ascii_digit())).then_some(text)
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
