//! Build-ids: what tells two builds of one path apart.

use std::fmt;

/// The descriptor of an `NT_GNU_BUILD_ID` note, 20 bytes with today's linkers.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildId(Vec<u8>);

impl BuildId {
    /// Longest descriptor that is taken for a build-id.
    const MAX_LEN: usize = 64;
    /// Bytes of a debug id of Breakpad.
    const DEBUG_ID_LEN: usize = 16;

    /// A build-id from the note's descriptor; `None` when it is empty or absurdly long.
    pub fn new(descriptor: &[u8]) -> Option<Self> {
        let plausible = (1..=Self::MAX_LEN).contains(&descriptor.len());
        plausible.then(|| Self(descriptor.to_vec()))
    }

    /// A build-id from its hexadecimal digits.
    pub fn parse(digits: &str) -> Option<Self> {
        let pairs = digits.as_bytes().chunks(2);
        let byte = |pair: &[u8]| match pair {
            [_, _] => u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok(),
            _ => None,
        };
        Self::new(&pairs.map(byte).collect::<Option<Vec<u8>>>()?)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether it tells a file of this build-id: it is the same, or the first 16 bytes of it, which is all that a debug id
    /// of Breakpad has.
    pub fn names(&self, file: &Self) -> bool {
        self == file || (self.0.len() == Self::DEBUG_ID_LEN && file.0.starts_with(&self.0))
    }

    /// The path below a `.build-id` directory, such as `ab/cdef….debug`; `None` for one byte,
    /// which leaves no file name.
    pub fn debug_path(&self) -> Option<String> {
        let hex = self.to_string();
        let (dir, file) = hex.split_at_checked(2).filter(|(_, file)| !file.is_empty())?;
        Some(format!("{dir}/{file}.debug"))
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debug_path_splits_after_the_first_byte() {
        let id = BuildId::new(&[0xab, 0xcd, 0x01]).unwrap();
        assert_eq!(id.debug_path().as_deref(), Some("ab/cd01.debug"));
        assert_eq!(BuildId::new(&[0xab]).unwrap().debug_path(), None);
        assert_eq!(BuildId::new(&[]), None);
    }

    #[test]
    fn the_first_sixteen_bytes_name_a_build() {
        let whole = BuildId::new(&[7; 20]).unwrap();
        assert!(whole.names(&whole) && BuildId::new(&[7; 16]).unwrap().names(&whole));
        assert!(!BuildId::new(&[7; 15]).unwrap().names(&whole));
        assert!(!BuildId::new(&[8; 16]).unwrap().names(&whole));
        assert!(!whole.names(&BuildId::new(&[7; 16]).unwrap()));
    }
}
